package io.kamille.cache.disk;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * One hash table of the index. Changed under the monitor of its shard; what says so is also for
 * readers without it.
 */
final class DiskIndexTable {

  /*
   * Open addressing with linear probing in parallel arrays, of 20 octets per slot: half of the
   * cache key, the place, and length and mark of having been asked for. A slot is empty if its
   * place is 0.
   */
  static final int SLOTS_MINIMUM = 64;

  private static final int SHARD_BITS = 6;
  private static final int SLOT_BYTES = 2 * Long.BYTES + Integer.BYTES;
  private static final int ASKED = 1 << 31;
  private static final int UNITS_MASK = ASKED - 1;
  private static final Extent[] NONE = {};

  private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);
  private static final VarHandle INTS = MethodHandles.arrayElementVarHandle(int[].class);

  /**
   * A record as the index knows it.
   *
   * @param key the half of the cache key that it is found by
   * @param extent where it lies
   * @param wasAskedFor whether its key was asked for since it was written
   */
  record IndexedRecord(long key, Extent extent, boolean wasAskedFor) {}

  private final long[] keys;
  private final long[] places;
  private final int[] units;
  private final int mask;

  DiskIndexTable(int slots) {
    this.keys = new long[slots];
    this.places = new long[slots];
    this.units = new int[slots];
    this.mask = slots - 1;
  }

  int slots() {
    return mask + 1;
  }

  long heapBytes() {
    return (long) SLOT_BYTES * slots();
  }

  // For readers without the monitor, too

  /** The records of that key, and marks them as asked for. */
  Extent[] find(long key) {
    Extent[] found = NONE;
    int slot = home(key);
    for (int i = 0; i <= mask && isTaken(slot); i++) {
      if (isOf(slot, key)) {
        found = Arrays.copyOf(found, found.length + 1);
        found[found.length - 1] = extent(slot);
        INTS.getAndBitwiseOr(units, slot, ASKED);
      }
      slot = slot + 1 & mask;
    }
    return found;
  }

  /** Marks the records of that key as asked for; false if there seem to be none. */
  boolean touch(long key) {
    boolean isAny = false;
    int slot = home(key);
    for (int i = 0; i <= mask && isTaken(slot); i++) {
      if (isOf(slot, key)) {
        isAny = true;
        INTS.getAndBitwiseOr(units, slot, ASKED);
      }
      slot = slot + 1 & mask;
    }
    return isAny;
  }

  /** How many records of that key there seem to be. */
  int count(long key) {
    int count = 0;
    int slot = home(key);
    for (int i = 0; i <= mask && isTaken(slot); i++) {
      count += isOf(slot, key) ? 1 : 0;
      slot = slot + 1 & mask;
    }
    return count;
  }

  private int home(long key) {
    return (int) (key >>> SHARD_BITS) & mask;
  }

  private boolean isTaken(int slot) {
    return (long) LONGS.getAcquire(places, slot) != 0;
  }

  private boolean isOf(int slot, long key) {
    return (long) LONGS.getOpaque(keys, slot) == key;
  }

  private Extent extent(int slot) {
    long place = (long) LONGS.getAcquire(places, slot);
    return Extent.of(place, (int) INTS.getOpaque(units, slot) & UNITS_MASK);
  }

  // Under the monitor

  /** The record in a slot that is taken. */
  IndexedRecord entry(int slot) {
    return new IndexedRecord(keys[slot], extent(slot), units[slot] < 0);
  }

  /** Whether a slot has a record in that segment. */
  boolean isIn(int slot, int segment) {
    return places[slot] != 0 && Extent.segment(places[slot]) == segment;
  }

  /** The slot of that variant, of any for -1; or -1. */
  int slotOf(long key, int variant) {
    for (int slot = home(key); places[slot] != 0; slot = slot + 1 & mask) {
      if (keys[slot] == key && (variant < 0 || variant(slot) == variant)) {
        return slot;
      }
    }
    return -1;
  }

  /** The slot of the record at that place, or -1. */
  int slotAt(long key, long place) {
    for (int slot = home(key); places[slot] != 0; slot = slot + 1 & mask) {
      if (keys[slot] == key && places[slot] == place) {
        return slot;
      }
    }
    return -1;
  }

  /** The slot of the record of a key that was written first, or -1. */
  int oldest(long key) {
    int oldest = -1;
    for (int slot = home(key); places[slot] != 0; slot = slot + 1 & mask) {
      if (keys[slot] == key
          && (oldest < 0 || Long.compareUnsigned(places[slot], places[oldest]) < 0)) {
        oldest = slot;
      }
    }
    return oldest;
  }

  /** The variant of the record in a slot. */
  int variant(int slot) {
    return Extent.variant(places[slot]);
  }

  /** Takes a free slot; there is one. */
  void insert(long key, long place, int units) {
    int slot = home(key);
    while (places[slot] != 0) {
      slot = slot + 1 & mask;
    }
    set(slot, key, place, units);
  }

  /** Empties a slot, and moves those behind it that would not be found beyond the gap. */
  void delete(int slot) {
    int gap = slot;
    int next = gap + 1 & mask;
    while (places[next] != 0) {
      if ((next - home(keys[next]) & mask) >= (next - gap & mask)) {
        set(gap, keys[next], places[next], units[next]);
        gap = next;
      }
      next = next + 1 & mask;
    }
    LONGS.setRelease(places, gap, 0L);
  }

  /** A table of twice the size with the same records. */
  DiskIndexTable doubled() {
    DiskIndexTable after = new DiskIndexTable(slots() * 2);
    for (int slot = 0; slot <= mask; slot++) {
      if (places[slot] != 0) {
        after.insert(keys[slot], places[slot], units[slot]);
      }
    }
    return after;
  }

  private void set(int slot, long key, long place, int units) {
    LONGS.setOpaque(keys, slot, key);
    INTS.setOpaque(this.units, slot, units);
    LONGS.setRelease(places, slot, place);
  }
}
