package io.kamille.core.socket;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;

/**
 * A port of the loopback address that refuses connections. It is taken, so that no other process
 * listens there meanwhile.
 */
public final class ClosedPort implements AutoCloseable {

  private final Socket bound = new Socket();

  private ClosedPort() throws IOException {
    bound.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  public static ClosedPort open() throws IOException {
    return new ClosedPort();
  }

  public int number() {
    return bound.getLocalPort();
  }

  @Override
  public void close() throws IOException {
    bound.close();
  }
}
