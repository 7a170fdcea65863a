package io.kamille.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.metric.AnswerCounts;
import io.kamille.core.metric.MetricRegistry;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.util.concurrent.ThreadAwareExecutor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Real loops over epoll. Times are only ever compared from below. */
class PacedLoopIT {

  private static final int ROUND_TRIPS = 40;
  private static final long PATIENCE_SECONDS = 60;

  @ParameterizedTest
  @ValueSource(longs = {100_000, 500_000, 1_000_000, 5_000_000, 10_000_000})
  void noTwoPollsAreCloserThanTheInterval(long intervalNanos) throws Exception {
    Recording recording = new Recording();
    var factory = paced(PaceSettings.fixed(intervalNanos), recording);
    var group = new MultiThreadIoEventLoopGroup(1, factory);
    try {
      assertThat(echoes(group, ROUND_TRIPS)).isEqualTo(ROUND_TRIPS);
      List<Long> gaps = group.submit(recording::gaps).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
      assertThat(gaps).isNotEmpty().allMatch(gap -> gap >= intervalNanos);
    } finally {
      group.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
    }
  }

  private static IoHandlerFactory paced(PaceSettings settings, Recording recording) {
    IoHandlerFactory epoll = MendedEpollHandler.factory(EpollIoHandler.newFactory());
    return new IoHandlerFactory() {
      @Override
      public IoHandler newHandler(ThreadAwareExecutor executor) {
        recording.epoll.add(epoll.newHandler(executor));
        return new PacedIoHandler(
            recording,
            new LoopControl(settings),
            LoopClock.SYSTEM,
            () -> 0,
            () -> AnswerCounts.NONE,
            new PaceController(1),
            LoopMetrics.meter(new MetricRegistry(), "loop"));
      }

      @Override
      public boolean isChangingThreadSupported() {
        return false;
      }
    };
  }

  private static int echoes(MultiThreadIoEventLoopGroup group, int count) throws IOException {
    Channel server =
        new ServerBootstrap()
            .group(group)
            .channel(EpollServerSocketChannel.class)
            .childHandler(new Echo())
            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .syncUninterruptibly()
            .channel();
    int echoed = 0;
    try (Socket client = new Socket()) {
      client.connect(server.localAddress());
      for (int i = 0; i < count; i++) {
        client.getOutputStream().write(i);
        echoed += client.getInputStream().read() == i ? 1 : 0;
      }
    }
    return echoed;
  }

  @ParameterizedTest
  @ValueSource(strings = {"off", "100us", "2ms", "adaptive"})
  void everyTaskOfManyThreadsRuns(String pace) throws Exception {
    int perThread = 5_000;
    try (LoopGroup loops = new LoopGroup(1, settings(pace), new MetricRegistry())) {
      EventLoop loop = loops.loops().getFirst();
      CountDownLatch ran = new CountDownLatch(3 * perThread);
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        threads.add(Thread.ofPlatform().start(() -> give(loop, perThread, ran)));
      }
      assertThat(ran.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
      for (Thread thread : threads) {
        thread.join();
      }
    }
  }

  /** Every tenth time it waits for what it gave, so that the loop has time to fall asleep. */
  private static void give(EventLoop loop, int count, CountDownLatch ran) {
    for (int i = 0; i < count; i++) {
      if (i % 10 == 0) {
        loop.submit(ran::countDown).syncUninterruptibly();
      } else {
        loop.execute(ran::countDown);
      }
    }
  }

  private static PaceSettings settings(String pace) {
    return switch (pace) {
      case "off" -> PaceSettings.OFF;
      case "adaptive" -> PaceSettings.ADAPTIVE;
      case "100us" -> PaceSettings.fixed(100_000);
      default -> PaceSettings.fixed(2_000_000);
    };
  }

  @Test
  void thePaceChangesWhileTheLoopRuns() throws Exception {
    try (LoopGroup loops = new LoopGroup(2, PaceSettings.OFF, new MetricRegistry())) {
      loops.pace(PaceSettings.fixed(300_000));
      for (EventLoop loop : loops.loops()) {
        loop.submit(() -> {}).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
      }
      Await.until(() -> loops.turns().stream().allMatch(turn -> turn.reason() == PaceReason.FIXED));
      assertThat(loops.turns())
          .extracting(LoopTurns::name, LoopTurns::intervalNanos, LoopTurns::reason)
          .containsExactly(
              Tuple.tuple("kamille-loop-1", 300_000L, PaceReason.FIXED),
              Tuple.tuple("kamille-loop-2", 300_000L, PaceReason.FIXED));
    }
  }

