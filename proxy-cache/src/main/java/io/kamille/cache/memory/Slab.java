package io.kamille.cache.memory;

/**
 * The map of free granules of one slab: 1,024 bits in sixteen longs, set where a granule is free.
 */
final class Slab {

  static final int GRANULES = 1024;
  static final int BYTES = GRANULES * Block.GRANULE_BYTES;
  static final int WORDS = GRANULES / Long.SIZE;

  private Slab() {}

  /** Where the first whole slab of a block begins, in octets from the start of the arena. */
  static long beginIn(long block) {
    return beginAtOrAfter(Block.offset(block));
  }

  /** Where the last whole slab of a block ends; at or before {@link #beginIn} if it has none. */
  static long endIn(long block) {
    return endAtOrBefore(Block.offset(block) + Block.bytes(block));
  }

  /** Where the first slab begins that lies at or behind {@code offset}. */
  static long beginAtOrAfter(long offset) {
    return -(-offset & -BYTES);
  }

  /** Where the last slab ends that lies before {@code offset}. */
  static long endAtOrBefore(long offset) {
    return offset & -BYTES;
  }

  /** The length of the longest free run of the slab whose map begins at {@code map[at]}. */
  static int longestRun(long[] map, int at) {
    int longest = 0;
    for (int from = nextFree(map, at, 0); from < GRANULES; ) {
      int end = nextUsed(map, at, from);
      longest = Math.max(longest, end - from);
      from = nextFree(map, at, end);
    }
    return longest;
  }

  /** Where the shortest free run of at least {@code granules} begins; there must be one. */
  static int bestFit(long[] map, int at, int granules) {
    int best = -1;
    int bestLength = GRANULES + 1;
    for (int from = nextFree(map, at, 0); from < GRANULES; ) {
      int end = nextUsed(map, at, from);
      int length = end - from;
      if (length == granules) {
        return from;
      }
      if (length > granules && length < bestLength) {
        best = from;
        bestLength = length;
      }
      from = nextFree(map, at, end);
    }
    if (best < 0) {
      throw new IllegalStateException("granules: " + granules + " (expected: a run that long)");
    }
    return best;
  }

  /** How many granules are free from {@code from} on, without a gap. */
  static int freeFrom(long[] map, int at, int from) {
    return nextUsed(map, at, from) - from;
  }

  /** Marks granules as used; they must be free. */
  static void take(long[] map, int at, int from, int granules) {
    flip(map, at, from, granules, true);
  }

  /** Marks granules as free; they must be used. */
  static void give(long[] map, int at, int from, int granules) {
    flip(map, at, from, granules, false);
  }

  private static void flip(long[] map, int at, int from, int granules, boolean wereFree) {
    int end = from + granules;
    for (int bit = from; bit < end; ) {
      int word = at + bit / Long.SIZE;
      int low = bit % Long.SIZE;
      int count = Math.min(Long.SIZE - low, end - bit);
      long mask = (-1L >>> (Long.SIZE - count)) << low;
      if ((map[word] & mask) != (wereFree ? mask : 0)) {
        throw new IllegalStateException(
            "granules: " + from + " to " + end + " (expected: " + (wereFree ? "free)" : "used)"));
      }
      map[word] ^= mask;
      bit += count;
    }
  }

  private static int nextFree(long[] map, int at, int from) {
    return next(map, at, from, 0);
  }

  private static int nextUsed(long[] map, int at, int from) {
    return next(map, at, from, -1);
  }

  private static int next(long[] map, int at, int from, long inverted) {
    if (from >= GRANULES) {
      return GRANULES;
    }
    int word = from / Long.SIZE;
    long bits = (map[at + word] ^ inverted) & (-1L << from);
    while (bits == 0) {
      if (++word == WORDS) {
        return GRANULES;
      }
      bits = map[at + word] ^ inverted;
    }
    return word * Long.SIZE + Long.numberOfTrailingZeros(bits);
  }
}
