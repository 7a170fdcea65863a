package io.kamille.core.loop;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Work in the background that goes on, whatever one run of it meets. Confined to its thread. */
public final class SteadyTask implements Runnable {

  /*
   * A periodic task that throws is never run again, and a thread that throws is gone. So a failure
   * ends one run only: exceptions, and errors too, such as a heap that is full for a moment. A word
   * about it comes every ten seconds at most.
   */
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final System.Logger log;
  private final String failed;
  private final Work work;
  private long quietUntilNanos = System.nanoTime();

  /** What is done in each run. */
  @FunctionalInterface
  public interface Work {

    void run() throws IOException, InterruptedException;
  }

  /**
   * A task that has not begun.
   *
   * @param failed the beginning of the message about a run that failed
   */
  public SteadyTask(System.Logger log, String failed, Work work) {
    this.log = log;
    this.failed = failed;
    this.work = work;
  }

  /** Runs once, and throws nothing. */
  @Override
  public void run() {
    var _ = succeeds(() -> false);
  }

  /** Runs until that is so, or the thread is interrupted. After a failure it rests. */
  public void repeatUntil(BooleanSupplier isOver) {
    while (!isOver.getAsBoolean() && !Thread.currentThread().isInterrupted()) {
      if (!succeeds(isOver) && !isOver.getAsBoolean()) {
        LockSupport.parkNanos(this, PAUSE_NANOS);
      }
    }
  }

  private boolean succeeds(BooleanSupplier isOver) {
    try {
      work.run();
      return true;
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
    } catch (Throwable failure) {
      // What is closed while it waits fails for that.
      if (!(failure instanceof IOException && isOver.getAsBoolean())) {
        say(failure);
      }
    }
    return false;
  }

  private void say(Throwable failure) {
    long now = System.nanoTime();
    if (now - quietUntilNanos < 0) {
      return;
    }
    quietUntilNanos = now + QUIET_NANOS;
    try {
      if (failure instanceof IOException) {
        log.log(Level.WARNING, failed + ": " + failure.getMessage());
      } else {
        log.log(Level.ERROR, failed + ", by a fault of ours", failure);
      }
    } catch (RuntimeException | Error unsaid) {
      // The same again, such as a full heap.
    }
  }
}
