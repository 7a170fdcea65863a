package io.kamille.core.loop;

import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that looks at the loops of a group: for turns that take too long, for how often they
 * poll, and for processors that are idle enough to spin on. Any thread.
 */
final class LoopWatch implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger("kamille.loop");

  /**
   * The longest turn of a loop that is no stall. One that takes half as long again is logged, with
   * the stack that was running, and counted.
   */
  private static final long STALL_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private static final long LOOK_EVERY_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final double TOLERANCE = 0.1;

  private final LoopControl control;
  private final StallDetector stalls;
  private final IdleProcessors processors;
  private final List<LoopMeter> meters;
  private final Thread thread;
  private long lookedNanos = System.nanoTime() - LOOK_EVERY_NANOS;
  // Volatile: set by whoever stops, read by the thread.
  private volatile boolean isClosed;

  private LoopWatch(
      LoopControl control,
      StallDetector stalls,
      IdleProcessors processors,
      List<LoopMeter> meters) {
    this.control = control;
    this.stalls = stalls;
    this.processors = processors;
    this.meters = meters;
    thread = Thread.ofPlatform().daemon().name("kamille-watch").unstarted(this::run);
  }

  /** Begins to look. */
  static LoopWatch start(
      LoopControl control,
      StallDetector stalls,
      IdleProcessors processors,
      List<LoopMeter> meters) {
    LoopWatch watch = new LoopWatch(control, stalls, processors, meters);
    watch.thread.start();
    return watch;
  }

  private void run() {
    new SteadyTask(LOG, "loops were not looked at", this::check).repeatUntil(() -> isClosed);
  }

  private void check() {
    LockSupport.parkNanos(STALL_NANOS / 2);
    long now = System.nanoTime();
    stalls.check(now, STALL_NANOS);
    if (now - lookedNanos >= LOOK_EVERY_NANOS) {
      lookedNanos = now;
      meters.forEach(meter -> meter.sample(now));
      countIdleProcessors();
    }
  }

  private void countIdleProcessors() {
    boolean isWanted = control.settings().spin().isPositive();
    control.hasIdleProcessors(isWanted && processors.count() + TOLERANCE >= meters.size());
  }

  /** Tells of a stall. */
  static void log(String loop, long nanos, StackTraceElement[] stack) {
    String message =
        loop + " has been in one turn for " + TimeUnit.NANOSECONDS.toMillis(nanos) + " ms";
    LOG.log(Level.WARNING, message, stack.length == 0 ? null : new Stall(stack));
  }

  @Override
  public void close() {
    isClosed = true;
    LockSupport.unpark(thread);
    try {
      thread.join();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Carries a loop's stack to the log; never thrown. */
  private static final class Stall extends Exception {

    private static final long serialVersionUID = 1;

    Stall(StackTraceElement[] stack) {
      super("the stack of the loop", null, false, true);
      setStackTrace(stack);
    }
  }
}
