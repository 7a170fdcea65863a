package io.kamille.cache.disk;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.BooleanSupplier;

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

  private final DiskIndexShard[] shards = new DiskIndexShard[SHARDS];

  DiskIndex() {
    Arrays.setAll(shards, _ -> new DiskIndexShard());
  }

  private DiskIndexShard shard(long key) {
    return shards[(int) key & SHARDS - 1];
  }

  /** The records of that key, the last written first, and marks them as asked for. */
  Extent[] find(long key) {
    Extent[] found = shard(key).find(key);
    if (found.length > 1) {
      Arrays.sort(found, LAST_WRITTEN_FIRST);
    }
    return found;
  }

  /**
   * Adds a record in place of that of the same variant, if {@code isCurrent} still says so when no
   * removal can come between.
   *
   * @return {@link DiskIndexShard#REFUSED}, {@link DiskIndexShard#ADDED}, or the variant of the
   *     record that had to make room
   */
  int put(long key, Extent extent, BooleanSupplier isCurrent) {
    return shard(key).put(key, extent, isCurrent);
  }

  /**
   * Adds a record that is older than all there are, unless its variant is there.
   *
   * @return {@link DiskIndexShard#REFUSED}, {@link DiskIndexShard#ADDED}, or its own variant if the
   *     key has too many
   */
  int putOlder(long key, Extent extent, BooleanSupplier isCurrent) {
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
    return shard(key).count(key);
  }

  void clear() {
    for (DiskIndexShard shard : shards) {
      shard.clear();
    }
  }

  /** All records in that segment, in the order in which they lie there. */
  List<IndexedRecord> in(int segment) {
    List<IndexedRecord> found = new ArrayList<>();
    for (DiskIndexShard shard : shards) {
      shard.collect(segment, found);
    }
    found.sort((one, other) -> Integer.compare(one.extent().offset(), other.extent().offset()));
    return found;
  }

  /** How many records there are. */
  long size() {
    long size = 0;
    for (DiskIndexShard shard : shards) {
      size += shard.size();
    }
    return size;
  }

  /** What the tables take on the heap. */
  long heapBytes() {
    long bytes = 0;
    for (DiskIndexShard shard : shards) {
      bytes += shard.heapBytes();
    }
    return bytes;
  }
}
