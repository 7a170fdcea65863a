package io.kamille.cache.index;

/** How often hashes were seen lately: an estimate, from 0 to 15. Any thread. */
final class FrequencySketch {

  /*
   * A count-min sketch (Cormode, Muthukrishnan 2005) of four counters per hash, four bits each, all
   * in the eight longs of one cache line: row i of a hash is a counter in long 2i or 2i+1. After
   * ten increments per long all counters are halved (Einziger, Friedman, Manes 2017), not at once,
   * which would hold up a loop, but a few lines with each increment.
   *
   * Threads write without a lock. Two that meet in one long may lose an increment, or halve it once
   * more; no counter ever leaves its four bits.
   */
  static final int MAXIMUM = 15;

  private static final int LINE = 8;
  private static final int ROWS = 4;
  private static final int LEAST_LONGS = 64;
  private static final int GREATEST_LONGS = 1 << 27;
  private static final int INCREMENTS_PER_LONG = 10;
  private static final int AGED_PER_INCREMENT = 8 * LINE;
  private static final long HALF = 0x7777777777777777L;

  private final long[] table;
  private long increments;

  /** Where aging has come to; the table's length when it is over. */
  private int aged;

  FrequencySketch(long hashes) {
    table = new long[longsFor(hashes)];
    aged = table.length;
  }

  private static int longsFor(long hashes) {
    long wanted = Math.clamp(hashes, LEAST_LONGS, GREATEST_LONGS);
    return Integer.highestOneBit((int) (wanted - 1)) << 1;
  }

  int frequency(long hash) {
    long mixed = mix(hash);
    int line = line(mixed);
    int least = MAXIMUM;
    for (int row = 0; row < ROWS; row++) {
      long word = table[index(line, mixed, row)];
      least = Math.min(least, (int) (word >>> shift(mixed, row)) & MAXIMUM);
    }
    return least;
  }

  void increment(long hash) {
    long mixed = mix(hash);
    int line = line(mixed);
    for (int row = 0; row < ROWS; row++) {
      int index = index(line, mixed, row);
      int shift = shift(mixed, row);
      long word = table[index];
      if ((word >>> shift & MAXIMUM) != MAXIMUM) {
        table[index] = word + (1L << shift);
      }
    }
    increments++;
    age();
  }

  private void age() {
    if (increments >= (long) INCREMENTS_PER_LONG * table.length) {
      increments = 0;
      age(table.length);
      aged = 0;
    }
    age(Math.min(table.length, aged + AGED_PER_INCREMENT));
  }

  private void age(int end) {
    for (int i = aged; i < end; i++) {
      table[i] = table[i] >>> 1 & HALF;
    }
    aged = end;
  }

  private int line(long mixed) {
    return (int) mixed & (table.length - 1) & -LINE;
  }

  /** A bit of its own chooses between the two longs of a row. */
  private static int index(int line, long mixed, int row) {
    return line + 2 * row + (int) (mixed >>> (32 + 8 * row + 4) & 1);
  }

  /** Four bits of its own choose one of the sixteen counters. */
  private static int shift(long mixed, int row) {
    return (int) (mixed >>> (32 + 8 * row) & MAXIMUM) << 2;
  }

  /** The finalizer of Steele, Lea, Flood 2014 (SplitMix). */
  private static long mix(long hash) {
    long mixed = (hash ^ hash >>> 30) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ mixed >>> 27) * 0x94d049bb133111ebL;
    return mixed ^ mixed >>> 31;
  }
}
