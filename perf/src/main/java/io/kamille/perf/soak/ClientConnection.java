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

  private final Socket socket;
  private final MessageReader in;
  private final OutputStream out;
  private int uses;

  private ClientConnection(Socket socket, int readBytes) throws IOException {
    this.socket = socket;
    this.in = new MessageReader(socket.getInputStream(), readBytes);
    this.out = socket.getOutputStream();
  }

  static ClientConnection open(int port) throws IOException {
    return open(port, false);
  }

  /** With little room in the kernel for what it is sent, and read in small pieces. */
  static ClientConnection openSlow(int port) throws IOException {
    return open(port, true);
  }

  private static ClientConnection open(int port, boolean isSlow) throws IOException {
    var socket = new Socket();
    try {
      if (isSlow) {
        socket.setReceiveBufferSize(SLOW_BUFFER_BYTES);
      }
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(PATIENCE_MILLIS);
      socket.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), port), PATIENCE_MILLIS);
      return new ClientConnection(socket, isSlow ? SLOW_BUFFER_BYTES : 4 * SLOW_BUFFER_BYTES);
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

  /** Closes it with a reset. */
  void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
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
