package io.kamille.admin.tuning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.socket.SendBuffer;
import io.kamille.core.socket.TcpSampler;
import io.kamille.core.socket.TunableChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The tuner over real sockets; rounds and passes are asked for, and the clock is moved by hand. */
class BufferTunerIT {

  private static final SendBuffer SYSTEM = new SendBuffer(0, 0, 64 << 10, 128 << 10);
  private static final int MUCH = 4 << 20;
  private static final long SECOND = 1_000_000_000L;

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
  private final EventLoop loop = loops.next();
  private final List<Channel> channels = new ArrayList<>();
  private final List<Socket> clients = new ArrayList<>();
  private final List<Integer> announced = new ArrayList<>();
  private final AtomicLong nowNanos = new AtomicLong();
  private volatile double pressure;
  private ServerSocket server;
  private BufferTuner tuner;
  private TcpSampler sampler;

  @BeforeEach
  void open() throws IOException {
    server = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
    tuner =
        new BufferTuner(
            settings(TuningPolicy.EQUATION),
            SYSTEM,
            new KernelLimits(2 << 20, 2 << 20),
            () -> pressure,
            new TuningHistograms(new MetricRegistry()),
            nowNanos::get);
    sampler = tuner.sampler(loop);
    tuner.announceTo(announced::add);
  }

  private static TuningSettings settings(TuningPolicy policy) {
    return new TuningSettings(policy, LossModel.FITTED, 512 << 10, 2, Duration.ofHours(1));
  }

  @AfterEach
  void stop() throws IOException {
    for (int i = 0; i < channels.size(); i++) {
      channels.get(i).close().syncUninterruptibly();
      clients.get(i).close();
    }
    server.close();
    loops.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @Test
  void aClientThatNeverReadsIsLeftOneTrainAndASentenceSaysWhy() throws Exception {
    stalled();
    look();
    look();
    ConnectionSnapshot snapshot = tuner.connections(ConnectionOrder.PENDING, 10).getFirst();
    assertThat(snapshot.estimate().basis()).isEqualTo(Estimate.Basis.STALLED);
    assertThat(snapshot.buffer().notSentLowWatermarkBytes()).isLessThanOrEqualTo(32 << 10);
    assertThat(snapshot.why()).contains("The client", " It gets ");
    assertThat(snapshot.waiting().bufferedBytes()).isGreaterThan(MUCH / 2);
  }

  @Test
  void thePartsNeverExceedTheBudget() throws Exception {
    for (int i = 0; i < 8; i++) {
      stalled();
    }
    look();
    look();
    assertThat(tuner.snapshot().allocatedBytes()).isPositive().isLessThanOrEqualTo(512 << 10);
  }

  @Test
  void underPressureThePartsShrinkAndNoFurtherThanOneTrain() throws Exception {
    for (int i = 0; i < 8; i++) {
      stalled();
    }
    pressure = 0.9;
    for (int i = 0; i < 6; i++) {
      look();
    }
    assertThat(tuner.snapshot().budgetBytes()).isEqualTo(32 << 10);
    assertThat(tuner.snapshot().allocatedBytes())
        .isCloseTo(8 * SendBufferLaw.TRAIN_BYTES, within(8L));
  }

  @Test
  void anOverrideHoldsUntilItsTimeIsOver() throws Exception {
    TunableChannel channel = stalled();
    look();
    assertThat(tuner.override(channel.number(), 200_000, Duration.ofSeconds(5))).isTrue();
    look();
    assertThat(tuner.connections(ConnectionOrder.BUFFER, 1).getFirst().why())
        .contains("An operator set 195 KiB for 4 s more.");
    assertThat(onLoop(channel::grantedBytes)).isEqualTo(200_000);
    for (int i = 0; i < 6; i++) {
      look();
    }
    assertThat(onLoop(channel::grantedBytes)).isNotEqualTo(200_000);
    assertThat(tuner.override(channel.number() + 1, 0, Duration.ofSeconds(5))).isFalse();
  }

  @Test
  void offGivesAllBackToTheKernelAndForgetsThem() throws Exception {
    TunableChannel channel = stalled();
    look();
    look();
    assertThat(onLoop(channel::grantedBytes)).isPositive();
    tuner.settings(settings(TuningPolicy.OFF));
    look();
    assertThat(onLoop(channel::grantedBytes)).isZero();
    assertThat(onLoop(channel::sendBuffer)).isEqualTo(SYSTEM);
    look();
    assertThat(tuner.connections(ConnectionOrder.BUFFER, 10)).isEmpty();
    assertThat(tuner.snapshot().fixed()).isZero();
    assertThat(announced).containsExactly(SendBufferLaw.INITIAL_MARK_BYTES, 0);
  }

  @Test
  void equalPartsAreAlike() throws Exception {
    tuner.settings(settings(TuningPolicy.EQUAL));
    TunableChannel one = stalled();
    TunableChannel other = stalled();
    look();
    look();
    assertThat(onLoop(one::grantedBytes)).isEqualTo(256 << 10);
    assertThat(onLoop(other::grantedBytes)).isEqualTo(256 << 10);
  }

  @Test
  void withTheKernelNothingIsFixed() throws Exception {
    tuner.settings(settings(TuningPolicy.KERNEL));
    TunableChannel channel = stalled();
    look();
    look();
    assertThat(onLoop(channel::grantedBytes)).isZero();
    assertThat(onLoop(channel::sendBuffer).notSentLowWatermarkBytes()).isPositive();
  }

  @Test
  void aClosedConnectionIsForgotten() throws Exception {
    TunableChannel channel = stalled();
    look();
    channels.getFirst().close().sync();
    onLoop(
        () -> {
          channel.closed();
          return channel;
        });
    look();
    assertThat(tuner.connections(ConnectionOrder.RATE, 10)).isEmpty();
  }

  /** A connection with much to send, whose client does not read. */
  private TunableChannel stalled() throws Exception {
    Channel channel =
        new Bootstrap()
            .group(loop)
            .channel(EpollSocketChannel.class)
            .handler(new ChannelInboundHandlerAdapter())
            .connect(server.getLocalSocketAddress())
            .sync()
            .channel();
    channels.add(channel);
    Socket client = server.accept();
    clients.add(client);
    return onLoop(
        () -> {
          TunableChannel tunable = sampler.opened(channel, client.getInetAddress(), "HTTP/1.1");
          channel.writeAndFlush(Unpooled.directBuffer(MUCH).writeZero(MUCH));
          tunable.wrote();
          return tunable;
        });
  }

  /** A second passes, a round is made, and what came of it is set. */
  private void look() throws Exception {
    nowNanos.addAndGet(SECOND);
    onLoop(
        () -> {
          sampler.lookAtAllDue();
          return sampler;
        });
    tuner.absorb();
    tuner.pass();
    onLoop(() -> sampler);
  }

  private <T> T onLoop(Callable<T> question) throws Exception {
    return loop.submit(question).get(10, TimeUnit.SECONDS);
  }
}
