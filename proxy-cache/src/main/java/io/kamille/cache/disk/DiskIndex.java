package io.kamille.cache.disk;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * Where the records of a key lie, in at most 64 octets of heap per record.
 *
 * <p>Any thread. Looking up takes no lock and allocates nothing unless something is found. What it
 * finds is a hint: the record itself says whether it is the one.
 */
final class DiskIndex {

  /*
   * Open addressing with linear probing in parallel arrays, of 20 octets per slot: half of the cache
   * key, the place, and length and mark of having been asked for. At most three quarters of the slots
   * are taken, and at least three eighths when a table has just doubled, which makes 27 to 54 octets
   * per record. There are 64 tables, so that one that doubles, and lies there twice for a moment,
   * is a small part of all.
   *
   * Changes are made under the table's monitor. A lookup beside a change may miss a record, or meet
   * the key of one with the place of another; the first is a miss, the second is noticed when the
   * record is read, since it bears its whole key.
   *
   * A key has at most LIMIT records, whatever its origin varies by; the oldest makes room.
   */

  /** A record and the key half it is found by. */
  record Entry(long key, Extent extent, boolean wasAskedFor) {}

  static final int LIMIT = 16;

  static final int REFUSED = -2;
  static final int ADDED = -1;

  private static final int SHARDS = 64;
  private static final int SHARD_BITS = 6;
  private static final int SLOTS_MINIMUM = 64;
  private static final int SLOT_BYTES = 2 * Long.BYTES + Integer.BYTES;
  private static final int ASKED = 1 << 31;
  private static final int UNITS_MASK = ASKED - 1;
  private static final Extent[] NONE = {};

