package io.kamille.launcher.service;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Collections.nCopies;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollDomainDatagramChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.unix.DomainDatagramPacket;
import io.netty.channel.unix.DomainSocketAddress;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServiceManagerTest {

  /** The kernel passes 253 at once, and a listener has one for each loop. */
  @Test
  void howeverManySocketsOfAnAddressAreKept(@TempDir Path directory) throws Exception {
    BlockingQueue<String> told = new LinkedBlockingQueue<>();
    Path path = directory.resolve("notify");
    EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
    Channel systemd =
        new Bootstrap()
            .group(loop)
            .channel(EpollDomainDatagramChannel.class)
            .handler(
                new SimpleChannelInboundHandler<DomainDatagramPacket>() {
                  @Override
                  protected void channelRead0(
                      ChannelHandlerContext context, DomainDatagramPacket packet) {
                    told.add(packet.content().toString(UTF_8));
                  }
                })
            .bind(new DomainSocketAddress(path.toString()))
            .sync()
            .channel();
    try {
      ServiceManager manager = ServiceManager.of(Map.of("NOTIFY_SOCKET", path.toString()), 1);
      int[] counts = {1, 253, 254, 600};
      int[] messages = {1, 1, 2, 3};
      for (int i = 0; i < counts.length; i++) {
        manager.keep("a-80", nCopies(counts[i], 0));
        manager.ready("now");
        for (int j = 0; j < messages[i]; j++) {
          assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo("FDSTORE=1\nFDNAME=a-80");
        }
        assertThat(told.poll(10, TimeUnit.SECONDS)).startsWith("READY=1");
      }
    } finally {
      systemd.close().sync();
      loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
    }
  }
}
