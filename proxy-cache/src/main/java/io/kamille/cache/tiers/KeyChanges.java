package io.kamille.cache.tiers;

import io.kamille.cache.key.CacheKey;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/** Counts what changes under keys, per stripe of keys, and what changes under all. Any thread. */
final class KeyChanges {

  /*
   *  63       32 31      10 9         0
   * ┌───────────┬──────────┬───────────┐
   * │ removals  │ changes  │ under way │
   * └───────────┴──────────┴───────────┘
   *
   * What changes under a key changes in memory first, then on the disk, and both are one change.
   * Changes that overflow count as a removal.
   *
   * Two keys in one stripe cost at most a response that could have been stored or copied; every
   * unsafe request removes, so there are many stripes.
   */
  private static final int STRIPES = 1 << 17;
  private static final int CHANGES_SHIFT = 10;
  private static final int REMOVALS_SHIFT = 32;
  private static final long BEGIN = 1;
  private static final long END = (1L << CHANGES_SHIFT) - BEGIN;
  private static final long REMOVAL = 1L << REMOVALS_SHIFT;

  private final AtomicLongArray stripes = new AtomicLongArray(STRIPES);
  private final AtomicLong all = new AtomicLong();

  /** A change under that key begins. */
  void begin(CacheKey key) {
    stripes.addAndGet(stripe(key), BEGIN);
  }

  /** A removal under that key begins. */
  void beginRemoval(CacheKey key) {
    stripes.addAndGet(stripe(key), BEGIN + REMOVAL);
  }

  /** A change or removal is made. */
  void end(CacheKey key) {
    stripes.addAndGet(stripe(key), END);
  }

  /** A removal of everything begins. */
  void beginRemovalOfAll() {
    all.addAndGet(BEGIN + REMOVAL);
  }

  /** It is made. */
  void endAll() {
    all.addAndGet(END);
  }

  /** What was counted under that key, or under others of its stripe. */
  long of(CacheKey key) {
    return of(stripe(key));
  }

  /** The same for a stripe, by which a key need not be kept. */
  long of(int stripe) {
    return stripes.get(stripe) + all.get();
  }

  /** How many removals began under that key, or under others of its stripe. */
  int removals(CacheKey key) {
    return (int) (of(key) >>> REMOVALS_SHIFT);
  }

  /** Whether something changed when that was counted, so that nothing follows from it. */
  static boolean isUnderWay(long counted) {
    return (counted & END) != 0;
  }

  /** The stripe of a key. */
  static int stripe(CacheKey key) {
    int hash = key.hashCode();
    return (hash ^ hash >>> 16) & (STRIPES - 1);
  }
}
