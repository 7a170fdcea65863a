package io.kamille.cache.memory;

import java.util.Arrays;

/** Neighbouring slabs that share a lock, and which of their granules are free. Any thread. */
final class Shard {

  /*
   * Slabs hang in 1,025 doubly linked lists by the exact length of their longest free run, so the
   * slab that fits a request best is found by one look at a bitmap of non-empty lists. Taking and
   * giving touch one slab's sixteen longs and two lists: some hundred nanoseconds under the monitor,
   * and whole slabs at most BATCH_SLABS at a time, so that no loop waits long for another.
   *
   * Slab numbers inside are counted from the shard's first; blocks count from the arena's start.
   */

  static final int BATCH_SLABS = 64;

  private static final int NO_SLAB = -1;

  private final long firstGranule;
  private final int slabs;
  private final long[] map;
  private final short[] longest;
  private final int[] next;
  private final int[] previous;
  private final int[] heads = new int[Slab.GRANULES + 1];
  private final long[] occupied = new long[Slab.GRANULES / Long.SIZE + 1];

  /** Volatile because others look at it without the monitor, to choose a shard; it is a hint. */
  private volatile int longestRun;

  Shard(long firstSlab, int slabs) {
    this.firstGranule = firstSlab * Slab.GRANULES;
    this.slabs = slabs;
    this.map = new long[slabs * Slab.WORDS];
    this.longest = new short[slabs];
    this.next = new int[slabs];
    this.previous = new int[slabs];
    Arrays.fill(map, -1L);
    Arrays.fill(longest, (short) Slab.GRANULES);
    Arrays.fill(heads, NO_SLAB);
    for (int slab = slabs - 1; slab >= 0; slab--) {
      link(slab, Slab.GRANULES);
    }
    longestRun = Slab.GRANULES;
  }

  /** The longest free run inside one slab, in granules, as it was a moment ago. */
  int longestRun() {
    return longestRun;
  }

  /**
   * Takes {@code granules} (at most a slab's) in one run from the slab whose longest run fits them
   * best. Where no run is long enough the longest is taken whole; {@link Block#NONE} if all is
   * used.
   */
  synchronized long takeRun(int granules) {
    int run = shortestRunFrom(granules);
    if (run == 0) {
      run = longestRun;
      if (run == 0) {
        return Block.NONE;
      }
    }
    int slab = heads[run];
    int taken = Math.min(run, granules);
    int from = Slab.bestFit(map, slab * Slab.WORDS, taken);
    return take(slab, from, taken);
  }

  /**
   * Takes as many neighbouring free slabs as there are, at most {@code wanted} and at most {@link
   * #BATCH_SLABS}, beginning at the granule {@code preferred} if that slab is free. {@link
   * Block#NONE} if no slab is free.
   */
  synchronized long takeSlabs(long wanted, long preferred) {
    int limit = (int) Math.min(wanted, BATCH_SLABS);
    int first = preferredSlab(preferred);
    if (first == NO_SLAB) {
      first = heads[Slab.GRANULES];
      if (first == NO_SLAB) {
        return Block.NONE;
      }
      int lowest = Math.max(0, first - limit + 1);
      while (first > lowest && longest[first - 1] == Slab.GRANULES) {
        first--;
      }
    }
    int end = first;
    while (end < slabs && end - first < limit && longest[end] == Slab.GRANULES) {
      take(end, 0, Slab.GRANULES);
      end++;
    }
    return Block.of(
        firstGranule + (long) first * Slab.GRANULES, (long) Slab.GRANULES * (end - first));
  }

  /** Takes at most {@code wanted} granules from {@code granule} on, up to the slab's end. */
  synchronized int takeFrom(long granule, long wanted) {
    int index = (int) (granule - firstGranule);
    int slab = index / Slab.GRANULES;
    int from = index % Slab.GRANULES;
    int taken = (int) Math.min(wanted, Slab.freeFrom(map, slab * Slab.WORDS, from));
    if (taken > 0) {
      take(slab, from, taken);
    }
    return taken;
  }

  /** Gives granules back: at most {@link #BATCH_SLABS} slabs' worth, all in this shard. */
  synchronized void give(long granule, int granules) {
    int index = (int) (granule - firstGranule);
    int end = index + granules;
    while (index < end) {
      int slab = index / Slab.GRANULES;
      int from = index % Slab.GRANULES;
      int given = Math.min(Slab.GRANULES - from, end - index);
      Slab.give(map, slab * Slab.WORDS, from, given);
      relink(slab, Slab.longestRun(map, slab * Slab.WORDS));
      index += given;
    }
  }

  private long take(int slab, int from, int granules) {
    Slab.take(map, slab * Slab.WORDS, from, granules);
    relink(slab, Slab.longestRun(map, slab * Slab.WORDS));
    return Block.of(firstGranule + (long) slab * Slab.GRANULES + from, granules);
  }

  private int preferredSlab(long granule) {
    long slab = Math.floorDiv(granule - firstGranule, Slab.GRANULES);
    boolean begins = granule % Slab.GRANULES == 0;
    return begins && slab >= 0 && slab < slabs && longest[(int) slab] == Slab.GRANULES
        ? (int) slab
        : NO_SLAB;
  }

  private void relink(int slab, int run) {
    if (run == longest[slab]) {
      return;
    }
    unlink(slab, longest[slab]);
    longest[slab] = (short) run;
    link(slab, run);
    int longestNow = longestOccupied();
    if (longestNow != longestRun) {
      longestRun = longestNow;
    }
  }

  private void link(int slab, int run) {
    int head = heads[run];
    next[slab] = head;
    previous[slab] = NO_SLAB;
    if (head != NO_SLAB) {
      previous[head] = slab;
    }
    heads[run] = slab;
    occupied[run / Long.SIZE] |= 1L << run;
  }

  private void unlink(int slab, int run) {
    int before = previous[slab];
    int after = next[slab];
    if (after != NO_SLAB) {
      previous[after] = before;
    }
    if (before != NO_SLAB) {
      next[before] = after;
      return;
    }
    heads[run] = after;
    if (after == NO_SLAB) {
      occupied[run / Long.SIZE] &= ~(1L << run);
    }
  }

  /** The shortest length of at least {@code granules} for which there is a slab; 0 if none. */
  private int shortestRunFrom(int granules) {
    int word = granules / Long.SIZE;
    long bits = occupied[word] & (-1L << granules);
    while (bits == 0) {
      if (++word == occupied.length) {
        return 0;
      }
      bits = occupied[word];
    }
    return word * Long.SIZE + Long.numberOfTrailingZeros(bits);
  }

  private int longestOccupied() {
    for (int word = occupied.length - 1; word >= 0; word--) {
      if (occupied[word] != 0) {
        return word * Long.SIZE + Long.SIZE - 1 - Long.numberOfLeadingZeros(occupied[word]);
      }
    }
    return 0;
  }
}
