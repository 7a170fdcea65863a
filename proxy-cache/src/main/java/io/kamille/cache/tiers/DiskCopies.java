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
   * What changes under a key changes in memory first, then on the disk, and both are one change,
   * which is counted per stripe of keys: as under way before, and as made behind. A copy is made,
   * or taken back into memory, only if no change was under way at the look at the place it comes
   * from, nor has begun when it becomes visible in the other; and no change comes between that
   * second look and its becoming visible, since the index makes both one step. So either the change
   * comes later, and meets the copy, or the copy is given up.
   *
   * A purge by tag, prefix or host counts nothing. A copy bears the number of the purge up to which
   * it was known to be unpurged, and is compared with later ones when it is read.
   */
  private static final long UNDER_WAY = 1L << 40;
  private static final long BEGIN = UNDER_WAY + 1;
  private static final long END = 1 - UNDER_WAY;

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

  /** How many changes were begun or made, and above {@link #UNDER_WAY} how many are under way. */
  private final ChangeStripes changes = new ChangeStripes();

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

  /** Whether there may be a copy under that key, also if the tier is closed. */
  boolean mayHaveHad(CacheKey key) {
    return disk.mayHaveHad(key);
  }

  /** When requests leave the disk alone. */
  public PeakWatch peak() {
    return peak;
  }

  /** What has changed under that key, or under others of its stripe, and changes now. */
  long changes(CacheKey key) {
    return changes.of(key);
  }

  /** Whether something changed at that moment, so that nothing could be concluded from it. */
  static boolean isUnderWay(long changes) {
    return changes >= UNDER_WAY;
  }

  /** Whether there seems to be a copy under that key. Takes no lock, allocates nothing. */
  public boolean mayHave(CacheKey key) {
    return disk.count(key) > 0;
  }

  /** How many copies there seem to be. */
  int count(CacheKey key) {
    return disk.count(key);
  }

  // What changes in memory

  /** A change under that key begins, in memory and here. */
  void begin(CacheKey key) {
    changes.add(key, BEGIN);
  }

  /** The change is made. */
  void end(CacheKey key) {
    changes.add(key, END);
  }

  /** A change of everything begins. */
  void beginAll() {
    changes.addToAll(BEGIN);
  }

  /** The change of everything is made. */
  void endAll() {
    changes.addToAll(END);
  }

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

  /** Part of a change of everything. */
  void clear() {
    disk.clear();
  }

  /** A response was stored. Borrows both. */
  void stored(CacheKey key, StoredResponse response, MemoryIndex index) {
    if (admission == Admission.ALWAYS && peak.mayWrite() && response.claimCopy()) {
      offer(key, response, index);
    }
  }

  // Copies

  /**
   * A response was asked for again. Has it written if that is due. Borrows both; the caller holds a
   * lease.
   */
  void asked(CacheKey key, StoredResponse response, MemoryIndex index, long nowEpochSeconds) {
    if (response.isCopied() && (!isTimeToTouch(response.hits()) || disk.touch(key))) {
      return;
    }
    boolean isGone = response.isCopied();
    if (response.facts().ttlSeconds(nowEpochSeconds) >= LEAST_SECONDS
        && peak.mayWrite()
        && (isGone || response.claimCopy())) {
      offer(key, response, index);
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
  boolean copy(CacheKey key, StoredResponse response, MemoryIndex index) {
    if (!disk.touch(key)) {
      response.unclaimCopy();
    }
    return !response.claimCopy() || !isIn(index, key, response) || offer(key, response, index);
  }

  /** The caller holds a lease, and has claimed the copy. */
  @CanIgnoreReturnValue
  private boolean offer(CacheKey key, StoredResponse response, MemoryIndex index) {
    long before = changes(key);
    boolean isWritten =
        !isUnderWay(before) && isIn(index, key, response) && write(key, response, before);
    if (!isWritten) {
      response.unclaimCopy();
    }
    return isWritten;
  }

  private boolean write(CacheKey key, StoredResponse response, long before) {
    int stripe = ChangeStripes.stripe(key);
    response.retain();
    return disk.offer(key, response, response.unpurgedUpTo(), () -> changes.of(stripe) == before);
  }

  private static boolean isIn(MemoryIndex index, CacheKey key, StoredResponse response) {
    Variants variants = index.peek(key);
    return variants != null && variants.contains(response);
  }

  /** Runs {@code action} when what was removed and purged before holds after a kill, too. */
  void whenWritten(Runnable action) {
    disk.whenWritten(action);
  }
}
