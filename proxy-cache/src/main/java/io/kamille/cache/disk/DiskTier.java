package io.kamille.cache.disk;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.purge.PurgeNotes;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.store.StoredResponse;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Stored responses on a disk. Any thread; only {@link #read}, {@link #lend} and {@link #heat} wait
 * for the disk.
 *
 * <p>A disk that fails does not concern requests. What cannot be read is a miss. While nothing can
 * be written, the tier finds what it has, takes nothing, and tries again each second.
 */
public final class DiskTier implements AutoCloseable {

  /*
   * One thread writes, forgets and recovers; it is given its work by a worker.
   *
   * The files are a store as long as `identity` is there. It is deleted when the disk refuses the
   * first removal, and written again when all removals are in the files. So a process that comes
   * in between begins with an empty store: it would not learn what was removed.
   */
  private static final System.Logger LOG = System.getLogger("kamille.cache");
  private static final Extent[] NONE = {};
  private static final int SEGMENT_MINIMUM_BYTES = 1 << 20;

  /** The least capacity of a store, in octets. */
  public static final long CAPACITY_MINIMUM_BYTES = 4L * SEGMENT_MINIMUM_BYTES;

  private static final int SEGMENTS_WANTED = 64;

  /** No file's name: the system refuses even this deletion if it refuses all. */
  private static final String NOTHING = "nothing";

  private final StoreDirectory directory;
  private final StoreIdentity identity;
  private final long capacityBytes;
  private final DiskCounts counts = new DiskCounts();
  private final DiskIndex index = new DiskIndex();
  private final SegmentLog log;
  private final PurgeJournal journal;
  private final PurgeNotes earlierPurges;
  private final DiskWorker worker;
  private final Queue<Segment> unused = new ConcurrentLinkedQueue<>();

  /** Set before the last responses are written: others could come without an end. */
  private volatile boolean isEnding;

  /** Read by whoever ends the last lease on a segment. */
  private volatile boolean hasEnded;

  /**
   * Opens the store in that directory, or makes one. What is there is found little by little. If
   * what is there cannot be read, or nothing can be written, the tier is aside from the beginning.
   *
   * @param disk where the directory lies
   * @param capacityBytes what the files may take, at least {@link #CAPACITY_MINIMUM_BYTES}
   * @param queueBytes how many octets of responses may wait in memory to be written
   * @throws IOException if the directory cannot be had: it is none and cannot be made, is somebody
   *     else's, or is used by another process
   */
  public static DiskTier open(Disk disk, Path path, long capacityBytes, long queueBytes)
      throws IOException {
    if (capacityBytes < CAPACITY_MINIMUM_BYTES) {
      throw new IllegalArgumentException(
          "capacityBytes: " + capacityBytes + " (expected: >= " + CAPACITY_MINIMUM_BYTES + ")");
    }
    StoreDirectory directory = disk.open(path);
    DiskTier tier = openOrAside(directory, capacityBytes, queueBytes);
    tier.worker.start();
    return tier;
  }

  /** A directory that cannot be listed, or of which nothing can be deleted, is no store's. */
  private static DiskTier openOrAside(
      StoreDirectory directory, long capacityBytes, long queueBytes) {
    int segmentBytes = segmentBytes(capacityBytes);
    try {
      try {
        return new DiskTier(directory, capacityBytes, segmentBytes, queueBytes);
      } catch (Throwable failed) {
        giveUp(directory);
        throw failed;
      }
    } catch (IOException e) {
      return aside(capacityBytes, segmentBytes, e);
    }
  }

  /** What is removed from now on is not known there: nobody is to take it for a store. */
  private static void giveUp(StoreDirectory directory) throws IOException {
    try (directory) {
      directory.delete(StoreIdentity.NAME);
    }
  }

  private static DiskTier aside(long capacityBytes, int segmentBytes, IOException why) {
    try {
      DiskTier tier =
          new DiskTier(
              NoDirectory.INSTANCE, StoreIdentity.random(), capacityBytes, segmentBytes, 0);
      tier.worker.stepAside(why);
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

  /**
   * A tier whose work is done by {@link #runOnce}, by hand.
   *
   * @param queueBytes how many octets of responses may wait to be written
   */
  DiskTier(StoreDirectory directory, long capacityBytes, int segmentBytes, long queueBytes)
      throws IOException {
    this(directory, StoreIdentity.readOrRandom(directory), capacityBytes, segmentBytes, queueBytes);
    try {
      journal.begin(() -> earlierPurges);
      identity.write(directory);
    } catch (IOException e) {
      directory.delete(NOTHING);
      worker.refuse(e);
    }
  }

  /** Does a part of what is to be done; false if there is nothing. Confined to one thread. */
  boolean runOnce() {
    return worker.runOnce();
  }

  /** A tier whose identity is known; its thread does not run yet. */
  DiskTier(
      StoreDirectory directory,
      StoreIdentity identity,
      long capacityBytes,
      int segmentBytes,
      long queueBytes)
      throws IOException {
    this.directory = directory;
    this.identity = identity;
    this.capacityBytes = capacityBytes;
    this.worker = new DiskWorker(new Duties(), queueBytes);
    this.journal = new PurgeJournal(directory, identity.store());
    PurgeNotes earlier = readable(journal);
    if (earlier == null && Segment.deleteAll(directory)) {
      LOG.log(
          Level.WARNING,
          "the disk tier begins anew: its journal of purges is missing, damaged, or of another"
              + " store");
    }
    this.earlierPurges = earlier == null ? PurgeNotes.none() : earlier;
    this.log =
        new SegmentLog(
            directory, identity.store(), capacityBytes, segmentBytes, index, counts, this::unused);
  }

  private static @Nullable PurgeNotes readable(PurgeJournal journal) {
    try {
      return journal.read();
    } catch (IOException e) {
      LOG.log(Level.WARNING, "the journal of purges cannot be read: " + e);
      return null;
    }
  }

  /** First half of the secret that the store's cache keys are hashed with. */
  public long secretHigh() {
    return identity.secretHigh();
  }

  /** Second half of the secret. */
  public long secretLow() {
    return identity.secretLow();
  }

  /** Whether the tier takes responses. */
  public boolean isRunning() {
    return worker.isRunning();
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
    long high = key.high();
    long low = key.low();
    boolean isTaken =
        isRunning()
            && !isEnding
            && worker.offer(response, () -> log.write(response, high, low, sequence, isCurrent));
    if (!isTaken) {
      response.release();
      counts.droppedWrites.increment();
    }
    return isTaken;
  }

  /**
   * Where records of that key may lie, the last written first, and marks them as asked for. Empty
   * if there are none. Takes no lock, and allocates nothing for what is not there. Borrows the key.
   */
  public Extent[] find(CacheKey key) {
    return worker.isReadable() ? index.find(key.low()) : NONE;
  }

  /**
   * Marks what is there of that key as asked for.
   *
   * @return false if there is surely nothing; whether there is something may not be known yet
   */
  public boolean touch(CacheKey key) {
    return !worker.isReadable() || index.touch(key.low()) || !isRecovered();
  }

  /** Whether there may be, or may have been at the end, a record of that key. */
  public boolean mayHaveHad(CacheKey key) {
    return index.count(key.low()) > 0 || !isRecovered();
  }

  /** How many records of that key there seem to be. Takes no lock, allocates nothing. */
  public int count(CacheKey key) {
    return worker.isReadable() ? index.count(key.low()) : 0;
  }

  /**
   * Reads a record. Waits for the disk: never on a loop.
   *
   * @return whether the sink was given a response of that key whole, and every checksum was right;
   *     else it must throw away what it was given
   */
  public boolean read(CacheKey key, Extent extent, RecordSink sink) {
    return read(key, extent, (reader, _) -> reader.read(key, sink));
  }

  /**
   * Proves a record and leaves it where it is, to be sent from there. Waits for the disk: never on
   * a loop.
   *
   * @param isWanted asked for what the record tells before its octets
   * @param fetchBytes how much of the content is to be in the kernel's memory in the end
   * @param readers threads that read more of it later
   * @return null if there is no such response, it is not wanted, or cannot be sent
   */
  public @Nullable LentRecord lend(
      CacheKey key,
      Extent extent,
      Predicate<StoredHead> isWanted,
      long fetchBytes,
      Executor readers) {
    Lending lending =
        new Lending(isWanted, fetchBytes, readers, e -> unreadable(extent.segment(), e));
    boolean isProven = read(key, extent, (reader, segment) -> lending.prove(key, reader, segment));
    return isProven ? lending.lent() : null;
  }

  /** What is done with a record, under a lease on its segment. */
  private interface Reading {

    RecordReader.Outcome of(RecordReader reader, Segment segment) throws IOException;
  }

  private boolean read(CacheKey key, Extent extent, Reading reading) {
    Segment segment = worker.isReadable() ? log.retained(extent.segment()) : null;
    if (segment == null) {
      return false;
    }
    try {
      return switch (reading.of(new RecordReader(identity.store(), segment, extent), segment)) {
        case PROVEN -> true;
        case DECLINED, OTHER -> false;
        case DAMAGED -> {
          damaged(key, extent);
          yield false;
        }
      };
    } catch (IOException e) {
      unreadable(extent.segment(), e);
      return false;
    } finally {
      segment.release();
    }
  }

  /** What the disk does not give back leaves the store, and nothing else does. */
  private void unreadable(int segment, IOException why) {
    worker.owe(() -> log.condemn(segment, why));
  }

  /** A record that is damaged leaves the index. */
  private void damaged(CacheKey key, Extent extent) {
    long high = key.high();
    long low = key.low();
    if (index.remove(low, extent)) {
      counts.damagedRecords.increment();
      worker.remove(() -> log.replace(high, low, extent.variant()));
    }
  }

  /** Removes all responses of that key, for good. Borrows the key. Does not wait for the disk. */
  public void remove(CacheKey key, long sequence) {
    if (!worker.isReadable()) {
      return;
    }
    long high = key.high();
    long low = key.low();
    boolean isRecovering = !isRecovered();
    log.recovery().removed(low);
    if (index.removeAll(low) || isRecovering || worker.hasWrites()) {
      worker.remove(() -> log.remove(high, low, sequence));
    }
  }

  /**
   * Removes the response of that variant, for good: there is a newer one elsewhere. Borrows both.
   * Does not wait for the disk.
   */
  public void replaced(CacheKey key, SelectingFields variant) {
    if (!worker.isReadable()) {
      return;
    }
    long high = key.high();
    long low = key.low();
    int bits = RecordDraft.variant(variant);
    boolean isRecovering = !isRecovered();
    log.recovery().replaced(low, bits);
    if (index.removeVariant(low, bits) || isRecovering) {
      worker.remove(() -> log.replace(high, low, bits));
    }
  }

  /**
   * Gives a table the purges of other processes, and keeps its own and all that come. Comes before
   * anything is read or offered.
   */
  public void keepPurges(PurgeTable table) {
    table.keep(earlierPurges, note -> worker.owe(() -> journal.note(note)));
    worker.give(() -> journal.begin(table::notes));
  }

  /**
   * Runs {@code action} when everything that was removed or noted before this call is in the files,
   * or no later process takes the files for a store. On the tier's thread, or the caller's.
   */
  public void whenWritten(Runnable action) {
    worker.give(
        () -> {
          try {
            while (log.flush()) {
              // a flush may append what was refused
            }
          } finally {
            action.run();
          }
        },
        action);
  }

  /** Removes everything, for good. Does not wait for the disk. */
  public void clear() {
    log.recovery().cancel();
    index.clear();
    worker.owe(log::clear);
  }

  /** Remembers, for a later process, which keys are asked for most. Written a little later. */
  public void keepHeat(List<CacheKey> hottestFirst) {
    worker.give(() -> HeatFile.write(directory, identity.store(), hottestFirst));
  }

  /**
   * The keys that the last process that ended cleanly was asked for most, hottest first. Waits for
   * the disk: never on a loop.
   */
  public List<CacheKey> heat() {
    try {
      return worker.isReadable() ? HeatFile.read(directory, identity.store()) : List.of();
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "the list of the keys asked for most cannot be read", e);
      return List.of();
    }
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

  DiskCounts counts() {
    return counts;
  }

  /** A segment may be ended by a loop; its file is closed and deleted by the tier's thread. */
  private void unused(Segment segment) {
    unused.add(segment);
    if (hasEnded) {
      disposeUnused();
    } else {
      worker.wake();
    }
  }

  private boolean disposeUnused() {
    boolean isAny = false;
    for (Segment segment = unused.poll(); segment != null; segment = unused.poll()) {
      isAny = true;
      try {
        segment.dispose();
      } catch (IOException e) {
        worker.owe(segment::dispose);
      }
    }
    return isAny;
  }

  private final class Duties implements DiskWorker.Duties {

    private boolean isVoid;

    @Override
    public void refused() {
      if (log.salvage()) {
        owe();
      }
    }

    @Override
    public void owe() {
      if (!isVoid) {
        isVoid = true;
        try {
          directory.delete(StoreIdentity.NAME);
        } catch (IOException e) {
          LOG.log(
              Level.ERROR,
              "removed responses may come back after a restart: delete "
                  + directory
                  + " before, or let it be written: "
                  + e);
        }
      }
    }

    @Override
    public void retry() throws IOException {
      log.rewrite();
      journal.beginAnew();
    }

    @Override
    public boolean read() throws IOException {
      return log.recovery().step();
    }

    @Override
    public void settled() throws IOException {
      while (log.flush()) {
        // a flush may append what was refused
      }
      identity.write(directory);
      isVoid = false;
    }

    @Override
    public void overwhelmed() {
      clear();
    }

    @Override
    public boolean first() {
      return disposeUnused();
    }

    @Override
    public boolean idle(boolean isClosing) throws IOException {
      return log.flush() || (!isClosing && log.recover());
    }

    @Override
    public void aside() {
      log.recovery().cancel();
      index.clear();
    }

    @Override
    public void giveUp() throws IOException {
      try {
        log.giveUp();
      } finally {
        journal.delete();
      }
    }
  }

  /**
   * Writes what was offered, and gives the directory up. From then on the tier finds and takes
   * nothing. What was lent can be sent to its end.
   */
  @Override
  public void close() {
    isEnding = true;
    worker.close();
    hasEnded = true;
    try {
      log.deleteForgotten();
    } catch (IOException e) {
      LOG.log(Level.WARNING, "the disk tier keeps files that it has forgotten", e);
    }
    log.close();
    disposeUnused();
    try {
      journal.close();
      directory.close();
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "the disk tier's directory was not closed", e);
    }
  }

  @Override
  public String toString() {
    return "DiskTier[" + directory + ", " + worker + ", size=" + size() + "]";
  }
}
