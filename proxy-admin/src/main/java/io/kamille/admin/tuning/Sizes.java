package io.kamille.admin.tuning;

import java.util.Arrays;

/** Which sizes come into force, so that their sum is within the budget at every moment. Pure. */
final class Sizes {

  /*
   * A part changes with every breath of its path, a size only if it would differ by a fifth. So
   * sizes may be larger than their parts: if their sum would be more than the budget, they shrink
   * to their parts at once.
   *
   * A loop takes up what it is told some time later, one loop sooner than another. So a connection
   * counts with the greater of what it was told last and what it was seen to have, and another one
   * grows only into what nobody has: what shrinks in one period is given away in a later one, to
   * those first who have least.
   */
  private static final double HYSTERESIS = 0.2;

  private Sizes() {}

  /**
   * The next sizes.
   *
   * @param told what each was told last
   * @param held what each may hold now: no less than what it was told
   * @param parts what each should have
   * @param roomBytes the budget without what all others hold
   * @param floorBytes what each may have in any case
   */
  static long[] next(long[] told, long[] held, long[] parts, long roomBytes, long floorBytes) {
    long[] next = settled(told, parts, roomBytes);
    long free = roomBytes;
    for (int i = 0; i < next.length; i++) {
      free -= Math.max(held[i], Math.min(next[i], floorBytes));
    }
    for (int i : byPoverty(held)) {
      if (next[i] > held[i]) {
        long least = Math.clamp(floorBytes, held[i], next[i]);
        long grown = Math.clamp(least + Math.max(free, 0), least, next[i]);
        next[i] = grown == next[i] || !isAlike(told[i], grown) ? grown : Math.max(told[i], least);
        free -= next[i] - least;
      }
    }
    return next;
  }

  /** Whoever would hardly change keeps what it has, unless all of them together have too much. */
  private static long[] settled(long[] told, long[] parts, long roomBytes) {
    long[] next = new long[parts.length];
    long sum = 0;
    for (int i = 0; i < parts.length; i++) {
      next[i] = isAlike(told[i], parts[i]) ? told[i] : parts[i];
      sum += next[i];
    }
    if (sum > roomBytes) {
      Arrays.setAll(next, i -> Math.min(next[i], parts[i]));
    }
    return next;
  }

  private static boolean isAlike(long present, long next) {
    return present > 0 && Math.abs(next - present) <= HYSTERESIS * present;
  }

  private static int[] byPoverty(long[] held) {
    long[] order = new long[held.length];
    for (int i = 0; i < held.length; i++) {
      order[i] = held[i] << Integer.SIZE | i;
    }
    Arrays.sort(order);
    return Arrays.stream(order).mapToInt(each -> (int) each).toArray();
  }
}
