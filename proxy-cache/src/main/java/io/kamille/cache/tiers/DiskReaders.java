package io.kamille.cache.tiers;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The threads that read the disk for requests. Any thread. They begin with the first read. */
public final class DiskReaders implements Executor, AutoCloseable {

  /*
   * Four reads at a time keep a solid-state disk busy and let a hard disk sort them; more wait for
   * the same disk elsewhere. What finds the queue full is not read: its request goes to the origin,
   * which a disk that far behind would only delay.
   */
  private static final int THREADS = 4;
  private static final int WAITING_LIMIT = 1024;
  private static final long IDLE_SECONDS = 30;
  private static final long END_SECONDS = 60;

  private final ThreadPoolExecutor threads;

  public DiskReaders() {
    threads =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(WAITING_LIMIT),
            Thread.ofPlatform().name("kamille-disk-read-", 0).daemon().factory());
    threads.allowCoreThreadTimeOut(true);
  }

  /**
   * {@inheritDoc}
   *
   * @throws java.util.concurrent.RejectedExecutionException if too much waits, or it is closed
   */
  @Override
  public void execute(Runnable read) {
    threads.execute(read);
  }

  /**
   * Ends what is read, and forgets which requests wait: all loops have ended. No thread is
   * interrupted: that would close the file under others.
   *
   * @throws IllegalStateException if the disk does not answer
   */
  @Override
  public void close() {
    threads.shutdown();
    threads.getQueue().removeIf(DiskLookups.Look.class::isInstance);
    try {
      if (!threads.awaitTermination(END_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("reading the disk (expected: ended)");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
