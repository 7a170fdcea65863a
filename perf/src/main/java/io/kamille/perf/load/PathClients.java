package io.kamille.perf.load;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Clients that fetch one object again and again, each over a path of its own and as fast as it may.
 * Confined to one thread, which it keeps until the end of a run.
 */
public final class PathClients extends Demand implements AutoCloseable {

  /*
   * A client without a rate reads whatever has come. One with a rate reads its part ten times a
   * second, or nothing at all, so that its receive buffer fills and its window closes.
   */
  private static final int TURNS_PER_SECOND = 10;
  private static final long TURN_NANOS = 1_000_000_000L / TURNS_PER_SECOND;
  private static final long LEAST_SLEEP_NANOS = 1_000_000;

  private final LoadClient client;
  private final LoadRequest request;
  private final List<Fetcher> fetchers;
  private final long[] receivedBefore;
  private long countNanos;
  private long endNanos;
  private long turnNanos;
  private boolean isCounting;
  private boolean isOver;

  /**
   * Who fetches.
   *
   * @param group by which octets are counted
   * @param local the address it binds to, which decides on its path
   * @param octetsPerSecond it reads; {@link #UNLIMITED} or 0 for nothing at all
   * @param start after the beginning of the run
   */
  public record Fetcher(int group, String local, int octetsPerSecond, Duration start) {

    /** Reads whatever comes. */
    public static final int UNLIMITED = -1;
  }

  private PathClients(LoadClient client, LoadRequest request, List<Fetcher> fetchers) {
    this.client = client;
    this.request = request;
    this.fetchers = fetchers;
    this.receivedBefore = new long[fetchers.size()];
    for (LoadConnection connection : client.connections()) {
      if (fetcher(connection).octetsPerSecond() != Fetcher.UNLIMITED) {
        connection.readOnlyWhenTold();
      }
    }
  }

  /**
   * Clients that fetch nothing yet. They connect on the thread that runs them.
   *
   * @param target of which the content has that length
   * @throws IOException if there is no selector
   */
  public static PathClients open(
      InetSocketAddress server, String authority, OriginTarget target, List<Fetcher> fetchers)
      throws IOException {
    List<String> locals = fetchers.stream().map(Fetcher::local).toList();
    var client = LoadClient.open(LoadSettings.from(server, locals, Integer.MAX_VALUE));
    return new PathClients(client, LoadRequest.getUnchecked(authority, target, "1.1"), fetchers);
  }

  /**
   * Fetches; goes on where an earlier run ended.
   *
   * @param counted the part at the end in which octets count
   * @return octets that came in that part, heads included, of each fetcher
   */
  public List<Long> run(Duration settling, Duration counted) throws IOException {
    countNanos = settling.toNanos();
    endNanos = countNanos + counted.toNanos();
    turnNanos = 0;
    isCounting = false;
    isOver = false;
    client.run(this);
    return IntStream.range(0, fetchers.size())
        .mapToObj(i -> client.connections().get(i).received() - receivedBefore[i])
        .toList();
  }

  private Fetcher fetcher(LoadConnection connection) {
    return fetchers.get(connection.number());
  }

  @Override
  boolean isOver() {
    return isOver;
  }

  @Override
  long sleepNanos(long nanos) {
    return Math.max(LEAST_SLEEP_NANOS, Math.min(turnNanos, endNanos) - nanos);
  }

  @Override
  int send(LoadClient same, long nanos) {
    return 0;
  }

  @Override
  void tick(LoadClient same, long nanos) {
    if (!isCounting && nanos >= countNanos) {
      isCounting = true;
      client.connections().forEach(one -> receivedBefore[one.number()] = one.received());
    }
    if (nanos >= turnNanos) {
      turnNanos += TURN_NANOS;
      client.connections().forEach(connection -> turn(connection, nanos));
    }
    isOver = nanos >= endNanos;
  }

  private void turn(LoadConnection connection, long nanos) {
    int rate = fetcher(connection).octetsPerSecond();
    if (!connection.isOpen()) {
      if (nanos >= fetcher(connection).start().toNanos()) {
        client.send(connection, request);
      }
    } else if (rate > 0 && !connection.isConnecting()) {
      client.read(connection, Math.max(1, rate / TURNS_PER_SECOND));
    }
  }

  @Override
  void ended(LoadClient same, LoadConnection connection, @Nullable LoadFailure failure) {
    LoadClient.requireNone(failure);
  }

  @Override
  void free(LoadClient same, LoadConnection connection) {
    client.send(connection, request);
  }

  @Override
  public void close() throws IOException {
    client.close();
  }
}
