package io.kamille.core.loop;

import io.kamille.core.loop.LoopMeter.Reading;
import io.kamille.core.metric.AnswerCounts;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.socket.Connector;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A fixed number of loops over native epoll, which pace themselves alike. Any thread may ask and
 * set the pace; start and stop are the owner's.
 */
public final class LoopGroup implements AutoCloseable {

  public static final MetricDescriptor CPU =
      MetricDescriptor.counter(
          "kamille_loop_cpu_seconds_total", "Processor time of a loop.", "loop");

  private static final Duration STOP_LIMIT = Duration.ofSeconds(5);

  private final LoopControl control;
  private final MultiThreadIoEventLoopGroup group;
  private final List<EventLoop> loops = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final List<LoopMeter> meters = new ArrayList<>();

  /** Nobody counts what a loop has answered before somebody says who does. */
  private final List<AtomicReference<Supplier<AnswerCounts>>> answerCounts = new ArrayList<>();

  private final List<PacedIoHandler> handlers = new ArrayList<>();
  private final StallDetector stalls;
  private @Nullable LoopWatch watch;

  /**
   * Starts loops that do not pace themselves.
   *
   * @param count how many, at least one
   * @throws IllegalStateException if this machine has no native epoll, or Netty's parts differ
   */
  public LoopGroup(int count) {
    this(count, PaceSettings.OFF, new MetricRegistry());
  }

  /**
   * Starts the loops.
   *
   * @param count how many, at least one
   * @param registry where they tell what they do
   * @throws IllegalStateException if this machine has no native epoll, or Netty's parts differ
   */
  public LoopGroup(int count, PaceSettings pace, MetricRegistry registry) {
    if (!Epoll.isAvailable()) {
      throw new IllegalStateException("native epoll is not available", Epoll.unavailabilityCause());
    }
    String mismatch = NettyNatives.mismatch(NettyNatives.versions());
    if (mismatch != null) {
      throw new IllegalStateException(mismatch);
    }
    control = new LoopControl(pace);
    group =
        new MultiThreadIoEventLoopGroup(
            count, new DefaultThreadFactory("kamille-loop"), handlers(registry));
    for (EventExecutor loop : group) {
      String name = name(loops.size());
      loops.add((EventLoop) loop);
      threads.add(loop.submit(() -> named(name)).syncUninterruptibly().getNow());
    }
    stalls = new StallDetector(watched(), LoopWatch::log);
    for (int i = 0; i < count; i++) {
      int number = i;
      registry.counting(LoopMetrics.STALLS, () -> stalls.stalls(number), name(i));
      registry.counting(CPU, () -> cpuNanos(number) / 1e9, name(i));
    }
  }

  private static Thread named(String name) {
    Thread thread = Thread.currentThread();
    thread.setName(name);
    return thread;
  }

  private IoHandlerFactory handlers(MetricRegistry registry) {
    IoHandlerFactory epoll = epoll();
    ThreadMXBean process = ManagementFactory.getThreadMXBean();
    // A handler remembers its thread, to wake it: this factory supports no change of it.
    return executor -> {
      LoopMeter meter = LoopMetrics.meter(registry, name(meters.size()));
      meters.add(meter);
      AtomicReference<Supplier<AnswerCounts>> counts =
          new AtomicReference<>(() -> AnswerCounts.NONE);
      answerCounts.add(counts);
      PacedIoHandler handler =
          new PacedIoHandler(
              epoll.newHandler(executor),
              control,
              LoopClock.SYSTEM,
              process::getCurrentThreadCpuTime,
              () -> counts.get().get(),
              new PaceController(meters.size()),
              meter);
      handlers.add(handler);
      return handler;
    };
  }

  private List<StallDetector.Loop> watched() {
    List<StallDetector.Loop> watched = new ArrayList<>();
    for (int i = 0; i < loops.size(); i++) {
      LoopMeter meter = meters.get(i);
      Thread thread = threads.get(i);
      watched.add(
          new StallDetector.Loop(
              name(i), () -> meter.value(Reading.PROGRESS), thread::getStackTrace));
    }
    return watched;
  }