  private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);
  private static final VarHandle INTS = MethodHandles.arrayElementVarHandle(int[].class);

  private final Shard[] shards = new Shard[SHARDS];

  DiskIndex() {
    Arrays.setAll(shards, _ -> new Shard());
  }

  private Shard shard(long key) {
    return shards[(int) key & SHARDS - 1];
  }

  /** The records of that key, and marks them as asked for. */
  Extent[] find(long key) {
    return shard(key).find(key);
  }

  /**
   * Adds a record in place of that of the same variant, if {@code isCurrent} still says so when no
   * removal can come between.
   *
   * @return {@link #REFUSED}, {@link #ADDED}, or the variant of the record that had to make room
   */
  int put(long key, Extent extent, BooleanSupplier isCurrent) {
    return shard(key).put(key, extent, isCurrent);
  }

  /** Adds a record that is older than all there are, unless its variant is there. */
  boolean putOlder(long key, Extent extent, BooleanSupplier isCurrent) {
    return shard(key).putOlder(key, extent, isCurrent);
  }

  /** Says that a record has moved; false if it is not there any more. */
  boolean move(long key, Extent from, Extent to) {
    return shard(key).move(key, from, to);
  }

  /** Removes one record; false if it is not there. */
  boolean remove(long key, Extent extent) {
    return shard(key).remove(key, extent.place());
  }

  /** Removes all records of a key; false if there are none. */
  boolean removeAll(long key) {
    return shard(key).removeAll(key);
  }

  /** Removes the record of a variant of a key; false if there is none, mostly without a lock. */
  boolean removeVariant(long key, int variant) {
    return shard(key).removeVariant(key, variant);
  }

  /** Marks the records of that key as asked for; false if there seem to be none. No lock. */
  boolean touch(long key) {
    return shard(key).touch(key);
  }

  /** How many records of that key there seem to be. Takes no lock, and does not mark them. */
  int count(long key) {
    return shard(key).look(key);
  }

  void clear() {
    for (Shard shard : shards) {
      shard.clear();
    }
  }

  /** All records in that segment, in the order in which they lie there. */
  List<Entry> in(int segment) {
    List<Entry> found = new ArrayList<>();
    for (Shard shard : shards) {
      shard.collect(segment, found);
    }
    found.sort((one, other) -> Integer.compare(one.extent().offset(), other.extent().offset()));
    return found;
  }

  /** How many records there are. */
  long size() {
    long size = 0;
    for (Shard shard : shards) {
      size += shard.size();
    }
    return size;
  }

  /** What the tables take on the heap. */
  long heapBytes() {
    long bytes = 0;
    for (Shard shard : shards) {
      bytes += (long) SLOT_BYTES * shard.table.mask + SLOT_BYTES;
    }
    return bytes;
  }

  private static final class Table {

    final long[] keys;
    final long[] places;
    final int[] units;
    final int mask;

    Table(int slots) {
      this.keys = new long[slots];
      this.places = new long[slots];
      this.units = new int[slots];
      this.mask = slots - 1;
    }

    int home(long key) {
      return (int) (key >>> SHARD_BITS) & mask;
    }

    long place(int slot) {
      return (long) LONGS.getAcquire(places, slot);
    }

    void set(int slot, long key, long place, int units) {
      LONGS.setOpaque(keys, slot, key);
      INTS.setOpaque(this.units, slot, units);
      LONGS.setRelease(places, slot, place);
    }

    Extent extent(int slot) {
      return Extent.of(place(slot), (int) INTS.getOpaque(units, slot) & UNITS_MASK);
    }

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
  }

  private static final class Shard {

    /** Volatile for those who look up without the monitor. */
    private volatile Table table = new Table(SLOTS_MINIMUM);

    /**
     * Odd from before a change is decided on until it is made, so that who looks without the
     * monitor can be sure that something is not there, nor about to be.
     */
    private final AtomicInteger changes = new AtomicInteger();

    private int size;

    Extent[] find(long key) {
      Table table = this.table;
      Extent[] found = NONE;
      int slot = table.home(key);
      for (int i = 0; i <= table.mask && table.place(slot) != 0; i++) {
        if ((long) LONGS.getOpaque(table.keys, slot) == key) {
          found = Arrays.copyOf(found, found.length + 1);
          found[found.length - 1] = table.extent(slot);
          INTS.getAndBitwiseOr(table.units, slot, ASKED);
        }
        slot = slot + 1 & table.mask;
      }
      return found;
    }

    boolean touch(long key) {
      Table table = this.table;
      boolean isAny = false;
      int slot = table.home(key);
      for (int i = 0; i <= table.mask && table.place(slot) != 0; i++) {
        if ((long) LONGS.getOpaque(table.keys, slot) == key) {
          isAny = true;
          INTS.getAndBitwiseOr(table.units, slot, ASKED);
        }
        slot = slot + 1 & table.mask;
      }
      return isAny;
    }

    int look(long key) {
      Table table = this.table;
      int count = 0;
      int slot = table.home(key);
      for (int i = 0; i <= table.mask && table.place(slot) != 0; i++) {
        count += (long) LONGS.getOpaque(table.keys, slot) == key ? 1 : 0;
        slot = slot + 1 & table.mask;
      }
      return count;
    }

    boolean removeVariant(long key, int variant) {
      int before = changes.get();
      boolean isSurelyAbsent = before % 2 == 0 && look(key) == 0 && changes.get() == before;
      return !isSurelyAbsent && removeLocked(key, variant);
    }

    private synchronized boolean removeLocked(long key, int variant) {
      changes.incrementAndGet();
      try {
        int slot = slotOf(key, variant);
        if (slot >= 0) {
          delete(slot);
        }
        return slot >= 0;
      } finally {
        changes.incrementAndGet();
      }
    }

    synchronized int put(long key, Extent extent, BooleanSupplier isCurrent) {
      changes.incrementAndGet();
      try {
        if (!isCurrent.getAsBoolean()) {
          return REFUSED;
        }
        int same = slotOf(key, extent.variant());
        if (same >= 0) {
          delete(same);
        }
        int result = ADDED;
        if (count(key) >= LIMIT) {
          int oldest = oldest(key);
          result = Extent.variant(table.places[oldest]);
          delete(oldest);
        }
        insert(key, extent);
        return result;
      } finally {
        changes.incrementAndGet();
      }
    }

    synchronized boolean putOlder(long key, Extent extent, BooleanSupplier isCurrent) {
      changes.incrementAndGet();
      try {
        if (slotOf(key, extent.variant()) >= 0
            || count(key) >= LIMIT
            || !isCurrent.getAsBoolean()) {
          return false;
        }
        insert(key, extent);
        return true;
      } finally {
        changes.incrementAndGet();
      }
    }

    synchronized boolean move(long key, Extent from, Extent to) {
      changes.incrementAndGet();
      try {
        int slot = slotOfPlace(key, from.place());
        if (slot < 0) {
          return false;
        }
        delete(slot);
        insert(key, to);
        return true;
      } finally {
        changes.incrementAndGet();
      }
    }

    synchronized boolean remove(long key, long place) {
      changes.incrementAndGet();
      try {
        int slot = slotOfPlace(key, place);
        if (slot >= 0) {
          delete(slot);
        }
        return slot >= 0;
      } finally {
        changes.incrementAndGet();
      }
    }

    synchronized boolean removeAll(long key) {
      changes.incrementAndGet();
      try {
        boolean isRemoved = false;
        for (int slot = slotOf(key, -1); slot >= 0; slot = slotOf(key, -1)) {
          delete(slot);
          isRemoved = true;
        }
        return isRemoved;
      } finally {
        changes.incrementAndGet();
      }
    }

    synchronized void clear() {
      changes.incrementAndGet();
      try {
        table = new Table(SLOTS_MINIMUM);
        size = 0;
      } finally {
        changes.incrementAndGet();
      }
    }

    synchronized int size() {
      return size;
    }

    synchronized void collect(int segment, List<Entry> found) {
      for (int slot = 0; slot <= table.mask; slot++) {
        if (table.places[slot] != 0 && Extent.segment(table.places[slot]) == segment) {
          boolean wasAskedFor = table.units[slot] < 0;
          found.add(new Entry(table.keys[slot], table.extent(slot), wasAskedFor));
        }
      }
    }

    /** The slot of that variant, of any for -1; or -1. */
    private int slotOf(long key, int variant) {
      int slot = table.home(key);
      while (table.places[slot] != 0) {
        if (table.keys[slot] == key
            && (variant < 0 || Extent.variant(table.places[slot]) == variant)) {
          return slot;
        }
        slot = slot + 1 & table.mask;
      }
      return -1;
    }

    private int slotOfPlace(long key, long place) {
      int slot = table.home(key);
      while (table.places[slot] != 0) {
        if (table.keys[slot] == key && table.places[slot] == place) {
          return slot;
        }
        slot = slot + 1 & table.mask;
      }
      return -1;
    }

    private int count(long key) {
      int count = 0;
      for (int slot = table.home(key); table.places[slot] != 0; slot = slot + 1 & table.mask) {
        if (table.keys[slot] == key) {
          count++;
        }
      }
      return count;
    }

    private int oldest(long key) {
      int oldest = -1;
      for (int slot = table.home(key); table.places[slot] != 0; slot = slot + 1 & table.mask) {
        if (table.keys[slot] == key
            && (oldest < 0 || Long.compareUnsigned(table.places[slot], table.places[oldest]) < 0)) {
          oldest = slot;
        }
      }
      return oldest;
    }

    private void insert(long key, Extent extent) {
      if ((size + 1) * 4L > (table.mask + 1) * 3L) {
        table = doubled(table);
      }
      table.insert(key, extent.place(), extent.units());
      size++;
    }

    private void delete(int slot) {
      table.delete(slot);
      size--;
    }

    private static Table doubled(Table before) {
      Table after = new Table((before.mask + 1) * 2);
      for (int slot = 0; slot <= before.mask; slot++) {
        if (before.places[slot] != 0) {
          after.insert(before.keys[slot], before.places[slot], before.units[slot]);
        }
      }
      return after;
    }
  }
}
