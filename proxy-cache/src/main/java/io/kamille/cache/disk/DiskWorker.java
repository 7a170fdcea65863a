package io.kamille.cache.disk;

import io.kamille.cache.store.StoredResponse;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
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

  /*
   * Responses that wait hold leases on the memory tier, so their octets are bounded, and what finds
   * no room is not written. Removals are never left out. Should so many wait that the disk will not
   * catch up, the tier steps aside.
   */
  private static final int REMOVALS_LIMIT = 1 << 20;
  private static final long RECORD_BYTES = 1024;

  /** Work for the thread. */
  @FunctionalInterface
  interface Work {

    void run() throws IOException;
  }

  /** What the thread does, or else {@code dropped}, if the tier has stepped aside before. */
  private record Task(Work work, Runnable dropped) {}

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
  private final long limitBytes;
  private final AtomicLong waitingBytes = new AtomicLong();
  private final AtomicInteger waitingWrites = new AtomicInteger();
  private final AtomicInteger waitingRemovals = new AtomicInteger();
  private boolean isGivenUp;

  /** The thread to wake; set by itself, read by whoever gives it work. */
  private volatile @Nullable Thread thread;

  /** Asks the thread to end. */
  private volatile boolean isClosing;

  /**
   * A worker without work.
   *
   * @param limitBytes how many octets of responses may wait
   */
  DiskWorker(Duties duties, long limitBytes) {
    this.duties = duties;
    this.limitBytes = limitBytes;
  }

  /** Begins to work. Without, {@link #runOnce} does the work by hand. */
  void start() {
    executor.execute(this::run);
  }

  boolean isRunning() {
    return state.get() == State.RUNNING;
  }

  /** Has something done after all that was given before, unless the tier has stepped aside. */
  void give(Work work) {
    give(work, () -> {});
  }

  /** The same; {@code dropped} is run instead if the tier has stepped aside. */
  void give(Work work, Runnable dropped) {
    tasks.add(new Task(work, dropped));
    if (!isRunning()) {
      drop();
    }
    wake();
  }

  /**
   * Has a response written, if there is room: then takes over one lease on it.
   *
   * @return whether there was
   */
  boolean offer(StoredResponse response, Work writing) {
    long bytes = response.contentLength() + response.headLength() + RECORD_BYTES;
    boolean isRoom = takeRoom(bytes);
    if (isRoom) {
      waitingWrites.incrementAndGet();
      Runnable over =
          () -> {
            response.release();
            waitingBytes.addAndGet(-bytes);
            waitingWrites.decrementAndGet();
          };
      give(
          () -> {
            try {
              writing.run();
            } finally {
              over.run();
            }
          },
          over);
    }
    return isRoom;
  }

  /** However large a response is, it may wait alone. */
  private boolean takeRoom(long bytes) {
    long before = waitingBytes.getAndAdd(bytes);
    boolean isRoom = before == 0 || before + bytes <= limitBytes;
    if (!isRoom) {
      waitingBytes.addAndGet(-bytes);
    }
    return isRoom;
  }

  /** Whether a response waits. */
  boolean hasWrites() {
    return waitingWrites.get() > 0;
  }

  /** Has a removal written, or the note of a purge. */
  void remove(Work writing) {
    if (waitingRemovals.incrementAndGet() > REMOVALS_LIMIT) {
      stepAside(new IOException("it does not keep up with removals"));
    }
    give(
        () -> {
          waitingRemovals.decrementAndGet();
          writing.run();
        },
        waitingRemovals::decrementAndGet);
  }

  void wake() {
    Thread asleep = thread;
    if (asleep != null) {
      LockSupport.unpark(asleep);
    }
  }

  private void drop() {
    for (Task task = tasks.poll(); task != null; task = tasks.poll()) {
      task.dropped.run();
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
      task.work.run();
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
