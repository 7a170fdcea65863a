package io.kamille.cache.tiers;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.kamille.cache.disk.DiskTier;
import io.kamille.cache.index.MemoryIndex;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.cache.tiers.peak.PeakWatch;

/**
 * The copies of stored responses on a disk, kept in step with what is in memory: which are made,
 * and which must not be used any more. Any thread; no method waits for the disk.
 */
public final class DiskCopies {

  /*
   * What changes under a key is counted: as under way before, and as made behind (KeyChanges). A
   * copy is made,
   * or taken back into memory, only if no change was under way at the look at the place it comes
   * from, nor has begun when it becomes visible in the other; and no change comes between that
   * second look and its becoming visible, since the index makes both one step. So either the change
   * comes later, and meets the copy, or the copy is given up.
   *
   * A purge by tag, prefix or host counts nothing. A copy bears the number of the purge up to which
   * it was known to be unpurged, and is compared with later ones when it is read.
   */
  /**
   * What is written at its second request is fresh for at least so long: a response that changes
   * every few seconds would be written as often, and be stale when it is read.
   */
  static final int LEAST_SECONDS = 60;

  private static final int HITS_PER_TOUCH = 64;
  private static final int FIRST_TOUCH = 8;

  /** Which responses are written. */
  public enum Admission {
    /** What was asked for again after it was stored in memory. */
    SECOND_REQUEST,
    /** Whatever is stored in memory. */
    ALWAYS
  }

  // Volatile: replaced by whoever gives the disk away or takes it back, read by all.
  private volatile DiskTier disk;
  private final Admission admission;
  private final PeakWatch peak;

  /**
   * Copies in that tier, which stays the caller's to close.
   *
   * @param peak says when requests leave it alone; what is removed is removed there in any case
   */
  public DiskCopies(DiskTier disk, Admission admission, PeakWatch peak) {
    this.disk = disk;
    this.admission = admission;
    this.peak = peak;
  }

  /** Copies are in that tier from now on. The one before is closed. */
  public void use(DiskTier next) {
    disk = next;
  }

  /** The tier they are in, which may be closed. */
  public DiskTier disk() {
    return disk;
  }

  /** When requests leave the disk alone. */
  public PeakWatch peak() {
    return peak;
  }

  // What changes in memory

  /** Part of a change: a response has taken the place of others in memory. Borrows both. */
  void replace(CacheKey key, StoredResponse response) {
    disk.replaced(key, response.selecting());
  }

  /** Part of a change: removes what was removed from memory, and says how much there was. */
  int remove(CacheKey key) {
    int count = disk.count(key);
    disk.remove(key, 0);
    return count;
  }

  /** A response was stored. Borrows both. */
  void stored(CacheKey key, StoredResponse response, MemoryIndex index, KeyChanges changes) {
    if (admission == Admission.ALWAYS && peak.mayWrite() && response.claimCopy()) {
      offer(key, response, index, changes);
    }
  }

  // Copies

  /**
   * A response was asked for again. Has it written if that is due. Borrows both; the caller holds a
   * lease.
   */
  void asked(
      CacheKey key,
      StoredResponse response,
      MemoryIndex index,
      KeyChanges changes,
      long nowEpochSeconds) {
    if (response.isCopied() && (!isTimeToTouch(response.hits()) || disk.touch(key))) {
      return;
    }
    boolean isGone = response.isCopied();
    if (response.facts().ttlSeconds(nowEpochSeconds) >= LEAST_SECONDS
        && peak.mayWrite()
        && (isGone || response.claimCopy())) {
      offer(key, response, index, changes);
    }
  }

  /**
   * Whether the disk is to be told that a copy is asked for, by hits in memory: often enough that
   * it is not forgotten as the oldest, rarely enough to cost nothing.
   */
  private static boolean isTimeToTouch(int hits) {
    return hits % HITS_PER_TOUCH == 0 || (hits >= FIRST_TOUCH && Integer.bitCount(hits) == 1);
  }

  /**
   * Has a response written, if nobody has seen to that. Borrows both; the caller holds a lease.
   *
   * @return whether it is, or will be, on the disk, or is not to be found in memory any more
   */
  boolean copy(CacheKey key, StoredResponse response, MemoryIndex index, KeyChanges changes) {
    if (!disk.touch(key)) {
      response.unclaimCopy();
    }
    return !response.claimCopy()
        || !isIn(index, key, response)
        || offer(key, response, index, changes);
  }

  /** The caller holds a lease, and has claimed the copy. */
  @CanIgnoreReturnValue
  private boolean offer(
      CacheKey key, StoredResponse response, MemoryIndex index, KeyChanges changes) {
    int stripe = KeyChanges.stripe(key);
    long before = changes.of(stripe);
    boolean isWritten = !KeyChanges.isUnderWay(before) && isIn(index, key, response);
    if (isWritten) {
      response.retain();
      isWritten =
          disk.offer(key, response, response.unpurgedUpTo(), () -> changes.of(stripe) == before);
    }
    if (!isWritten) {
      response.unclaimCopy();
    }
    return isWritten;
  }

  private static boolean isIn(MemoryIndex index, CacheKey key, StoredResponse response) {
    Variants variants = index.peek(key);
    return variants != null && variants.contains(response);
  }
}
