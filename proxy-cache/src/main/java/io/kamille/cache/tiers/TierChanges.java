package io.kamille.cache.tiers;

import io.kamille.cache.index.CaffeineIndex;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.purge.Purge;
import io.kamille.cache.purge.RemovalListener;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import org.jspecify.annotations.Nullable;

/** Changes under a key that concern memory and disk, each as one change. Any thread. */
final class TierChanges {

  /*
   * While another process has the disk, it is told of each removal, after our own tiers: a removal
   * that came too late for the disk finds the listener, which is set before the disk is closed.
   * What replaces a copy removes it there: the other process must not serve the older one.
   */
  private final CaffeineIndex index;
  private final PurgeSettlement settlement;
  private final @Nullable DiskCopies copies;
  // Volatile: set by whoever hands over, read by all.
  private volatile @Nullable RemovalListener listener;
  private volatile boolean tellsOfReplacements;
  // Volatile: set by whoever takes over, read by all.
  private volatile @Nullable RemovalListener elder;

  TierChanges(CaffeineIndex index, PurgeSettlement settlement, @Nullable DiskCopies copies) {
    this.index = index;
    this.settlement = settlement;
    this.copies = copies;
  }

  /** Tells that one of all removals from now on; null for nobody. */
  void tell(@Nullable RemovalListener next, boolean hasOurs) {
    tellsOfReplacements = hasOurs;
    listener = next;
  }

  /** Tells that one, too, of what is removed; of replacements the other alone. Null for nobody. */
  void tellElder(@Nullable RemovalListener next) {
    elder = next;
  }

  private void tellRemoved(CacheKey key) {
    tellRemoved(key, listener);
    tellRemoved(key, elder);
  }

  private static void tellRemoved(CacheKey key, @Nullable RemovalListener told) {
    if (told != null) {
      told.removed(key);
    }
  }

  /** A response takes the place of the one with the same selecting fields. Borrows it. */
  void put(CacheKey key, StoredResponse response) {
    response.retain();
    begin(key);
    try {
      if (!index.put(key, response, () -> true)) {
        response.forget();
        removeOlder(key, response);
      }
      if (copies != null) {
        copies.replace(key, response);
      }
    } finally {
      end(key);
    }
    if (copies != null) {
      copies.stored(key, response, index);
    }
    RemovalListener told = listener;
    if (told != null && (tellsOfReplacements || (copies != null && copies.mayHaveHad(key)))) {
      told.removed(key);
    }
  }

  /** What could not be stored is newer than what has its place: that must not be found any more. */
  private void removeOlder(CacheKey key, StoredResponse newer) {
    Variants variants = index.peek(key);
    for (int i = 0; variants != null && i < variants.size(); i++) {
      StoredResponse older = variants.at(i);
      if (older.selecting().equals(newer.selecting()) && older.tryRetain()) {
        index.replace(key.copy(), older, null);
        older.release();
      }
    }
  }

  /** Removes what is under a key, and says how many responses that were. */
  int remove(CacheKey key) {
    begin(key);
    int count;
    try {
      count = index.remove(key);
      if (copies != null) {
        count = Math.max(count, copies.remove(key));
      }
    } finally {
      end(key);
    }
    tellRemoved(key);
    return count;
  }

  /** Makes stale what is in memory under a key, and removes copies; says how many were made so. */
  int soften(CacheKey key, Purge purge) {
    begin(key);
    int count = 0;
    try {
      Variants variants = settlement.unpurged(key, index.peek(key));
      for (int i = 0; variants != null && i < variants.size(); i++) {
        StoredResponse response = variants.at(i);
        if (response.tryRetain()) {
          count += settlement.replace(key, response, purge, response.unpurgedUpTo()) ? 1 : 0;
          response.release();
        }
      }
      if (copies != null) {
        copies.remove(key);
      }
    } finally {
      end(key);
    }
    tellRemoved(key);
    return count;
  }

  /** Removes everything, and says how many responses that were. */
  int clear() {
    if (copies != null) {
      copies.beginAll();
    }
    int count = index.clear();
    if (copies != null) {
      copies.clear();
      copies.endAll();
    }
    tellCleared(listener);
    tellCleared(elder);
    return count;
  }

  private static void tellCleared(@Nullable RemovalListener told) {
    if (told != null) {
      told.cleared();
    }
  }

  private void end(CacheKey key) {
    if (copies != null) {
      copies.end(key);
    }
  }

  private void begin(CacheKey key) {
    if (copies != null) {
      copies.begin(key);
    }
  }
}
