package io.kamille.core.socket;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TcpOutputTest {

  private final MultiThreadIoEventLoopGroup loop =
      new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
  private final TcpOutput output = new TcpOutput();

  @TempDir private Path directory;

  @AfterEach
  void stop() {
    loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @Test
  void anOpenConnectionIsNotOver() throws Exception {
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Channel channel = connect(server);
      try (Socket accepted = server.accept()) {
        assertThat(accepted.isConnected()).isTrue();
        assertThat(output.sample(channel)).isTrue();
        assertThat(output.unsentBytes()).isZero();
      }
      channel.close().sync();
    }
  }

  /** The kernel gives the number of a closed descriptor to whoever opens something next. */
  @Test
  void nothingIsAskedOfTheDescriptorOfAClosedChannel() throws Exception {
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Channel channel = connect(server);
      channel.close().sync();
      try (var file =
          FileChannel.open(
              directory.resolve("any"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
        assertThat(file.isOpen()).isTrue();
        assertThat(output.sample(channel)).isFalse();
      }
    }
  }

  private Channel connect(ServerSocket server) throws InterruptedException {
    return new Bootstrap()
        .group(loop)
        .channel(EpollSocketChannel.class)
        .handler(new ChannelInboundHandlerAdapter())
        .connect(server.getLocalSocketAddress())
        .sync()
        .channel();
  }
}
