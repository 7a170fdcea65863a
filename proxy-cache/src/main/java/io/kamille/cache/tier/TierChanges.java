package io.kamille.cache.tier;

import io.kamille.cache.index.ResponseIndex;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.purge.Purge;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import org.jspecify.annotations.Nullable;

/** Changes under a key that concern memory and disk, each as one change. Any thread. */
final class TierChanges {

  private final ResponseIndex index;
  private final PurgeSettlement settlement;
  private final @Nullable DiskCopies copies;

  TierChanges(ResponseIndex index, PurgeSettlement settlement, @Nullable DiskCopies copies) {
    this.index = index;
    this.settlement = settlement;
    this.copies = copies;
  }

  /** A response takes the place of the one with the same selecting fields. Borrows it. */
  void put(CacheKey key, StoredResponse response) {
    response.retain();
    begin(key);
    if (!index.put(key, response, () -> true)) {
      response.forget();
      removeOlder(key, response);
    }
    if (copies != null) {
      copies.replace(key, response);
      copies.end(key);
      copies.stored(key, response, index);
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
    int count = index.remove(key);
    if (copies != null) {
      count = Math.max(count, copies.remove(key));
      copies.end(key);
    }
    return count;
  }

  /** Makes stale what is in memory under a key, and removes copies; says how many were made so. */
  int soften(CacheKey key, Purge purge) {
    begin(key);
    Variants variants = settlement.unpurged(key, index.peek(key));
    int count = 0;
    for (int i = 0; variants != null && i < variants.size(); i++) {
      StoredResponse response = variants.at(i);
      if (response.tryRetain()) {
        count += settlement.replace(key, response, purge, response.unpurgedUpTo()) ? 1 : 0;
        response.release();
      }
    }
    if (copies != null) {
      copies.remove(key);
      copies.end(key);
    }
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
    return count;
  }

  private void begin(CacheKey key) {
    if (copies != null) {
      copies.begin(key);
    }
  }
}
