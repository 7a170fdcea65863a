package io.kamille.cache.disk;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Which records of a segment were read whole, with every checksum right, so that they need not be
 * read again before they are sent. Any thread.
 */
final class ProvenRecords {

  /*
   * One bit for each 64 KiB of the largest segment: two records that long cannot begin in the same
   * 64 KiB. Shorter ones are not remembered; reading them again costs little.
   */
  private static final int UNIT_SHIFT = 16;
  private static final int UNITS = Extent.SEGMENT_BYTES_LIMIT >> UNIT_SHIFT;

  private final AtomicLongArray bits = new AtomicLongArray(UNITS / Long.SIZE);

  /** Whether that record was found right. */
  boolean has(Extent extent) {
    int unit = extent.offset() >> UNIT_SHIFT;
    return isLong(extent) && (bits.get(unit / Long.SIZE) & 1L << unit) != 0;
  }

  /** That record was found right. */
  void add(Extent extent) {
    if (isLong(extent)) {
      int unit = extent.offset() >> UNIT_SHIFT;
      bits.getAndAccumulate(unit / Long.SIZE, 1L << unit, (before, bit) -> before | bit);
    }
  }

  private static boolean isLong(Extent extent) {
    return extent.length() >= 1 << UNIT_SHIFT;
  }
}
