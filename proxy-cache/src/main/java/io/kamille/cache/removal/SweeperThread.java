package io.kamille.cache.removal;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The one thread of a {@link Sweeper}, there only while it has something to do. Any thread. */
public final class SweeperThread implements Executor, AutoCloseable {

  private static final long IDLE_SECONDS = 5;
  private static final long END_SECONDS = 60;

  private final ThreadPoolExecutor executor;

  public SweeperThread() {
    executor =
        new ThreadPoolExecutor(
            1,
            1,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Thread.ofPlatform().name("kamille-purge").daemon().factory());
    executor.allowCoreThreadTimeOut(true);
  }

  @Override
  public void execute(Runnable work) {
    if (!executor.isShutdown()) {
      executor.execute(work);
    }
  }

  /** Waits for what it does at this moment; the rest is not begun. */
  @Override
  public void close() {
    executor.shutdown();
    executor.getQueue().clear();
    try {
      if (!executor.awaitTermination(END_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("the sweep does not end");
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
