package io.kamille.cache.tiers;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Threads beside the loops that are there only while they have something to do. Any thread. */
public final class WorkerThreads implements Executor, AutoCloseable {

  /*
   * Reading: four reads at a time keep a solid-state disk busy and let a hard disk sort them; more
   * wait for the same disk elsewhere. What finds the queue full is not read: its request goes to
   * the origin, which a disk that far behind would only delay. No thread is interrupted: that would
   * close the file under others.
   *
   * Compressing: one thread for four processors; the loops have the others. What waits is an entry
   * of a queue and holds no memory of the store; work that finds the queue full is refused, because
   * content that comes faster than it can be compressed would wait for ever longer.
   */
  private static final int READERS = 4;
  private static final int PROCESSORS_PER_CODER = 4;
  private static final int WAITING_LIMIT = 1024;
  private static final long IDLE_SECONDS = 30;
  private static final long END_SECONDS = 60;

  private final ThreadPoolExecutor threads;
  private final Consumer<ThreadPoolExecutor> end;

  private WorkerThreads(
      String name, int count, BlockingQueue<Runnable> waiting, Consumer<ThreadPoolExecutor> end) {
    this.end = end;
    this.threads =
        new ThreadPoolExecutor(
            count,
            count,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            waiting,
            Thread.ofPlatform().name(name, 0).daemon().factory());
    threads.allowCoreThreadTimeOut(true);
  }

  /** Those that read the disk for requests. In the end they forget which requests wait. */
  public static WorkerThreads reading() {
    return new WorkerThreads(
        "kamille-disk-read-",
        READERS,
        new ArrayBlockingQueue<>(WAITING_LIMIT),
        threads -> {
          threads.shutdown();
          threads.getQueue().removeIf(DiskLookups.Search.class::isInstance);
        });
  }

  /** Those that compress, as many as this machine can spare. The end breaks off what they do. */
  public static WorkerThreads compressing() {
    int processors = Runtime.getRuntime().availableProcessors();
    return new WorkerThreads(
        "kamille-coding-",
        Math.max(1, processors / PROCESSORS_PER_CODER),
        new ArrayBlockingQueue<>(WAITING_LIMIT),
        ThreadPoolExecutor::shutdownNow);
  }

  /**
   * One that looks at all that is stored. The end interrupts it; what comes behind is not begun.
   */
  public static WorkerThreads sweeping(String name) {
    WorkerThreads one =
        new WorkerThreads(name, 1, new LinkedBlockingQueue<>(), ThreadPoolExecutor::shutdownNow);
    one.threads.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
    return one;
  }

  /**
   * {@inheritDoc}
   *
   * @throws java.util.concurrent.RejectedExecutionException if too much waits, or, of those that
   *     read or compress, after {@link #close}
   */
  @Override
  public void execute(Runnable work) {
    threads.execute(work);
  }

  /**
   * Waits until what is under way has ended; all loops have ended.
   *
   * @throws IllegalStateException if it does not end
   */
  @Override
  public void close() {
    end.accept(threads);
    try {
      if (!threads.awaitTermination(END_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException(threads + " (expected: ended)");
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
