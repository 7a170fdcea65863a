package io.kamille.core.answer;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The threads that wait for disks, as many as are needed. Any thread. */
public final class FileThreads implements Executor, AutoCloseable {

  /*
   * Only what opens a file asks isBusy. What reads on waits, however long the queue: each download
   * has one read in it at most, and content that waits a few blocks.
   */

  private static final int MOST_THREADS = 4;
  private static final int MOST_WAITING = 4_096;
  private static final int IDLE_SECONDS = 30;

  private final ThreadPoolExecutor pool =
      new ThreadPoolExecutor(
          MOST_THREADS,
          MOST_THREADS,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(),
          new DefaultThreadFactory("kamille-files", true));

  /** None yet. */
  public FileThreads() {
    pool.allowCoreThreadTimeOut(true);
  }

  /** Whether so much waits for them that no other file should be opened. */
  boolean isBusy() {
    return pool.getQueue().size() >= MOST_WAITING;
  }

  @Override
  public void execute(Runnable work) {
    pool.execute(work);
  }

  @Override
  public void close() {
    pool.shutdown();
  }
}
