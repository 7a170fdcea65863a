package io.kamille.cache.tiers;

import io.kamille.cache.disk.DiskTier;
import io.kamille.cache.disk.Extent;
import io.kamille.cache.disk.RecordSink;
import io.kamille.cache.disk.StoredHead;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.store.StoredResponse;
import io.netty.buffer.ByteBuf;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/** One copy on its way from the disk into memory. Confined to the thread that reads. */
final class Promotion implements RecordSink {

  private final Store store;
  private final CacheKey key;
  private final long changes;
  private final int home;
  private final BiPredicate<StoredHead, Integer> isWanted;
  private @Nullable Reservation reservation;
  private @Nullable StoredHead head;
  private long unpurgedUpTo;
  private boolean isWithoutMemory;
  private boolean isBroken;

  /**
   * A promotion that has not begun.
   *
   * @param key kept
   * @param changes what {@link Store#changes} said before the disk was asked
   * @param home the number of the loop whose part of memory it goes to first
   * @param isWanted asked for what a copy tells before its octets, and the length of its content
   */
  Promotion(
      Store store,
      CacheKey key,
      long changes,
      int home,
      BiPredicate<StoredHead, Integer> isWanted) {
    this.store = store;
    this.key = key;
    this.changes = changes;
    this.home = home;
    this.isWanted = isWanted;
  }

  @Override
  public boolean begin(StoredHead head, long sequence, int contentLength) {
    if (!isWanted.test(head, contentLength)) {
      return false;
    }
    this.head = head;
    this.unpurgedUpTo = sequence;
    reservation = store.reserve(null, (long) head.encoded().length() + contentLength, home);
    isWithoutMemory = reservation == null;
    return reservation != null;
  }

  @Override
  public boolean append(ByteBuf octets) {
    boolean isRoom = reservation != null && reservation.append(octets);
    isWithoutMemory |= !isRoom;
    return isRoom;
  }

  /**
   * Reads it, and makes it visible. Waits for the disk; once.
   *
   * @return the response with a lease that the caller owns; null if it must not be used
   */
  @Nullable StoredResponse from(DiskTier disk, Extent extent) {
    try {
      boolean isProven = disk.read(key, extent, this);
      isBroken = !isProven && reservation != null && !isWithoutMemory;
      Reservation complete = reservation;
      if (!isProven || complete == null || head == null) {
        return null;
      }
      reservation = null;
      return store.promote(key, complete, changes, unpurgedUpTo, head::with);
    } finally {
      if (reservation != null) {
        reservation.abandon();
      }
    }
  }

  /** Whether the copy was wanted and there was room, so that only the disk stood against it. */
  boolean isBroken() {
    return isBroken;
  }

  /** Whether there was no room in memory. */
  boolean isWithoutMemory() {
    return isWithoutMemory;
  }
}
