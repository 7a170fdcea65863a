package io.kamille.cache.disk;

import io.kamille.cache.semantics.CacheKey;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.metric.MetricRegistry;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Stored responses on a disk. Any thread; only {@link #read} waits for the disk.
 *
 * <p>A disk that fails does not concern requests: the tier steps aside, finds and takes nothing
 * from then on, and says so once.
 */
public final class DiskTier implements AutoCloseable {

  /*
   * One thread writes, forgets and recovers; it is given its work by a queue. What waits there holds
   * leases on the memory tier, so its octets are bounded, and what finds no room is not written.
   * Removals are never left out. Should so many wait that the disk will not catch up, the tier steps
   * aside.
   *
   * A tier that has stepped aside does not learn what is removed meanwhile. So it deletes what makes
   * its files a store; a later process begins with an empty one.
   */
  private static final System.Logger LOG = System.getLogger("kamille.cache");
  private static final int REMOVALS_LIMIT = 1 << 20;
  private static final long RECORD_BYTES = 1024;
  private static final int SEGMENTS_WANTED = 64;
  private static final int SEGMENT_MINIMUM_BYTES = 1 << 20;
  private static final Extent[] NONE = {};

  /** The least capacity of a store, in octets. */
  public static final long CAPACITY_MINIMUM_BYTES = 4L * SEGMENT_MINIMUM_BYTES;

  private enum State {
    RUNNING,
    ASIDE,
    CLOSED
  }

  /** Work for the thread. */
  private interface Task {

    void run() throws IOException;

    /** Ends it undone. */
    default void drop() {}
  }

  private final StoreDirectory directory;
  private final StoreIdentity identity;
  private final long capacityBytes;
  private final long queueBytes;
  private final DiskCounts counts = new DiskCounts();
  private final DiskIndex index = new DiskIndex();
  private final SegmentLog log;
  private final AtomicReference<State> state = new AtomicReference<>(State.RUNNING);
  private final Queue<Task> tasks = new ConcurrentLinkedQueue<>();
  private final Queue<Segment> unused = new ConcurrentLinkedQueue<>();
  private final AtomicLong waitingBytes = new AtomicLong();
  private final AtomicInteger waitingWrites = new AtomicInteger();
  private final AtomicInteger waitingRemovals = new AtomicInteger();
  private final ExecutorService worker =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().name("kamille-disk").daemon().factory());
  private boolean isGivenUp;

  /** The thread to wake; set by itself, read by whoever gives it work. */
  private volatile @Nullable Thread thread;

  /** Asks the thread to end. */
  private volatile boolean isClosing;

  /** Read by whoever ends the last lease on a segment. */
  private volatile boolean hasEnded;

  /**
   * A tier whose work is done by {@link #runOnce}, by hand.
   *
   * @param queueBytes how many octets of responses may wait to be written
   */
  DiskTier(StoreDirectory directory, long capacityBytes, int segmentBytes, long queueBytes)
      throws IOException {
    this(directory, StoreIdentity.readOrCreate(directory), capacityBytes, segmentBytes, queueBytes);
  }

  private DiskTier(
      StoreDirectory directory,
      StoreIdentity identity,
      long capacityBytes,
      int segmentBytes,
      long queueBytes)
      throws IOException {
    this.directory = directory;
    this.identity = identity;
    this.capacityBytes = capacityBytes;
    this.queueBytes = queueBytes;
    this.log =
        new SegmentLog(
            directory, identity.store(), capacityBytes, segmentBytes, index, counts, this::unused);
  }

  /**
   * Opens the store in that directory, or makes one. What is there is found little by little. If
   * the directory cannot be used, the tier is aside from the beginning.
   *
   * @param capacityBytes what the files may take, at least {@link #CAPACITY_MINIMUM_BYTES}
   * @param queueBytes how many octets of responses may wait in memory to be written
   */
  public static DiskTier open(Path path, long capacityBytes, long queueBytes) {
    if (capacityBytes < CAPACITY_MINIMUM_BYTES) {
      throw new IllegalArgumentException(
          "capacityBytes: " + capacityBytes + " (expected: >= " + CAPACITY_MINIMUM_BYTES + ")");
    }
    DiskTier tier = openOrAside(path, capacityBytes, queueBytes);
    tier.worker.execute(tier::run);
    return tier;
  }

  private static DiskTier openOrAside(Path path, long capacityBytes, long queueBytes) {
    int segmentBytes = segmentBytes(capacityBytes);
    try {
      StoreDirectory directory = FileDirectory.open(path);
      boolean isOpen = false;
      try {
        DiskTier tier = new DiskTier(directory, capacityBytes, segmentBytes, queueBytes);
        isOpen = true;
        return tier;
      } finally {
        if (!isOpen) {
          directory.close();
        }
      }
    } catch (IOException e) {
      return aside(capacityBytes, segmentBytes, e);
    }
  }

  private static DiskTier aside(long capacityBytes, int segmentBytes, IOException why) {
    try {
      DiskTier tier =
          new DiskTier(Nowhere.INSTANCE, StoreIdentity.random(), capacityBytes, segmentBytes, 0);
      tier.stepAside(why);
      return tier;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static int segmentBytes(long capacityBytes) {
    return Math.clamp(
        capacityBytes / SEGMENTS_WANTED & -Extent.UNIT_BYTES,
        SEGMENT_MINIMUM_BYTES,
        Extent.SEGMENT_BYTES_LIMIT);
  }

  /** First half of the secret that the store's cache keys are hashed with. */
  public long secretHigh() {
    return identity.secretHigh();
  }

  /** Second half of the secret. */
  public long secretLow() {
    return identity.secretLow();
  }

  /** Whether the tier takes and finds responses. */
  public boolean isRunning() {
    return state.get() == State.RUNNING;
  }

  /** Whether everything that an earlier process left can be found. */
  public boolean isRecovered() {
    return log.recovery().isDone();
  }

  /**
   * Has a response written, a little later. Takes over one lease on it.
   *
   * @param key borrowed
   * @param sequence a number that comes back when the response is read
   * @param isCurrent whether nothing was removed since the response was asked for; must become
   *     false before {@link #remove} or {@link #clear} is called
   * @return false if it will not be written: the queue is full, or the tier is aside
   */
  public boolean offer(
      CacheKey key, StoredResponse response, long sequence, BooleanSupplier isCurrent) {
    long bytes = response.contentLength() + RECORD_BYTES;
    if (!isRunning() || !takeRoom(bytes)) {
      response.release();
      counts.droppedWrites.increment();
      return false;
    }
    waitingWrites.incrementAndGet();
    give(new Write(response, key.high(), key.low(), sequence, isCurrent, bytes));
    return true;
  }

  /** However large a response is, it may wait alone. */
  private boolean takeRoom(long bytes) {
    long before = waitingBytes.getAndAdd(bytes);
    boolean isRoom = before == 0 || before + bytes <= queueBytes;
    if (!isRoom) {
      waitingBytes.addAndGet(-bytes);
    }
    return isRoom;
  }

  /**
   * Where records of that key may lie, and marks them as asked for. Empty if there are none. Takes
   * no lock, and allocates nothing for what is not there. Borrows the key.
   */
  public Extent[] find(CacheKey key) {
    return isRunning() ? index.find(key.low()) : NONE;
  }

  /**
   * Reads a record. Waits for the disk: never on a loop.
   *
   * @return whether the sink was given a response of that key whole, and every checksum was right;
   *     else it must throw away what it was given
   */
  public boolean read(CacheKey key, Extent extent, RecordSink sink) {
    Segment segment = isRunning() ? log.retained(extent.segment()) : null;
    if (segment == null) {
      return false;
    }
    try {
      return switch (new RecordReader(identity.store(), segment, extent).read(key, sink)) {
        case PROVEN -> true;
        case DECLINED, OTHER -> false;
        case DAMAGED -> {
          if (index.remove(key.low(), extent)) {
            counts.damagedRecords.increment();
          }
          yield false;
        }
      };
    } catch (IOException e) {
      stepAside(e);
      return false;
    } finally {
      segment.release();
    }
  }

  /** Removes all responses of that key, for good. Borrows the key. Does not wait for the disk. */
  public void remove(CacheKey key, long sequence) {
    if (!isRunning()) {
      return;
    }
    long high = key.high();
    long low = key.low();
    boolean isRecovering = !isRecovered();
    log.recovery().removed(low);
    if (index.removeAll(low) || isRecovering || waitingWrites.get() > 0) {
      if (waitingRemovals.incrementAndGet() > REMOVALS_LIMIT) {
        stepAside(new IOException("it does not keep up with removals"));
      }
      give(new Removal(high, low, sequence));
    }
  }

  /** Removes everything, for good. Does not wait for the disk. */
  public void clear() {
    log.recovery().cancel();
    index.clear();
    give(log::clear);
  }

  public long capacityBytes() {
    return capacityBytes;
  }

  /** What the files take, without those that are only read to their end. */
  public long usedBytes() {
    return log.usedBytes();
  }

  /** How many responses can be found. */
  public long size() {
    return index.size();
  }

  /** What the index takes on the heap. */
  public long indexBytes() {
    return index.heapBytes();
  }

  /** Tells of the tier in {@code registry}. */
  public void register(MetricRegistry registry) {
    DiskMetrics.register(this, registry);
  }

  DiskCounts counts() {
    return counts;
  }

  private void give(Task task) {
    tasks.add(task);
    if (!isRunning()) {
      drop();
    }
    wake();
  }

  private void wake() {
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

  /** A segment may be ended by a loop; its file is closed and deleted by the tier's thread. */
  private void unused(Segment segment) {
    unused.add(segment);
    if (hasEnded) {
      disposeUnused();
    } else {
      wake();
    }
  }

  private boolean disposeUnused() {
    boolean isAny = false;
    for (Segment segment = unused.poll(); segment != null; segment = unused.poll()) {
      isAny = true;
      try {
        segment.dispose();
      } catch (IOException e) {
        stepAside(e);
      }
    }
    return isAny;
  }

  private void stepAside(Throwable why) {
    if (state.compareAndSet(State.RUNNING, State.ASIDE)) {
      if (why instanceof IOException) {
        LOG.log(Level.WARNING, "the disk tier is off until a restart: {0}", why);
      } else {
        LOG.log(Level.ERROR, "the disk tier is off until a restart, by a fault of ours", why);
      }
      log.recovery().cancel();
      index.clear();
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
      boolean isAny = disposeUnused();
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
        log.giveUp();
      }
      return isNews;
    }
    Task task = tasks.poll();
    if (task != null) {
      task.run();
      return true;
    }
    return log.flush() || (!isClosing && log.recover());
  }

  /** Writes what was offered, and closes the files. Nothing may be offered any more. */
  @Override
  public void close() {
    isClosing = true;
    wake();
    worker.close();
    runAll();
    state.set(State.CLOSED);
    drop();
    hasEnded = true;
    log.close();
    disposeUnused();
    try {
      directory.close();
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "the disk tier's directory was not closed", e);
    }
  }

  @Override
  public String toString() {
    return "DiskTier[" + directory + ", " + state + ", size=" + size() + "]";
  }

  /** A response that waits to be written. */
  private final class Write implements Task {

    private final StoredResponse response;
    private final long keyHigh;
    private final long keyLow;
    private final long sequence;
    private final BooleanSupplier isCurrent;
    private final long bytes;

    Write(
        StoredResponse response,
        long keyHigh,
        long keyLow,
        long sequence,
        BooleanSupplier isCurrent,
        long bytes) {
      this.response = response;
      this.keyHigh = keyHigh;
      this.keyLow = keyLow;
      this.sequence = sequence;
      this.isCurrent = isCurrent;
      this.bytes = bytes;
    }

    @Override
    public void run() throws IOException {
      try {
        log.write(response, keyHigh, keyLow, sequence, isCurrent);
      } finally {
        drop();
      }
    }

    @Override
    public void drop() {
      response.release();
      waitingBytes.addAndGet(-bytes);
      waitingWrites.decrementAndGet();
    }
  }

  /** A removal that waits to be written. */
  private final class Removal implements Task {

    private final long keyHigh;
    private final long keyLow;
    private final long sequence;

    Removal(long keyHigh, long keyLow, long sequence) {
      this.keyHigh = keyHigh;
      this.keyLow = keyLow;
      this.sequence = sequence;
    }

    @Override
    public void run() throws IOException {
      drop();
      log.remove(keyHigh, keyLow, sequence);
    }

    @Override
    public void drop() {
      waitingRemovals.decrementAndGet();
    }
  }
}
