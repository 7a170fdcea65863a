package io.kamille.perf.load;

import io.kamille.core.loop.LoopGroup;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.function.Supplier;

/** A loopback listener on one of Kamille's loops, with the socket options of Kamille's listener. */
final class OneLoopServer implements AutoCloseable {

  private static final int BACKLOG = 1024;

  private final LoopGroup loops;
  private final Channel socket;

  private final Runnable afterwards;

  private OneLoopServer(LoopGroup loops, Channel socket, Runnable afterwards) {
    this.loops = loops;
    this.socket = socket;
    this.afterwards = afterwards;
  }

  /**
   * Listens.
   *
   * @param port 0 lets the kernel choose
   * @param handlers makes the one handler of each connection
   * @param afterwards releases what the handlers share, when all connections are gone
   */
  static OneLoopServer open(int port, Supplier<ChannelHandler> handlers, Runnable afterwards) {
    LoopGroup loops = new LoopGroup(1);
    EventLoop loop = loops.loops().getFirst();
    Channel socket =
        new ServerBootstrap()
            .group(loop, loop)
            .channel(EpollServerSocketChannel.class)
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
                    channel.pipeline().addLast(handlers.get());
                  }
                })
            .bind(InetAddress.getLoopbackAddress(), port)
            .syncUninterruptibly()
            .channel();
    return new OneLoopServer(loops, socket, afterwards);
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
    loops.close();
    afterwards.run();
  }
}
