package io.kamille.cache.tiers;

import io.kamille.cache.index.CaffeineIndex;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import org.jspecify.annotations.Nullable;

/**
 * What was read from the disk becomes visible in memory, or is lent to those who wait, unless it
 * was removed or replaced meanwhile. Any thread.
 */
final class Promotions {

  private final CaffeineIndex index;
  private final PurgeSettlement settlement;
  private final @Nullable DiskCopies copies;

  Promotions(CaffeineIndex index, PurgeSettlement settlement, @Nullable DiskCopies copies) {
    this.index = index;
    this.settlement = settlement;
    this.copies = copies;
  }

  /** How often something changed under that key. */
  long changes(CacheKey key) {
    return copies == null ? 0 : copies.changes(key);
  }

  /**
   * Makes a response visible that was read from the disk. Takes over one lease on it.
   *
   * @param key kept
   * @param changes what {@link #changes} said before the disk was asked
   * @param unpurgedUpTo the purge up to which it was known not to be purged
   * @return the response with a lease that the caller owns; null if it must not be used
   */
  @Nullable StoredResponse promote(
      CacheKey key, StoredResponse response, long changes, long unpurgedUpTo) {
    response.unpurged(0, unpurgedUpTo);
    response.claimCopy();
    boolean isUsable =
        !DiskCopies.isUnderWay(changes)
            && !settlement.isPurged(response)
            && !DiskCopies.hasSame(peek(key), response);
    response.retain();
    if (isUsable && index.put(key, response, () -> changes(key) == changes)) {
      return response;
    }
    response.release();
    response.release();
    return null;
  }

  /**
   * A response that stays on the disk, for the requests that wait for it: nobody else finds it.
   * Takes over one lease on it.
   *
   * @param changes what {@link #changes} said before the disk was asked
   * @param unpurgedUpTo the purge up to which it was known not to be purged
   * @return it, with a lease that the caller owns; null if it must not be used
   */
  @Nullable StoredResponse lend(
      CacheKey key, StoredResponse response, long changes, long unpurgedUpTo) {
    response.unpurged(0, unpurgedUpTo);
    response.claimCopy();
    StoredResponse settled = settlement.settled(response);
    boolean isUsable =
        settled != null
            && !DiskCopies.isUnderWay(changes)
            && !DiskCopies.hasSame(peek(key), response)
            && changes(key) == changes;
    if (settled != null && !isUsable) {
      settled.release();
    }
    return isUsable ? settled : null;
  }

  private @Nullable Variants peek(CacheKey key) {
    return settlement.unpurged(key, index.peek(key));
  }
}
