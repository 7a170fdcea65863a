package io.kamille.core.loop;

import io.kamille.core.metric.AnswerCounts;
import io.kamille.core.metric.MetricRegistry;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoRegistration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.LongConsumer;

/**
 * A loop around the real {@link PacedIoHandler}, with a kernel, a clock and other threads that
 * exist only here: a model of discrete events. One thread; nothing takes real time.
 */
final class SimulatedLoop {

  /** What the model's machine costs, in nanoseconds. */
  record Costs(long systemCall, long sleep, long event, long lateness) {
    static final Costs USUAL = new Costs(1_000, 5_000, 8_000, 0);

    Costs withEvent(long nanos) {
      return new Costs(systemCall, sleep, nanos, lateness);
    }

    Costs withLateness(long nanos) {
      return new Costs(systemCall, sleep, event, nanos);
    }
  }

  /** One poll: when it was called, when it returned, and what it brought. */
  record Poll(long calledNanos, long returnedNanos, int events) {}

  /** One event that was handled. */
  record Handled(long arrivedNanos, long endedNanos) {
    long latencyNanos() {
      return endedNanos - arrivedNanos;
    }
  }

  private record Timed(long atNanos, Runnable action) {}

  final List<Poll> polls = new ArrayList<>();
  final List<Handled> handled = new ArrayList<>();
  final PacedIoHandler handler;
  final LoopControl control;
  long now;
  long cpuNanos;
  int clockLooks;
  boolean isRegistering;

  private final Costs costs;
  private final PriorityQueue<Long> arrivals = new PriorityQueue<>();
  private final PriorityQueue<Timed> outside =
      new PriorityQueue<>(Comparator.comparingLong(Timed::atNanos));
  private final PriorityQueue<Timed> timers =
      new PriorityQueue<>(Comparator.comparingLong(Timed::atNanos));
  private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
  private final Outer outer = new Outer();
  private LongConsumer afterEvent = ended -> {};
  private boolean hasPermit;
  private boolean isWoken;

  SimulatedLoop(PaceSettings settings) {
    this(settings, Costs.USUAL);
  }

  SimulatedLoop(PaceSettings settings, Costs costs) {
    this.costs = costs;
    control = new LoopControl(settings);
    handler =
        new PacedIoHandler(
            new Kernel(),
            control,
            new Clock(),
            () -> cpuNanos,
            () -> AnswerCounts.NONE,
            new PaceController(1),
            LoopMetrics.meter(new MetricRegistry(), "loop"));
    initializeElsewhere();
  }

