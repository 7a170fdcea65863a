package io.kamille.perf.soak;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;

/** A client's blocking connection to a loopback port. Confined to its thread. */
final class ClientConnection implements AutoCloseable {

  /** Nobody may wait for longer than this; it is no measure of speed. */
  private static final int PATIENCE_MILLIS = 120_000;

  private static final int SLOW_BUFFER_BYTES = 4 * 1024;

  private final Socket socket = new Socket();
  private final MessageReader in;
  private final OutputStream out;
  private int uses;

  /**
   * Connects.
   *
   * @param isSlow with little room in the kernel for what it is sent, and read in small pieces
   */
  ClientConnection(int port, boolean isSlow) throws IOException {
    try {
      if (isSlow) {
        socket.setReceiveBufferSize(SLOW_BUFFER_BYTES);
      }
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(PATIENCE_MILLIS);
      socket.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), port), PATIENCE_MILLIS);
      in = new MessageReader(socket.getInputStream(), (isSlow ? 1 : 4) * SLOW_BUFFER_BYTES);
      out = socket.getOutputStream();
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  void send(String text) throws IOException {
    out.write(text.getBytes(ISO_8859_1));
  }

  OutputStream out() {
    return out;
  }

  MessageReader in() {
    return in;
  }

  /** Whether a request was sent here before; counts this one. */
  boolean isUsed() {
    return uses++ > 0;
  }

  /** Lets it close with a reset. */
  void reset() throws IOException {
    socket.setSoLinger(true, 0);
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new IllegalStateException("closing a socket", e);
    }
  }
}