  @Test
  void pollsPerSecondAreToldWithoutPacing() {
    try (LoopGroup loops = new LoopGroup(1, PaceSettings.OFF, new MetricRegistry())) {
      loops.watch();
      EventLoop loop = loops.loops().getFirst();
      Await.until(
          () ->
              loop.submit(() -> {}).awaitUninterruptibly().isSuccess()
                  && loops.turns().getFirst().pollsPerSecond() > 0);
      assertThat(loops.turns().getFirst().pollsPerSecond()).isPositive();
    }
  }

  @Test
  void aTurnThatDoesNotEndIsCountedAsAStall() throws Exception {
    try (LoopGroup loops = new LoopGroup(1, PaceSettings.OFF, new MetricRegistry())) {
      loops.watch();
      CountDownLatch seen = new CountDownLatch(1);
      EventLoop loop = loops.loops().getFirst();
      var turn = loop.submit(() -> seen.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
      Await.until(() -> loops.turns().getFirst().stalls() > 0);
      seen.countDown();
      assertThat(turn.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
      assertThat(loops.turns().getFirst().stalls()).isPositive();
    }
  }

  @Test
  void aLoopThatIsToldToStopWithinATaskClosesItsSocketsFirst() throws Exception {
    LoopGroup loops = new LoopGroup(1);
    EventLoop loop = loops.loops().getFirst();
    CountDownLatch removed = new CountDownLatch(1);
    new ServerBootstrap()
        .group(loop)
        .channel(EpollServerSocketChannel.class)
        .handler(
            new ChannelInboundHandlerAdapter() {
              @Override
              public void handlerRemoved(ChannelHandlerContext context) {
                removed.countDown();
              }
            })
        .childHandler(new Echo())
        .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
        .syncUninterruptibly();
    CountDownLatch told = new CountDownLatch(1);
    var task = loop.submit(() -> told.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
    Thread stop = Thread.ofPlatform().start(loops::close);
    Await.until(loop::isShuttingDown);
    told.countDown();
    stop.join();
    assertThat(task.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(removed.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aPausedLoopStops() {
    LoopGroup loops = new LoopGroup(1, PaceSettings.fixed(100_000_000), new MetricRegistry());
    EventLoop loop = loops.loops().getFirst();
    AtomicInteger runs = new AtomicInteger();
    loop.submit(runs::incrementAndGet).syncUninterruptibly();
    loops.close();
    assertThat(loop.isTerminated()).isTrue();
    assertThat(runs).hasValue(1);
  }

  @Sharable
  private static final class Echo extends ChannelInboundHandlerAdapter {

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      context.writeAndFlush(message);
    }
  }

  /** Notes when each poll was called and when it returned. */
  private static final class Recording implements IoHandler {

    private final List<IoHandler> epoll = Collections.synchronizedList(new ArrayList<>());
    private final List<Long> gaps = new ArrayList<>();
    private long returned;
    private boolean hasPolled;

    List<Long> gaps() {
      return List.copyOf(gaps);
    }

    @Override
    public void initialize() {
      epoll.getFirst().initialize();
    }

    @Override
    public int run(IoHandlerContext context) {
      if (hasPolled) {
        gaps.add(System.nanoTime() - returned);
      }
      hasPolled = true;
      return epoll.getFirst().run(new Returning(context));
    }

    @Override
    public void prepareToDestroy() {
      epoll.getFirst().prepareToDestroy();
    }

    @Override
    public void destroy() {
      epoll.getFirst().destroy();
    }

    @Override
    public IoRegistration register(IoHandle handle) throws Exception {
      return epoll.getFirst().register(handle);
    }

    @Override
    public void wakeup() {
      epoll.getFirst().wakeup();
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
      return epoll.getFirst().isCompatible(handleType);
    }

    /** Looks at the clock before the handler under test does, so that no gap seems too short. */
    private final class Returning implements IoHandlerContext {

      private final IoHandlerContext outer;

      Returning(IoHandlerContext outer) {
        this.outer = outer;
      }

      @Override
      public boolean canBlock() {
        return outer.canBlock();
      }

      @Override
      public long delayNanos(long currentTimeNanos) {
        return outer.delayNanos(currentTimeNanos);
      }

      @Override
      public long deadlineNanos() {
        return outer.deadlineNanos();
      }

      @Override
      public boolean shouldReportActiveIoTime() {
        returned = System.nanoTime();
        return outer.shouldReportActiveIoTime();
      }
    }
  }
}
