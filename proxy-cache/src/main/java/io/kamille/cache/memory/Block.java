package io.kamille.cache.memory;

/** Granules of the arena that lie one after another, as one {@code long}. */
final class Block {

  /*
   *  63                        24 23             0
   * ┌────────────────────────────┬────────────────┐
   * │ first granule, 40 bits     │ count, 24 bits │
   * └────────────────────────────┴────────────────┘
   *
   * A granule is 64 octets, a line of the processor's cache: an object wastes half of that on
   * average, and the map of free granules takes a 500th of the memory it describes. A block is less
   * than 1 GiB, so that one ByteBuf can cover it. Blocks are values and never objects: a stored
   * response holds one in a field.
   */

  static final int GRANULE_BYTES = 64;
  static final long GRANULES_LIMIT = (1L << 30) / GRANULE_BYTES - 1;

  /** No block: it holds no granule. */
  static final long NONE = 0;

  private static final int COUNT_BITS = 24;
  private static final long COUNT_MASK = (1L << COUNT_BITS) - 1;

  private Block() {}

  static long of(long firstGranule, long granules) {
    return firstGranule << COUNT_BITS | granules;
  }

  static long firstGranule(long block) {
    return block >>> COUNT_BITS;
  }

  static long granules(long block) {
    return block & COUNT_MASK;
  }

  /** The granule after the last one. */
  static long endGranule(long block) {
    return firstGranule(block) + granules(block);
  }

  /** Where the block begins, in octets from the start of the arena. */
  static long offset(long block) {
    return firstGranule(block) * GRANULE_BYTES;
  }

  static long bytes(long block) {
    return granules(block) * GRANULE_BYTES;
  }

  /** How many granules {@code bytes} octets need. */
  static long granulesFor(long bytes) {
    return (bytes + GRANULE_BYTES - 1) / GRANULE_BYTES;
  }
}
