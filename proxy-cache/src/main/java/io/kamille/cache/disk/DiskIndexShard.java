package io.kamille.cache.disk;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;

/** A part of the index: changed under its monitor, looked up by any thread without. */
final class DiskIndexShard {

  /** How many records a key may have. */
  static final int LIMIT = 16;

  static final int REFUSED = -2;
  static final int ADDED = -1;

  /** Volatile for those who look up without the monitor. */
  private volatile DiskIndexTable table = new DiskIndexTable(DiskIndexTable.SLOTS_MINIMUM);

  /**
   * Odd from before a change is decided on until it is made, so that who looks without the monitor
   * can be sure that something is not there, nor about to be.
   */
  private final AtomicInteger changes = new AtomicInteger();

  private int size;

  Extent[] find(long key) {
    return table.find(key);
  }

  boolean touch(long key) {
    return table.touch(key);
  }

  int count(long key) {
    return table.count(key);
  }

  long heapBytes() {
    return table.heapBytes();
  }

  boolean removeVariant(long key, int variant) {
    int before = changes.get();
    boolean isSurelyAbsent = before % 2 == 0 && count(key) == 0 && changes.get() == before;
    return !isSurelyAbsent && delete(() -> table.slotOf(key, variant));
  }

  boolean remove(long key, long place) {
    return delete(() -> table.slotAt(key, place));
  }

  /** Makes a change under the monitor, and says what it says. */
  @CanIgnoreReturnValue
  private synchronized int change(IntSupplier change) {
    changes.incrementAndGet();
    try {
      return change.getAsInt();
    } finally {
      changes.incrementAndGet();
    }
  }

  private boolean delete(IntSupplier slotOf) {
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

  int put(long key, Extent extent, BooleanSupplier isCurrent) {
    return change(
        () -> {
          if (!isCurrent.getAsBoolean()) {
            return REFUSED;
          }
          int same = table.slotOf(key, extent.variant());
          if (same >= 0) {
            delete(same);
          }
          int result = ADDED;
          if (table.count(key) >= LIMIT) {
            int oldest = table.oldest(key);
            result = table.variant(oldest);
            delete(oldest);
          }
          insert(key, extent);
          return result;
        });
  }

  int putOlder(long key, Extent extent, BooleanSupplier isCurrent) {
    return change(
        () -> {
          if (table.slotOf(key, extent.variant()) >= 0 || !isCurrent.getAsBoolean()) {
            return REFUSED;
          }
          if (table.count(key) >= LIMIT) {
            return extent.variant();
          }
          insert(key, extent);
          return ADDED;
        });
  }

  boolean move(long key, Extent from, Extent to) {
    return change(
            () -> {
              int slot = table.slotAt(key, from.place());
              if (slot >= 0) {
                delete(slot);
                insert(key, to);
              }
              return slot;
            })
        >= 0;
  }

  boolean removeAll(long key) {
    return change(
            () -> {
              int removed = 0;
              for (int slot = table.slotOf(key, -1); slot >= 0; slot = table.slotOf(key, -1)) {
                delete(slot);
                removed++;
              }
              return removed;
            })
        > 0;
  }

  void clear() {
    change(
        () -> {
          table = new DiskIndexTable(DiskIndexTable.SLOTS_MINIMUM);
          size = 0;
          return 0;
        });
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

  private void insert(long key, Extent extent) {
    if ((size + 1) * 4L > table.slots() * 3L) {
      table = table.doubled();
    }
    table.insert(key, extent.place(), extent.units());
    size++;
  }

  private void delete(int slot) {
    table.delete(slot);
    size--;
  }
}
