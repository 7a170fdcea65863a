package io.kamille.cache.disk;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The one thread that writes for a disk tier, what it is given to do, and whether the tier is used.
 * Any thread.
 */
final class DiskWorker {

  private static final System.Logger LOG = System.getLogger("kamille.cache");

  private enum State {
    RUNNING,
    ASIDE,
    CLOSED
  }

  /** Work for the thread. */
  interface Task {

    void run() throws IOException;

    /** Ends it undone. */
    default void drop() {}
  }

  /** What the thread does by itself, and what others do when the tier steps aside. */
  interface Duties {

    /** Comes before everything else, whatever the state. Whether there was anything to do. */
    boolean first();

    /** A part of what is to be done when no task waits; false if there is nothing. */
    boolean idle(boolean isClosing) throws IOException;

    /** The tier has stepped aside. Any thread, once. */
    void aside();

    /** The same, on the worker's thread. */
    void giveUp() throws IOException;
  }

  private final Duties duties;
  private final AtomicReference<State> state = new AtomicReference<>(State.RUNNING);
  private final Queue<Task> tasks = new ConcurrentLinkedQueue<>();
  private final ExecutorService executor =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().name("kamille-disk").daemon().factory());
  private boolean isGivenUp;

  /** The thread to wake; set by itself, read by whoever gives it work. */
  private volatile @Nullable Thread thread;

  /** Asks the thread to end. */
  private volatile boolean isClosing;

  DiskWorker(Duties duties) {
    this.duties = duties;
  }

  /** Begins to work. Without, {@link #runOnce} does the work by hand. */
  void start() {
    executor.execute(this::run);
  }

  boolean isRunning() {
    return state.get() == State.RUNNING;
  }

  /** Has a task done after all that was given before, or dropped if the tier has stepped aside. */
  void give(Task task) {
    tasks.add(task);
    if (!isRunning()) {
      drop();
    }
    wake();
  }

  void wake() {
    Thread asleep = thread;
    if (asleep != null) {
      LockSupport.unpark(asleep);
    }
  }

  private void drop() {
    for (Task task = tasks.poll(); task != null; task = tasks.poll()) {
      task.drop();
    }
  }

  /** Ends the use of the tier until a restart, and says so once. */
  void stepAside(Throwable why) {
    if (state.compareAndSet(State.RUNNING, State.ASIDE)) {
      if (why instanceof IOException) {
        LOG.log(Level.WARNING, "the disk tier is off until a restart: " + why);
      } else {
        LOG.log(Level.ERROR, "the disk tier is off until a restart, by a fault of ours", why);
      }
      duties.aside();
      wake();
    }
  }

  private void run() {
    thread = Thread.currentThread();
    while (!isClosing) {
      if (!runOnce()) {
        LockSupport.park(this);
      }
    }
    runAll();
  }

  private void runAll() {
    boolean isMore = true;
    while (isMore) {
      isMore = runOnce();
    }
  }

  /** Does a part of what is to be done; false if there is nothing. Confined to one thread. */
  boolean runOnce() {
    try {
      boolean isAny = duties.first();
      return work() || isAny;
    } catch (IOException | RuntimeException | Error e) {
      stepAside(e);
      return true;
    }
  }

  private boolean work() throws IOException {
    if (state.get() == State.ASIDE) {
      drop();
      boolean isNews = !isGivenUp;
      isGivenUp = true;
      if (isNews) {
        duties.giveUp();
      }
      return isNews;
    }
    Task task = tasks.poll();
    if (task != null) {
      task.run();
      return true;
    }
    return duties.idle(isClosing);
  }

  /** Does all that was given, and ends the thread. */
  void close() {
    isClosing = true;
    wake();
    executor.close();
    runAll();
    state.set(State.CLOSED);
    drop();
  }

  @Override
  public String toString() {
    return "DiskWorker[" + state + "]";
  }
}
