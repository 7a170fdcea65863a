package io.kamille.cache.disk;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.kamille.cache.disk.DiskIndexTable.IndexedRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.stream.Stream;

/**
 * Where the records of a key lie, in at most 64 octets of heap per record.
 *
 * <p>Any thread. Looking up takes no lock and allocates nothing unless something is found. What it
 * finds is a hint: the record itself says whether it is the one.
 */
final class DiskIndex {

  /*
   * There are 64 tables, so that one that doubles, and lies there twice for a moment, is a small
   * part of all. At most three quarters of the slots are taken, and at least three eighths when a
   * table has just doubled, which makes 27 to 54 octets per record.
   *
   * Changes are made under a shard's monitor. A lookup beside a change may miss a record, or meet
   * the key of one with the place of another; the first is a miss, the second is noticed when the
   * record is read, since it bears its whole key.
   *
   * A key has at most LIMIT records, whatever its origin varies by; the oldest makes room.
   */

  private static final int SHARDS = 64;
  private static final Comparator<Extent> LAST_WRITTEN_FIRST =
      (one, other) -> Long.compare(other.place(), one.place());

  /** How many records a key may have. */
  static final int LIMIT = 16;

  static final int REFUSED = -2;
  static final int ADDED = -1;

  private final Shard[] shards = new Shard[SHARDS];

  DiskIndex() {
    Arrays.setAll(shards, _ -> new Shard());
  }

  /** A part of the index: changed under its monitor, looked up by any thread without. */
  private static final class Shard {

    /** Volatile for those who look up without the monitor. */
    private volatile DiskIndexTable table = new DiskIndexTable(DiskIndexTable.SLOTS_MINIMUM);

    /**
     * Odd from before a change is decided on until it is made, so that who looks without the
     * monitor can be sure that something is not there, nor about to be.
     */
    private final AtomicInteger changes = new AtomicInteger();

    private int size;

    /** Makes a change under the monitor, and says what it says. */
    @CanIgnoreReturnValue
    synchronized int change(IntSupplier change) {
      changes.incrementAndGet();
      try {
        return change.getAsInt();
      } finally {
        changes.incrementAndGet();
      }
    }

    /** Deletes the record in the slot that is named under the monitor; false if it is negative. */
    @CanIgnoreReturnValue
    boolean deleteOne(IntSupplier slotOf) {
      return change(
              () -> {
                int slot = slotOf.getAsInt();
                if (slot >= 0) {
                  delete(slot);
                }
                return slot;
              })
          >= 0;
    }

    boolean isSurelyWithout(long key) {
      int before = changes.get();
      return before % 2 == 0 && table.count(key) == 0 && changes.get() == before;
    }

    synchronized int size() {
      return size;
    }

    /** Adds all records in that segment to {@code found}. */
    synchronized void collect(int segment, List<IndexedRecord> found) {
      for (int slot = 0; slot < table.slots(); slot++) {
        if (table.isIn(slot, segment)) {
          found.add(table.entry(slot));
        }
      }
    }

    // Under the monitor

    void insert(long key, Extent extent) {
      if ((size + 1) * 4L > table.slots() * 3L) {
        table = table.doubled();
      }
      table.insert(key, extent.place(), extent.units());
      size++;
    }

    void delete(int slot) {
      table.delete(slot);
      size--;
    }

    int clear() {
      table = new DiskIndexTable(DiskIndexTable.SLOTS_MINIMUM);
      size = 0;
      return 0;
    }
  }

  private Shard shard(long key) {
    return shards[(int) key & SHARDS - 1];
  }

  /** The records of that key, the last written first, and marks them as asked for. */
  Extent[] find(long key) {
    Extent[] found = shard(key).table.find(key);
    if (found.length > 1) {
      Arrays.sort(found, LAST_WRITTEN_FIRST);
    }
    return found;
  }

  /**
   * Adds a record in place of that of the same variant, if {@code isCurrent} still says so when no
   * removal can come between.
   *
   * @return {@link #REFUSED}, {@link #ADDED}, or the variant of the record that had to make room
   */
  int put(long key, Extent extent, BooleanSupplier isCurrent) {
    Shard shard = shard(key);
    return shard.change(
        () -> {
          if (!isCurrent.getAsBoolean()) {
            return REFUSED;
          }
          int same = shard.table.slotOf(key, extent.variant());
          if (same >= 0) {
            shard.delete(same);
          }
          int result = ADDED;
          if (shard.table.count(key) >= LIMIT) {
            int oldest = shard.table.oldest(key);
            result = shard.table.variant(oldest);
            shard.delete(oldest);
          }
          shard.insert(key, extent);
          return result;
        });
  }

  /**
   * Adds a record that is older than all there are, unless its variant is there.
   *
   * @return {@link #REFUSED}, {@link #ADDED}, or its own variant if the key has too many
   */
  int putOlder(long key, Extent extent, BooleanSupplier isCurrent) {
    Shard shard = shard(key);
    return shard.change(
        () -> {
          if (shard.table.slotOf(key, extent.variant()) >= 0 || !isCurrent.getAsBoolean()) {
            return REFUSED;
          }
          if (shard.table.count(key) >= LIMIT) {
            return extent.variant();
          }
          shard.insert(key, extent);
          return ADDED;
        });
  }

  /** Says that a record has moved; false if it is not there any more. */
  boolean move(long key, Extent from, Extent to) {
    Shard shard = shard(key);
    return shard.change(
            () -> {
              int slot = shard.table.slotAt(key, from.place());
              if (slot >= 0) {
                shard.delete(slot);
                shard.insert(key, to);
              }
              return slot;
            })
        >= 0;
  }

  /** Removes one record; false if it is not there. */
  boolean remove(long key, Extent extent) {
    Shard shard = shard(key);
    return shard.deleteOne(() -> shard.table.slotAt(key, extent.place()));
  }

  /** Removes all records of a key; false if there are none. */
  boolean removeAll(long key) {
    Shard shard = shard(key);
    return shard.change(
            () -> {
              int removed = 0;
              for (int slot = shard.table.slotOf(key, -1);
                  slot >= 0;
                  slot = shard.table.slotOf(key, -1)) {
                shard.delete(slot);
                removed++;
              }
              return removed;
            })
        > 0;
  }

  /** Removes the record of a variant of a key; false if there is none, mostly without a lock. */
  boolean removeVariant(long key, int variant) {
    Shard shard = shard(key);
    return !shard.isSurelyWithout(key) && shard.deleteOne(() -> shard.table.slotOf(key, variant));
  }

  /** Marks the records of that key as asked for; false if there seem to be none. No lock. */
  boolean touch(long key) {
    return shard(key).table.touch(key);
  }

  /** How many records of that key there seem to be. Takes no lock, and does not mark them. */
  int count(long key) {
    return shard(key).table.count(key);
  }

  void clear() {
    for (Shard shard : shards) {
      shard.change(shard::clear);
    }
  }

  /** All records in that segment, in the order in which they lie there. */
  List<IndexedRecord> in(int segment) {
    List<IndexedRecord> found = new ArrayList<>();
    for (Shard shard : shards) {
      shard.collect(segment, found);
    }
    found.sort((one, other) -> Integer.compare(one.extent().offset(), other.extent().offset()));
    return found;
  }

  /** How many records there are. */
  long size() {
    return Stream.of(shards).mapToLong(Shard::size).sum();
  }

  /** What the tables take on the heap. */
  long heapBytes() {
    return Stream.of(shards).mapToLong(shard -> shard.table.heapBytes()).sum();
  }
}
