package io.kamille.core.file;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The threads that wait for disks, as many as are needed. Any thread. */
public final class FileThreads implements Executor, AutoCloseable {

  private static final int MOST_THREADS = 4;
  private static final int MOST_WAITING = 4_096;
  private static final int IDLE_SECONDS = 30;

  private final ThreadPoolExecutor pool =
      new ThreadPoolExecutor(
          MOST_THREADS,
          MOST_THREADS,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(MOST_WAITING),
          new DefaultThreadFactory("kamille-files", true));

  /** None yet. */
  public FileThreads() {
    pool.allowCoreThreadTimeOut(true);
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
