package io.kamille.perf.load;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Many persistent connections that asked once and stay open. Confined to one thread. */
public final class IdleConnections implements AutoCloseable {

  /*
   * The source addresses 127.0.0.2 and on share the connections, so that ports left in TIME_WAIT by
   * an earlier run are never missed.
   */
  private static final int SOURCES = 8;
  private static final int READ_LIMIT = 64 * 1024;
  private static final String CONTENT_LENGTH = "content-length:";

  private final List<SocketChannel> channels = new ArrayList<>();
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(READ_LIMIT);

  private IdleConnections() {}

  /**
   * Opens connections to a loopback port, each after the answer on the one before.
   *
   * @throws IOException if one fails; all are closed then
   */
  public static IdleConnections open(int count, int port, String path) throws IOException {
    var connections = new IdleConnections();
    byte[] request =
        ("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\n\r\n")
            .getBytes(StandardCharsets.US_ASCII);
    try {
      for (int i = 0; i < count; i++) {
        connections.openOne(i, port, request);
      }
      return connections;
    } catch (IOException e) {
      connections.close();
      throw new IOException(
          "connection " + connections.channels.size() + " of " + count + ": " + e.getMessage(), e);
    }
  }

  private void openOne(int index, int port, byte[] request) throws IOException {
    SocketChannel channel = SocketChannel.open();
    channels.add(channel);
    byte[] source = {127, 0, 0, (byte) (2 + index % SOURCES)};
    channel.bind(new InetSocketAddress(InetAddress.getByAddress(source), 0));
    channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    ByteBuffer out = ByteBuffer.wrap(request);
    while (out.hasRemaining()) {
      channel.write(out);
    }
    readResponse(channel);
    channel.configureBlocking(false);
  }

  private void readResponse(SocketChannel channel) throws IOException {
    buffer.clear();
    long expected = Long.MAX_VALUE;
    while (buffer.position() < expected) {
      if (channel.read(buffer) < 0) {
        throw new EOFException("closed after " + buffer.position() + " octets of a response");
      }
      if (expected == Long.MAX_VALUE) {
        expected = length(StandardCharsets.US_ASCII.decode(buffer.duplicate().flip()).toString());
      }
    }
  }

  /** Octets of the response that begins so, or the greatest long while its head is incomplete. */
  static long length(String beginning) {
    int end = beginning.indexOf("\r\n\r\n");
    if (end < 0) {
      return Long.MAX_VALUE;
    }
    String digits =
        beginning
            .substring(0, end)
            .lines()
            .filter(line -> line.regionMatches(true, 0, CONTENT_LENGTH, 0, CONTENT_LENGTH.length()))
            .map(line -> line.substring(CONTENT_LENGTH.length()).strip())
            .findFirst()
            .orElse("0");
    return end + 4 + Long.parseLong(digits);
  }

  /** How many the server has not closed. */
  public int openCount() throws IOException {
    int open = 0;
    for (SocketChannel channel : channels) {
      buffer.clear();
      open += channel.read(buffer) == 0 ? 1 : 0;
    }
    return open;
  }

  @Override
  public void close() throws IOException {
    for (SocketChannel channel : channels) {
      channel.close();
    }
  }
}
