package io.kamille.launcher.appliance;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/** An origin whose queue of connections to accept is full: Linux drops every further SYN. */
final class FullOrigin implements AutoCloseable {

  private static final int MORE_THAN_FIT = 8;

  private final ServerSocket server;
  private final List<SocketChannel> waiting = new ArrayList<>();

  private FullOrigin(ServerSocket server) {
    this.server = server;
  }

  /** On that port of the loopback address. */
  static FullOrigin open(int port) throws IOException {
    FullOrigin origin = new FullOrigin(new ServerSocket(port, 1, InetAddress.getLoopbackAddress()));
    for (int i = 0; i < MORE_THAN_FIT; i++) {
      SocketChannel channel = SocketChannel.open();
      origin.waiting.add(channel);
      channel.configureBlocking(false);
      channel.connect(origin.server.getLocalSocketAddress());
    }
    return origin;
  }

  int port() {
    return server.getLocalPort();
  }

  @Override
  public void close() throws IOException {
    for (SocketChannel channel : waiting) {
      channel.close();
    }
    server.close();
  }
}