  /** This thread plays all others, so the loop's thread must be another. */
  private void initializeElsewhere() {
    Thread loop = new Thread(handler::initialize);
    loop.start();
    try {
      loop.join();
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }

  /** An event becomes ready. */
  void arrival(long atNanos) {
    arrivals.add(atNanos);
  }

  /** Another thread does something, such as giving the loop a task. */
  void outside(long atNanos, Runnable action) {
    outside.add(new Timed(atNanos, action));
  }

  /** The loop gets a task from another thread. */
  void task(long atNanos, Runnable task) {
    outside(
        atNanos,
        () -> {
          tasks.add(task);
          handler.wakeup();
        });
  }

  /** A timer of the loop. */
  void timer(long atNanos, Runnable action) {
    timers.add(new Timed(atNanos, action));
  }

  /** What happens whenever an event was handled; given the time. */
  void afterEvent(LongConsumer action) {
    afterEvent = action;
  }

  /** Turns until the time has come. */
  void runUntil(long endNanos) {
    while (now < endNanos) {
      turn();
    }
  }

  void turn() {
    handler.run(outer);
    while (!timers.isEmpty() && timers.peek().atNanos <= now) {
      tasks.add(timers.poll().action);
    }
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
    happen();
  }

  /** Time passes, and other threads do what they do meanwhile. */
  private void pass(long nanos) {
    now += nanos;
    happen();
  }

  private void happen() {
    while (!outside.isEmpty() && outside.peek().atNanos <= now) {
      outside.poll().action.run();
    }
  }

  /** Nothing happens until {@code end}, unless something does. */
  private void sleepUntil(long end) {
    long next = outside.isEmpty() ? end : Math.min(end, outside.peek().atNanos);
    now = Math.max(now, next);
    happen();
  }

  /** The machine's clock. */
  private final class Clock implements LoopClock {

    @Override
    public long nanos() {
      clockLooks++;
      return now;
    }

    @Override
    public void beExact() {}

    @Override
    public void park(long nanos) {
      long end = now + nanos;
      cpuNanos += costs.sleep;
      while (!hasPermit && now < end) {
        sleepUntil(end);
      }
      if (!hasPermit) {
        pass(costs.lateness);
      }
      hasPermit = false;
    }

    @Override
    public void letOthersRun() {}

    @Override
    public void unpark(Thread thread) {
      hasPermit = true;
    }
  }

  /** Polls as epoll does. */
  private final class Kernel implements IoHandler {

    @Override
    public int run(IoHandlerContext context) {
      long called = now;
      cpuNanos += costs.systemCall;
      pass(costs.systemCall);
      if (context.canBlock() && !isReady()) {
        cpuNanos += costs.sleep;
        long deadline = context.deadlineNanos();
        while (context.canBlock() && !isReady() && !isWoken && now < deadline) {
          sleepUntil(Math.min(nextArrival(), deadline));
        }
        pass(costs.sleep);
      }
      isWoken = false;
      return handle(called, context);
    }

    private int handle(long called, IoHandlerContext context) {
      List<Long> ready = new ArrayList<>();
      while (isReady()) {
        ready.add(arrivals.remove());
      }
      polls.add(new Poll(called, now, ready.size()));
      if (context.shouldReportActiveIoTime()) {
        context.reportActiveIoTime(0);
      }
      for (long arrived : ready) {
        cpuNanos += costs.event;
        pass(costs.event);
        handled.add(new Handled(arrived, now));
        afterEvent.accept(now);
      }
      if (isRegistering && !ready.isEmpty()) {
        register();
      }
      return ready.size();
    }

    private void register() {
      try {
        handler.register(new NoHandle());
      } catch (Exception impossible) {
        throw new IllegalStateException(impossible);
      }
    }

    private boolean isReady() {
      return !arrivals.isEmpty() && arrivals.element() <= now;
    }

    private long nextArrival() {
      return arrivals.isEmpty() ? Long.MAX_VALUE : arrivals.element();
    }

    @Override
    public void wakeup() {
      isWoken = true;
    }

    @Override
    public IoRegistration register(IoHandle handle) {
      return new NoRegistration();
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
      return true;
    }
  }

  /** What the loop tells its handler. */
  private final class Outer implements IoHandlerContext {

    private static final long PURGE_NANOS = 1_000_000_000;

    @Override
    public boolean canBlock() {
      return tasks.isEmpty() && (timers.isEmpty() || timers.peek().atNanos > now);
    }

    @Override
    public long delayNanos(long currentTimeNanos) {
      return timers.isEmpty() ? PURGE_NANOS : timers.peek().atNanos - currentTimeNanos;
    }

    @Override
    public long deadlineNanos() {
      return timers.isEmpty() ? now + PURGE_NANOS : timers.peek().atNanos;
    }
  }

  private static final class NoHandle implements IoHandle {

    @Override
    public void handle(IoRegistration registration, io.netty.channel.IoEvent ioEvent) {}

    @Override
    public void close() {}
  }

  private static final class NoRegistration implements IoRegistration {

    @Override
    @SuppressWarnings({"TypeParameterUnusedInFormals", "unchecked"}) // Netty's signature
    public <T> T attachment() {
      return (T) this;
    }

    @Override
    public long submit(io.netty.channel.IoOps ops) {
      return 0;
    }

    @Override
    public boolean isValid() {
      return true;
    }

    @Override
    public boolean cancel() {
      return true;
    }
  }
}
