package io.kamille.cache.coding;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The threads that compress. Any thread. They begin with the first work and end when idle. */
public final class CodingWorkers implements Executor, AutoCloseable {

  /*
   * One thread for four processors: the loops have the others. What waits is an entry of a queue
   * and holds no memory of the store; work that finds the queue full is refused, because content
   * that comes faster than it can be compressed would wait for ever longer.
   */
  private static final int PROCESSORS_PER_THREAD = 4;
  private static final int WAITING_LIMIT = 1024;
  private static final long IDLE_SECONDS = 30;
  private static final long END_SECONDS = 30;

  private final ThreadPoolExecutor threads;

  private CodingWorkers(int count) {
    threads =
        new ThreadPoolExecutor(
            count,
            count,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(WAITING_LIMIT),
            Thread.ofPlatform().name("kamille-coding-", 0).daemon().factory());
    threads.allowCoreThreadTimeOut(true);
  }

  /** As many as this machine can spare. */
  public static CodingWorkers open() {
    int processors = Runtime.getRuntime().availableProcessors();
    return new CodingWorkers(Math.max(1, processors / PROCESSORS_PER_THREAD));
  }

  @Override
  public void execute(Runnable work) {
    threads.execute(work);
  }

  /**
   * Forgets what waits, breaks off what is under way, and waits until it has ended.
   *
   * @throws IllegalStateException if it does not
   */
  @Override
  public void close() {
    threads.shutdownNow();
    try {
      if (!threads.awaitTermination(END_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("compressing (expected: ended)");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
