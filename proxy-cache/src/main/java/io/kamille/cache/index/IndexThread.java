package io.kamille.cache.index;

import java.util.concurrent.locks.LockSupport;

/** The one thread on which the order of an index is kept. Any thread asks it; nobody waits. */
final class IndexThread implements Upkeep {

  /*
   * Who asks sets a flag, and wakes the thread only if it sleeps for want of work. After its work the
   * thread rests, so that under load what is asked meanwhile is done at once, and costs the loops no
   * system call. A loop that cannot let it rest (hurry) wakes it from that too.
   */
  private static final long REST_NANOS = 1_000_000;

  private enum State {
    WORKING,
    RESTING,
    SLEEPING
  }

  private final Runnable work;
  private final Thread thread;
  private volatile State state = State.WORKING;
  private volatile boolean isAsked;
  private volatile boolean isHurried;
  private volatile boolean isClosed;

  private IndexThread(Runnable work) {
    this.work = work;
    this.thread = Thread.ofPlatform().name("kamille-index").daemon().unstarted(this::run);
  }

  /**
   * Starts the thread, which ends with {@link #close}.
   *
   * @param work must not throw
   */
  static IndexThread start(Runnable work) {
    IndexThread started = new IndexThread(work);
    started.thread.start();
    return started;
  }

  @Override
  public void ask() {
    if (!isAsked) {
      isAsked = true;
    }
    if (state == State.SLEEPING) {
      LockSupport.unpark(thread);
    }
  }

  @Override
  public void hurry() {
    isHurried = true;
    isAsked = true;
    if (state != State.WORKING) {
      LockSupport.unpark(thread);
    }
  }

  @Override
  public boolean isHere() {
    return Thread.currentThread().equals(thread);
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
        state = State.WORKING;
        isAsked = false;
        isHurried = false;
        work.run();
        state = State.RESTING;
        if (!isHurried && !isClosed) {
          LockSupport.parkNanos(this, REST_NANOS);
        }
      } else {
        state = State.SLEEPING;
        if (!isAsked && !isClosed) {
          LockSupport.park(this);
        }
      }
    }
  }
}
