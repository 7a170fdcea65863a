package io.kamille.cache.index;

import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** The one thread on which the order of an index is kept. Any thread asks it; nobody waits. */
final class IndexThread implements Upkeep {

  /*
   * Who asks sets a flag, and wakes the thread only if it sleeps for want of work. After its work
   * the thread rests, so that what is asked meanwhile is done at its end, and costs the loops no
   * system call. What is asked within a short rest is a sign of much work, and is done at once.
   * Otherwise the rest goes on: it costs nothing to be late with little work. A loop that cannot
   * let it rest (hurry) wakes it from that too.
   *
   * Without this thread the index would refuse all that is stored, so nothing that its work throws
   * ends it: that is said once, and counted.
   */
  private static final long SHORT_REST_NANOS = 2_000_000;
  private static final long REST_NANOS = 25_000_000;

  private final Runnable work;
  private final System.Logger log;
  private final Thread thread;
  private final AtomicLong failures = new AtomicLong();
  private volatile boolean isAsleep;
  private volatile boolean isAsked;
  private volatile boolean isHurried;
  private volatile boolean isClosed;

  private IndexThread(Runnable work, System.Logger log) {
    this.work = work;
    this.log = log;
    this.thread = Thread.ofPlatform().name("kamille-index").daemon().unstarted(this::run);
  }

  /**
   * Starts the thread, which ends with {@link #close}.
   *
   * @param work may throw: the thread goes on with what is asked next
   * @param log where the first failure is said
   */
  static IndexThread start(Runnable work, System.Logger log) {
    IndexThread started = new IndexThread(work, log);
    started.thread.start();
    return started;
  }

  @Override
  public void ask() {
    if (!isAsked) {
      isAsked = true;
    }
    if (isAsleep) {
      LockSupport.unpark(thread);
    }
  }

  @Override
  public void hurry() {
    isHurried = true;
    isAsked = true;
    LockSupport.unpark(thread);
  }

  @Override
  public long failures() {
    return failures.get();
  }

  @Override
  public void close() {
    isClosed = true;
    LockSupport.unpark(thread);
    boolean isInterrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        isInterrupted = true;
      }
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    while (!isClosed) {
      if (isAsked) {
        isAsked = false;
        isHurried = false;
        doWork();
        rest(SHORT_REST_NANOS);
        if (!isAsked) {
          rest(REST_NANOS - SHORT_REST_NANOS);
        }
      } else {
        isAsleep = true;
        if (!isAsked && !isClosed) {
          LockSupport.park(this);
        }
        isAsleep = false;
      }
    }
  }

  private void rest(long nanos) {
    if (!isHurried && !isClosed) {
      LockSupport.parkNanos(this, nanos);
    }
  }

  private void doWork() {
    try {
      work.run();
    } catch (RuntimeException | Error e) {
      failed(e);
    }
  }

  private void failed(Throwable thrown) {
    if (failures.getAndIncrement() == 0) {
      try {
        log.log(
            Level.ERROR, "memory: the upkeep of the index failed and goes on (said once)", thrown);
      } catch (RuntimeException | Error unsaid) {
        failures.incrementAndGet();
      }
    }
  }
}
