package io.kamille.perf.load;

import io.kamille.core.loop.LoopGroup;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.function.Supplier;

/** A loopback listener on one loop, with the socket options of Kamille's listener. */
final class OneLoopServer implements AutoCloseable {

  /*
   * A poll accepts whoever waits: with the usual sixteen at a time a long interval between two
   * polls would bound how many clients can connect.
   */

  private static final int BACKLOG = 1024;

  private final Channel socket;
  private final Runnable afterwards;

  /**
   * A listener that is there.
   *
   * @param afterwards ends the loop, and releases what its handlers share
   */
  OneLoopServer(Channel socket, Runnable afterwards) {
    this.socket = socket;
    this.afterwards = afterwards;
  }

  /**
   * Listens, on a loop of Kamille's.
   *
   * @param port 0 lets the kernel choose
   * @param handlers makes the one handler of each connection
   * @param afterwards releases what the handlers share, when all connections are gone
   */
  static OneLoopServer open(int port, Supplier<ChannelHandler> handlers, Runnable afterwards) {
    LoopGroup loops = new LoopGroup(1);
    Channel socket =
        listen(loops.loops().getFirst(), true, port, handlers).syncUninterruptibly().channel();
    return new OneLoopServer(
        socket,
        () -> {
          loops.close();
          afterwards.run();
        });
  }

  /**
   * Begins to listen, on that loop. With the listener, its connections close.
   *
   * @param isEpoll whether it is one of native epoll, not of the JDK
   */
  static ChannelFuture listen(
      EventLoopGroup loop, boolean isEpoll, int port, Supplier<ChannelHandler> handlers) {
    var connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    ChannelFuture listening =
        new ServerBootstrap()
            .group(loop)
            .channel(isEpoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .option(ChannelOption.SO_REUSEADDR, true)
            .option(
                ChannelOption.RECVBUF_ALLOCATOR,
                new ServerChannelRecvByteBufAllocator()
                    .respectMaybeMoreData(false)
                    .maxMessagesPerRead(BACKLOG))
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.SO_KEEPALIVE, true)
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) {
                    connections.add(channel);
                    channel.pipeline().addLast(handlers.get());
                  }
                })
            .bind(InetAddress.getLoopbackAddress(), port);
    listening.channel().closeFuture().addListener(closed -> connections.close());
    return listening;
  }

  int port() {
    return ((InetSocketAddress) socket.localAddress()).getPort();
  }

  /** Serves until the process is told to end. */
  void serve() {
    socket.closeFuture().awaitUninterruptibly();
  }

  @Override
  public void close() {
    socket.close().awaitUninterruptibly();
    afterwards.run();
  }
}
