package io.kamille.cache.disk;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.setting.Problems;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
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
    /** The disk takes nothing; what is on it is found and read. */
    REFUSED,
    /** A fault of ours has ended the use of the tier. */
    ASIDE,
    CLOSED
  }

  /*
   * Responses that wait hold leases on the memory tier, so their octets are bounded, and what finds
   * no room is not written. Removals are never left out: what the disk refuses is owed, and tried
   * again each second. Should so many wait that the disk will not catch up, the tier forgets all it
   * has behind them. Until then no more are taken: whatever waits to be written and was removed is
   * not current, and is not written.
   */
  private static final int REMOVALS_LIMIT = 1 << 20;
  private static final long RECORD_BYTES = 1024;
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** A disk that is nearly full takes what is small, so it may come and go each second. */
  private static final long SILENCE_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** Work for the thread. */
  @FunctionalInterface
  interface Work {

    void run() throws IOException;
  }

  /**
   * What the thread does, or else {@code dropped}.
   *
   * @param isOwed whether it is done again and again until the disk takes it
   */
  private record Task(Work work, Runnable dropped, boolean isOwed) {}

  /** What the thread does by itself, and what others do when the tier steps aside. */
  interface Duties {

    /** Comes before everything else, whatever the state. Whether there was anything to do. */
    boolean first();

    /** A part of what is to be done when no task waits; false if there is nothing. */
    boolean idle(boolean isClosing) throws IOException;

    /** The disk has refused something. Comes again with each trial that fails. */
    void refused();

    /** Something is owed: no later process may take the files for what they say. */
    void owe();

    /** Writes what was refused. */
    void retry() throws IOException;

    /** Reads on, while nothing can be written; false if there is nothing to read. */
    boolean read() throws IOException;

    /** All that was owed is in the files. */
    void settled() throws IOException;

    /** Too many removals wait: everything is to be forgotten. Any thread. */
    void overwhelmed();

    /** The tier has stepped aside. Any thread, once. */
    void aside();

    /** The same, on the worker's thread. */
    void giveUp() throws IOException;
  }

  private final Duties duties;
  private final System.Logger log;
  private final AtomicReference<State> state = new AtomicReference<>(State.RUNNING);
  private final Queue<Task> tasks = new ConcurrentLinkedQueue<>();
  private final ExecutorService executor =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().name("kamille-disk").daemon().factory());
  private final long limitBytes;
  private final AtomicLong waitingBytes = new AtomicLong();
  private final AtomicInteger waitingWrites = new AtomicInteger();
  private final AtomicInteger waitingRemovals = new AtomicInteger();

  @GuardedBy("this")
  private boolean isOverwhelmed;

  /** What the disk has refused, in order. Confined to the worker's thread. */
  private final Queue<Task> owed = new ArrayDeque<>();

  private long nextTryNanos;
  private boolean isGivenUp;
  private boolean isRefusalTold;
  private long mayTellNanos = System.nanoTime();

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
    this(duties, limitBytes, LOG);
  }

  /** The same, that tells another log of what the disk refuses. */
  DiskWorker(Duties duties, long limitBytes, System.Logger log) {
    this.duties = duties;
    this.limitBytes = limitBytes;
    this.log = log;
  }

  /** Begins to work. Without, {@link #runOnce} does the work by hand. */
  void start() {
    executor.execute(this::run);
  }

  /** Whether responses are written. */
  boolean isRunning() {
    return state.get() == State.RUNNING;
  }

  /** Whether responses are found and read. */
  boolean isReadable() {
    return isRunning() || state.get() == State.REFUSED;
  }

  /** Has something done after all that was given before, unless the disk takes nothing. */
  void give(Work work) {
    give(work, () -> {});
  }

  /** The same; {@code dropped} is run instead if the disk takes nothing. */
  void give(Work work, Runnable dropped) {
    give(new Task(work, dropped, false));
  }

  /** Has something done after all that was given before, however long the disk takes nothing. */
  void owe(Work work) {
    give(new Task(work, () -> {}, true));
  }

  private void give(Task task) {
    tasks.add(task);
    if (!isReadable()) {
      drop(tasks);
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

  /** Has a removal written, or forgotten with all that is there. */
  void remove(Work writing) {
    if (isForgotten()) {
      return;
    }
    give(
        new Task(
            () -> {
              writing.run();
              waitingRemovals.decrementAndGet();
            },
            waitingRemovals::decrementAndGet,
            true));
  }

  /** Whether all that is there is forgotten behind what waits; else one more removal waits. */
  private synchronized boolean isForgotten() {
    if (isOverwhelmed) {
      return true;
    }
    if (waitingRemovals.incrementAndGet() >= REMOVALS_LIMIT) {
      isOverwhelmed = true;
      LOG.log(
          Level.WARNING,
          "the disk does not keep up with removals: the disk tier forgets all it has");
      owe(this::takeRemovals);
      duties.overwhelmed();
    }
    return false;
  }

  private synchronized void takeRemovals() {
    isOverwhelmed = false;
  }

  void wake() {
    Thread asleep = thread;
    if (asleep != null) {
      LockSupport.unpark(asleep);
    }
  }

  private static void drop(Queue<Task> tasks) {
    for (Task task = tasks.poll(); task != null; task = tasks.poll()) {
      task.dropped.run();
    }
  }

  /**
   * The disk takes nothing: from now on the tier only reads, until a trial succeeds. Confined to
   * the worker's thread, or before it starts.
   */
  void refuse(IOException why) {
    state.compareAndSet(State.RUNNING, State.REFUSED);
    if (!isRefusalTold && System.nanoTime() - mayTellNanos >= 0) {
      isRefusalTold = true;
      mayTellNanos = System.nanoTime() + SILENCE_NANOS;
      log.log(
          Level.WARNING,
          "the disk takes nothing, so the disk tier only reads, and tries again each second: "
              + Problems.reason(why));
    }
    duties.refused();
  }

  /** Ends the use of the tier until a restart, and says so once. */
  void stepAside(Throwable why) {
    State before = state.getAndUpdate(now -> now == State.CLOSED ? now : State.ASIDE);
    if (before == State.RUNNING || before == State.REFUSED) {
      if (why instanceof IOException failed) {
        LOG.log(Level.WARNING, "the disk tier is off until a restart: " + Problems.reason(failed));
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
      if (state.get() == State.REFUSED && System.nanoTime() - nextTryNanos < 0) {
        collectOwed();
        LockSupport.parkNanos(this, RETRY_NANOS);
      } else if (!runOnce()) {
        nextTryNanos = System.nanoTime() + RETRY_NANOS;
        if (state.get() != State.REFUSED) {
          LockSupport.park(this);
        }
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
      return switch (state.get()) {
            case ASIDE -> giveUp();
            case REFUSED -> tryAgain();
            case RUNNING, CLOSED -> work();
          }
          || isAny;
    } catch (IOException | RuntimeException | Error e) {
      stepAside(e);
      return true;
    }
  }

  private boolean giveUp() throws IOException {
    drop(owed);
    drop(tasks);
    boolean isNews = !isGivenUp;
    isGivenUp = true;
    if (isNews) {
      duties.giveUp();
    }
    return isNews;
  }

  private boolean work() {
    Task task = tasks.poll();
    try {
      if (task != null) {
        task.work.run();
        return true;
      }
      return duties.idle(isClosing);
    } catch (IOException e) {
      if (task != null && task.isOwed) {
        owed.add(task);
        duties.owe();
      }
      refuse(e);
      return true;
    }
  }

  /** Whoever waits for a removal goes on: no later process takes the files for what they say. */
  private void collectOwed() {
    for (Task task = tasks.poll(); task != null; task = tasks.poll()) {
      if (task.isOwed) {
        owed.add(task);
        duties.owe();
      } else {
        task.dropped.run();
      }
    }
  }

  private boolean tryAgain() throws IOException {
    collectOwed();
    try {
      duties.retry();
      for (Task task = owed.peek(); task != null; task = owed.peek()) {
        task.work.run();
        owed.remove();
      }
      duties.settled();
    } catch (IOException e) {
      refuse(e);
      return !isClosing && duties.read();
    }
    state.compareAndSet(State.REFUSED, State.RUNNING);
    if (isRefusalTold) {
      isRefusalTold = false;
      log.log(Level.INFO, "the disk is written again");
    }
    return true;
  }

  /** Does all that was given, and ends the thread. */
  void close() {
    isClosing = true;
    wake();
    executor.close();
    runAll();
    state.set(State.CLOSED);
    drop(owed);
    drop(tasks);
  }

  @Override
  public String toString() {
    return "DiskWorker[" + state + "]";
  }
}