  /**
   * Begins to look for turns that take too long, for how often loops poll, and for idle processors:
   * without, no loop spins.
   */
  public synchronized void watch() {
    if (watch == null) {
      var processors = new IdleProcessors(Path.of("/proc"));
      watch = LoopWatch.start(control, stalls, processors, meters);
    }
  }

  /** How the loops pace themselves. Any thread. */
  public PaceSettings pace() {
    return control.settings();
  }

  /** Another pace, for each loop from its next turn on. Any thread. */
  public void pace(PaceSettings settings) {
    control.settings(settings);
  }

  /**
   * Tells one loop how to learn what it has answered. Without, it goes by events. Any thread.
   *
   * @param counts so far; asked on the loop, about a hundred times a second
   */
  public void answered(int index, Supplier<AnswerCounts> counts) {
    answerCounts.get(index).set(counts);
  }

  /** What the loops did, in their order. Any thread. */
  public List<LoopTurns> turns() {
    List<LoopTurns> turns = new ArrayList<>();
    for (int i = 0; i < meters.size(); i++) {
      turns.add(turns(name(i), meters.get(i), stalls.stalls(i)));
    }
    return turns;
  }

  private LoopTurns turns(String name, LoopMeter meter, long stallCount) {
    return new LoopTurns(
        name,
        meter.value(Reading.INTERVAL_NANOS),
        meter.reason(),
        meter.value(Reading.POLLS),
        meter.value(Reading.EVENTS),
        meter.ratio(Reading.POLLS_PER_SECOND),
        meter.ratio(Reading.EVENTS_PER_POLL),
        meter.ratio(Reading.UTILISATION),
        meter.judgement(),
        meter.value(Reading.PAUSES),
        meter.value(Reading.PAUSE_NANOS),
        meter.value(Reading.SPIN_BUDGET_NANOS),
        meter.value(Reading.SPINS),
        meter.value(Reading.PAID_SPINS),
        meter.value(Reading.SPIN_NANOS),
        stallCount,
        meter.turns().snapshot());
  }

  /** Processor time that all loops have used, in nanoseconds. Any thread. */
  public long cpuNanos() {
    long sum = 0;
    for (int i = 0; i < threads.size(); i++) {
      sum += cpuNanos(i);
    }
    return sum;
  }

  /** Processor time that one loop has used, in nanoseconds. Any thread. */
  public long cpuNanos(int index) {
    long id = threads.get(index).threadId();
    return Math.max(0, ManagementFactory.getThreadMXBean().getThreadCpuTime(id));
  }

  /** How often one loop has polled. Any thread. */
  public long polls(int index) {
    return meters.get(index).value(Reading.POLLS);
  }

  /** The name of a loop's thread. */
  public String name(int index) {
    return "kamille-loop-" + (index + 1);
  }

  /** What waits for events of such sockets, for a loop beside these. */
  public static IoHandlerFactory epoll() {
    return MendedEpollHandler.factory(EpollIoHandler.newFactory());
  }

  /** Connects to origins by sockets of the kind that these loops serve. */
  public static Connector sockets() {
    return Connector.of(() -> socket());
  }

  /** A socket of that kind that is still to be connected. */
  public static Channel socket() {
    return new EpollSocketChannel();
  }

  /**
   * A socket of that kind that is connected already.
   *
   * @param descriptor owned from now on
   */
  public static Channel socket(int descriptor) {
    return new EpollSocketChannel(descriptor);
  }

  /** The loops, in a fixed order. */
  public List<EventLoop> loops() {
    return List.copyOf(loops);
  }

  /** Stops all loops and waits for them, for a few seconds at most. Closes what is open on them. */
  @Override
  public void close() {
    stopWatching();
    if (!group.isShuttingDown()) {
      for (int i = 0; i < loops.size(); i++) {
        // Netty 4.2 does so itself unless it is told to stop while a loop runs tasks.
        loops.get(i).execute(handlers.get(i)::prepareToDestroy);
      }
    }
    group
        .shutdownGracefully(0, STOP_LIMIT.toMillis(), TimeUnit.MILLISECONDS)
        .awaitUninterruptibly(STOP_LIMIT.toMillis());
  }

  private synchronized void stopWatching() {
    if (watch != null) {
      watch.close();
      watch = null;
    }
  }
}
