package io.kamille.core.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.socket.SendBuffer;
import io.kamille.core.socket.SendBufferAdvisor;
import io.kamille.core.socket.TcpSampler;
import io.kamille.core.socket.TcpSamples;
import io.kamille.core.socket.TunableChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What goes to a real socket. */
class ClientOutputIT {

  private static final SendBuffer MARKED = new SendBuffer(0, 16 << 10, 16 << 10, 32 << 10);
  private static final int MIB = 1 << 20;

  @TempDir private Path directory;

  /** Decides nothing. */
  private static final class Silent implements SendBufferAdvisor, ClientOutput.Owner {

    @Override
    public Beginning beginning(InetAddress client) {
      return new Beginning(MARKED, 0);
    }

    @Override
    public void seen(long partBytes) {}

    @Override
    public void take(TcpSamples samples) {
      samples.giveBack();
    }

    @Override
    public void writabilityChanged() {}

    @Override
    public void notSent(long bytes) {}
  }

  @Test
  void aRegionHasNoMarkWhileItWaitsAndOctetsKeepIt() throws Exception {
    Path file = Files.write(directory.resolve("content"), new byte[MIB]);
    var loops = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
    EventLoop loop = loops.next();
    var silent = new Silent();
    var sampler = new TcpSampler(loop, silent, MARKED, System::nanoTime);
    sampler.set(true, Duration.ofHours(1), MARKED, 4 * MIB);
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Channel channel = connect(server, loop);
      try (Socket client = server.accept()) {
        TunableChannel tunable =
            onLoop(loop, () -> sampler.opened(channel, client.getInetAddress(), "HTTP/1.1"));
        var flushes = new PendingFlushes(loop);
        var output =
            new ClientOutput(channel, new LoopTime(() -> 0), flushes, silent, tunable, false);
        onLoop(
            loop,
            () -> {
              output.write(Unpooled.directBuffer(MIB).writeZero(MIB));
              assertThat(tunable.isUnmarked()).isFalse();
              output.write(new DefaultFileRegion(file.toFile(), 0, MIB));
              assertThat(tunable.isUnmarked()).isTrue();
              output.flush();
              return output;
            });
        assertThat(client.getInputStream().readNBytes(2 * MIB)).hasSize(2 * MIB);
        Await.until(() -> isMarked(loop, tunable), "the mark");
        channel.close().syncUninterruptibly();
      }
    } finally {
      loops.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
    }
  }

  private static Channel connect(ServerSocket server, EventLoop loop) throws InterruptedException {
    return new Bootstrap()
        .group(loop)
        .channel(EpollSocketChannel.class)
        .handler(new ChannelInboundHandlerAdapter())
        .connect(server.getLocalSocketAddress())
        .sync()
        .channel();
  }

  private static boolean isMarked(EventLoop loop, TunableChannel tunable) {
    try {
      return !onLoop(loop, tunable::isUnmarked);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static <T> T onLoop(EventLoop loop, Callable<T> question) throws Exception {
    return loop.submit(question).get(60, TimeUnit.SECONDS);
  }
}
