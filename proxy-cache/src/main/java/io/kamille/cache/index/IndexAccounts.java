package io.kamille.cache.index;

import io.kamille.cache.store.Variants;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What the entries of an index weigh, and what they are charged for the heap they take. Any thread.
 */
final class IndexAccounts {

  /*
   * Weights are counted in units of 64 octets, the arena's granule, so that an int holds any. Each
   * key is charged what it takes on the heap too; that is granted before the key comes in, and
   * given back when it has left.
   */
  static final int UNIT_BYTES = 64;

  private static final int HEAP_BYTES_PER_KEY = 112;

  private final IndexMemory memory;
  private final AtomicLong units = new AtomicLong();
  private final AtomicLong heapUnits = new AtomicLong();

  IndexAccounts(IndexMemory memory) {
    this.memory = memory;
  }

  /** What a key weighs, with what is under it. */
  static int units(Variants variants) {
    long units = Math.ceilDiv(variants.allOccupiedBytes(), UNIT_BYTES) + (long) heapUnits(variants);
    return (int) Math.min(units, Integer.MAX_VALUE);
  }

  /** What a key and what is under it take on the heap, nearly. */
  static int heapUnits(Variants variants) {
    return (int) Math.ceilDiv(HEAP_BYTES_PER_KEY + variants.heapBytes(), UNIT_BYTES);
  }

  /** Asks for that much more of the heap; of less than nothing, all is granted. */
  boolean charge(int moreUnits) {
    return memory.charge((long) moreUnits * UNIT_BYTES);
  }

  /** Gives heap back that was granted. */
  void giveBack(int granted) {
    boolean isGranted = charge(-granted);
    assert isGranted : "less is always granted";
  }

  /** What is under a key has changed. */
  void count(@Nullable Variants before, @Nullable Variants after) {
    units.addAndGet((after == null ? 0L : units(after)) - (before == null ? 0L : units(before)));
    heapUnits.addAndGet(
        (after == null ? 0L : heapUnits(after)) - (before == null ? 0L : heapUnits(before)));
  }

  /** A key has left: ends the leases of what was under it, and what it is charged. */
  void left(Variants last) {
    count(last, null);
    giveBack(heapUnits(last));
    last.releaseExcept(null);
  }

  /** What all entries weigh. */
  long units() {
    return units.get();
  }

  long heapUnits() {
    return heapUnits.get();
  }
}
