package io.kamille.admin.tuning;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.setting.Sections;
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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
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
            new TuningMetrics(new MetricRegistry()),
            nowNanos::get);
    sampler = tuner.sampler(loop);
    tuner.announceTo(announced::add);
  }

  private static TuningSettings settings(TuningPolicy policy) {
    return Sections.copy(
            Sections.of(TuningSettings.SECTION, "budget: 512KiB")
                .withWatermarks(32 << 10, 128 << 10))
        .with("policy", policy)
        .with("period", Duration.ofHours(1))
        .record();
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
    passSecond();
    passSecond();
    ConnectionSnapshot snapshot = tuner.connections(ConnectionOrder.PENDING, 10).getFirst();
    assertThat(snapshot.path().basis()).isEqualTo(Estimate.Basis.STALLED);
    assertThat(snapshot.sendBuffer().notSentLowWatermarkBytes()).isLessThanOrEqualTo(32 << 10);
    assertThat(snapshot.why()).contains("The client", " It gets ");
    assertThat(snapshot.pending().bufferedBytes()).isGreaterThan(MUCH / 2);
  }

  @Test
  void anErrorCostsOnePassAlone() throws InterruptedException {
    AtomicBoolean isFirst = new AtomicBoolean(true);
    CountDownLatch second = new CountDownLatch(1);
    try (BufferTuner failing =
        new BufferTuner(
            Sections.copy(settings(TuningPolicy.EQUATION))
                .with("period", Duration.ofMillis(1))
                .record(),
            SYSTEM,
            new KernelLimits(2 << 20, 2 << 20),
            () -> {
              if (isFirst.getAndSet(false)) {
                throw new AssertionError("on purpose");
              }
              second.countDown();
              return 0;
            },
            new TuningMetrics(new MetricRegistry()),
            System::nanoTime)) {
      failing.start(_ -> {});
      assertThat(second.await(60, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void aClientThatNeverReadsTeachesItsNeighboursNothing() throws Exception {
    stalled();
    for (int i = 0; i < 5; i++) {
      passSecond();
    }
    assertThat(tuner.connections(ConnectionOrder.PENDING, 1).getFirst().path().basis())
        .isEqualTo(Estimate.Basis.STALLED);
    assertThat(tuner.beginning(InetAddress.getLoopbackAddress()).partBytes())
        .isGreaterThan(32 << 10);
  }

  @Test
  void thePartsNeverExceedTheBudget() throws Exception {
    for (int i = 0; i < 8; i++) {
      stalled();
    }
    passSecond();
    passSecond();
    assertThat(tuner.snapshot().allocatedBytes()).isPositive().isLessThanOrEqualTo(512 << 10);
  }

  /** Whoever began with less than its part grows only into what others were seen to have freed. */
  @Test
  void theSizesInForceNeverExceedTheBudget() throws Exception {
    var open = new ArrayList<TunableChannel>();
    for (int round = 0; round < 6; round++) {
      open.add(stalled());
      open.add(stalled());
      assertThat(inForce(open)).isLessThanOrEqualTo(most(open));
      passSecond();
      assertThat(inForce(open)).isLessThanOrEqualTo(most(open));
    }
  }

  /** The grant of an earlier size was told as a limit of the kernel. */
  @Test
  void aSizeThatNoLoopHasAppliedYetIsNotToldAsRefused() throws Exception {
    for (int round = 0; round < 6; round++) {
      stalled();
      stalled();
      passSecond();
      assertThat(tuner.connections(ConnectionOrder.BUFFER, 20))
          .noneMatch(each -> each.why().contains("The kernel granted"));
    }
  }

  /** The budget, and the least size for whoever began when nothing was left of it. */
  private static long most(List<TunableChannel> open) {
    return (512 << 10) + (long) open.size() * SendBufferLaw.LEAST_SIZE_BYTES;
  }

  private long inForce(List<TunableChannel> open) throws Exception {
    return onLoop(() -> open.stream().mapToLong(TunableChannel::grantedBytes).sum());
  }

  @Test
  void idleConnectionsGiveBackWhatIsMoreThanAQuarterOfTheBudget() throws Exception {
    TunableChannel idle = stalled();
    passSecond();
    passSecond();
    long before = onLoop(idle::grantedBytes);
    assertThat(before).isGreaterThan(128 << 10);
    drain(clients.getFirst(), MUCH);
    passSecond();
    nowNanos.addAndGet(4 * Duration.ofHours(1).toNanos());
    for (int i = 0; i < 6; i++) {
      passSecond();
    }
    assertThat(onLoop(idle::grantedBytes)).isEqualTo(SendBufferLaw.LEAST_SIZE_BYTES);
    assertThat(tuner.connections(ConnectionOrder.BUFFER, 1).getFirst().why())
        .contains("It is idle and has no part of the budget. It has 2 KiB.");
  }

  private static void drain(Socket client, int octets) throws IOException {
    client.getInputStream().readNBytes(octets);
  }

  @Test
  void underPressureThePartsShrinkAndNoFurtherThanOneTrain() throws Exception {
    for (int i = 0; i < 8; i++) {
      stalled();
    }
    pressure = 0.9;
    for (int i = 0; i < 6; i++) {
      passSecond();
    }
    assertThat(tuner.snapshot().budgetInForceBytes()).isEqualTo(32 << 10);
    assertThat(tuner.snapshot().allocatedBytes())
        .isBetween(7L * SendBufferLaw.TRAIN_BYTES - 8, 8L * SendBufferLaw.TRAIN_BYTES);
  }

  @Test
  void whileMemoryIsShortAllHaveAsLittleInFrontOfTheKernelAsTheyMay() throws Exception {
    tuner.settings(settings(TuningPolicy.KERNEL).withWatermarks(8 << 10, 128 << 10));
    TunableChannel before = stalled();
    passSecond();
    assertThat(onLoop(before::sendBuffer).highWatermarkBytes()).isGreaterThan(8 << 10);
    pressure = 0.9;
    TunableChannel then = stalled();
    passSecond();
    assertThat(onLoop(then::sendBuffer).highWatermarkBytes()).isEqualTo(8 << 10);
    TunableChannel notLookedAt = stalled();
    assertThat(onLoop(notLookedAt::sendBuffer).highWatermarkBytes()).isEqualTo(8 << 10);
  }

  @Test
  void otherBoundsHoldForConnectionsThatAreIdleToo() throws Exception {
    TunableChannel idle = stalled();
    passSecond();
    drain(clients.getFirst(), MUCH);
    passSecond();
    nowNanos.addAndGet(4 * Duration.ofHours(1).toNanos());
    passSecond();
    tuner.settings(settings(TuningPolicy.EQUATION).withWatermarks(1 << 20, 1 << 20));
    passSecond();
    assertThat(onLoop(idle::sendBuffer).highWatermarkBytes()).isEqualTo(1 << 20);
  }

  @Test
  void offGivesAllBackToTheKernelAndForgetsThem() throws Exception {
    TunableChannel channel = stalled();
    passSecond();
    passSecond();
    assertThat(onLoop(channel::grantedBytes)).isPositive();
    tuner.settings(settings(TuningPolicy.OFF));
    passSecond();
    assertThat(onLoop(channel::grantedBytes)).isZero();
    assertThat(onLoop(channel::sendBuffer)).isEqualTo(SYSTEM);
    passSecond();
    assertThat(tuner.connections(ConnectionOrder.BUFFER, 10)).isEmpty();
    assertThat(tuner.snapshot().fixedUntilTheyClose()).isZero();
    assertThat(announced).containsExactly(SendBufferLaw.INITIAL_MARK_BYTES, 0);
  }

  @Test
  void withTheKernelNothingIsFixed() throws Exception {
    tuner.settings(settings(TuningPolicy.KERNEL));
    TunableChannel channel = stalled();
    passSecond();
    passSecond();
    assertThat(onLoop(channel::grantedBytes)).isZero();
    assertThat(onLoop(channel::sendBuffer).notSentLowWatermarkBytes()).isPositive();
  }

  @Test
  void aClosedConnectionIsForgotten() throws Exception {
    TunableChannel channel = stalled();
    passSecond();
    channels.getFirst().close().sync();
    onLoop(
        () -> {
          channel.closed();
          return channel;
        });
    passSecond();
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
          tunable.writes();
          channel.writeAndFlush(Unpooled.directBuffer(MUCH).writeZero(MUCH));
          return tunable;
        });
  }

  /** A second passes, a round is made, and what came of it is set. */
  private void passSecond() throws Exception {
    nowNanos.addAndGet(SECOND);
    onLoop(
        () -> {
          sampler.sampleAllDue();
          return sampler;
        });
    tuner.absorb();
    tuner.pass();
    onLoop(() -> sampler);
  }

  private <T> T onLoop(Callable<T> question) throws Exception {
    return loop.submit(question).get(60, TimeUnit.SECONDS);
  }
}
