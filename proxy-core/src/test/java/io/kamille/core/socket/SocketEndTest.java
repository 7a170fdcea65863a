package io.kamille.core.socket;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.loop.LoopGroup;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** What the other side reads once we have sent the end. */
class SocketEndTest {

  @Test
  void theOtherSideReadsTheEndOfOneOfOurSockets() throws Exception {
    assertThat(firstRead(LoopGroup.epoll(), LoopGroup::socket)).isEqualTo(-1);
  }

  @Test
  void theOtherSideReadsTheEndOfAnyOtherSocket() throws Exception {
    assertThat(firstRead(NioIoHandler.newFactory(), NioSocketChannel::new)).isEqualTo(-1);
  }

  @Test
  void aClosedSocketOfOursEndsAndItsLoopGoesOn() throws Exception {
    assertThat(firstRead(LoopGroup.epoll(), LoopGroup::socket, SocketEnd::close)).isEqualTo(-1);
  }

  @Test
  void anyOtherClosedSocketEnds() throws Exception {
    assertThat(firstRead(NioIoHandler.newFactory(), NioSocketChannel::new, SocketEnd::close))
        .isEqualTo(-1);
  }

  private static int firstRead(IoHandlerFactory handlers, Supplier<Channel> sockets)
      throws Exception {
    return firstRead(
        handlers,
        sockets,
        channel -> {
          SocketEnd.send(channel);
          assertThat(channel.isOpen()).isTrue();
        });
  }

  private static int firstRead(
      IoHandlerFactory handlers, Supplier<Channel> sockets, Consumer<Channel> end)
      throws Exception {
    EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, handlers);
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Channel channel =
          new Bootstrap()
              .group(loop)
              .channelFactory(sockets::get)
              .handler(new ChannelInboundHandlerAdapter())
              .connect(server.getLocalSocketAddress())
              .sync()
              .channel();
      try (Socket accepted = server.accept()) {
        accepted.setSoTimeout(60_000);
        channel.eventLoop().submit(() -> end.accept(channel)).sync();
        assertThat(channel.isOpen()).isEqualTo(channel.isActive());
        return accepted.getInputStream().read();
      }
    } finally {
      loop.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }
  }
}
