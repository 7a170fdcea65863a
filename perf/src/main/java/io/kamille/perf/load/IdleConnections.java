package io.kamille.perf.load;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Many persistent connections that asked once and stay open. Confined to one thread. */
public final class IdleConnections extends Demand implements AutoCloseable {

  /*
   * The source addresses 127.0.0.2 and on share the connections, so that ports left in TIME_WAIT by
   * an earlier run are never missed. Each is opened after the answer on the one before: all at once
   * would make a server in Java compile while its memory is measured.
   */
  private static final int SOURCES = 8;
  private static final long LOOK_NANOS = Duration.ofSeconds(10).toNanos();

  private final LoadClient client;
  private final LoadRequest request;
  private int asked;
  private int answered;
  private boolean isSeen;

  private IdleConnections(LoadClient client, LoadRequest request) {
    this.client = client;
    this.request = request;
  }

  /**
   * Opens connections to a loopback port, each after the answer on the one before.
   *
   * @throws IOException if one fails; all are closed then
   */
  public static IdleConnections open(int count, int port, LoadRequest request) throws IOException {
    List<String> sources =
        IntStream.range(0, count).mapToObj(i -> "127.0.0." + (2 + i % SOURCES)).toList();
    var server = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    var client = LoadClient.open(LoadSettings.from(server, sources, Integer.MAX_VALUE));
    var connections = new IdleConnections(client, request);
    try {
      client.run(connections);
      return connections;
    } catch (IllegalStateException lost) {
      connections.close();
      throw new IOException(
          "connection " + connections.asked + " of " + count + ": " + lost.getMessage(), lost);
    }
  }

  /** How many the server has not closed. */
  public int openCount() throws IOException {
    isSeen = false;
    client.run(this);
    return (int) client.connections().stream().filter(LoadConnection::isOpen).count();
  }

  private boolean areAllAnswered() {
    return answered == client.connections().size();
  }

  @Override
  boolean isOver() {
    return areAllAnswered() && isSeen;
  }

  @Override
  long sleepNanos(long nanos) {
    return areAllAnswered() ? 0 : LOOK_NANOS;
  }

  @Override
  int send(LoadClient same, long nanos) {
    if (asked > answered || areAllAnswered()) {
      return 0;
    }
    client.send(client.connections().get(asked++), request);
    return 1;
  }

  @Override
  void look(LoadClient same, long nanos) {
    isSeen = areAllAnswered();
  }

  @Override
  void ended(LoadClient same, LoadConnection connection, @Nullable LoadFailure failure) {
    LoadClient.requireNone(failure);
    answered++;
  }

  @Override
  void free(LoadClient same, LoadConnection connection) {}

  @Override
  public void close() throws IOException {
    client.close();
  }
}
