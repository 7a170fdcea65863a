package io.kamille.cache.tiers;

import io.kamille.cache.key.CacheKey;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/** Counts changes per stripe of keys, and changes of everything. Any thread. */
final class ChangeStripes {

  /*
   * Two keys in one stripe cost at most a response that could have been stored or copied; every
   * unsafe request removes, so there are many stripes.
   */
  private static final int STRIPES = 1 << 17;

  private final AtomicLongArray stripes = new AtomicLongArray(STRIPES);
  private final AtomicLong all = new AtomicLong();

  /** Counts a change under that key. */
  void add(CacheKey key, long change) {
    stripes.addAndGet(stripe(key), change);
  }

  /** Counts a change under all keys. */
  void addToAll(long change) {
    all.addAndGet(change);
  }

  /** What was counted for that key. */
  long of(CacheKey key) {
    return of(stripe(key));
  }

  /** The same for a stripe, by which a key need not be kept. */
  long of(int stripe) {
    return stripes.get(stripe) + all.get();
  }

  /** The stripe of a key. */
  static int stripe(CacheKey key) {
    int hash = key.hashCode();
    return (hash ^ hash >>> 16) & (STRIPES - 1);
  }
}
