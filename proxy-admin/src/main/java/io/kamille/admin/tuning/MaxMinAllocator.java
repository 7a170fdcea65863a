package io.kamille.admin.tuning;

import java.util.Arrays;

/** Shares a budget among demands: equal parts first, the rest in proportion. Pure. */
final class MaxMinAllocator {

  /*
   * After Terai, Okamoto, Hasegawa and Murata, 2001 (docs/research.md, P4), §2.1 (E-ATBT):
   * a demand of an equal part or less is met. Each other demand gets an equal part, and a share of
   * what the met ones leave, in proportion to the demand (§3.1.2). The older ATBT shares that
   * equally. If such a share would exceed a demand, the demand is met and the rest goes on to the
   * larger ones. If all demands are met, the rest goes to all in proportion, up to the ceiling.
   *
   * The paper has two words for the proportion: estimated throughput (§2.1) and demand (§3.1.2). It
   * is the demand here: among equal throughputs, the longer path needs more.
   *
   * In ascending order, one pass finds which demands are met: a met demand takes no more than its
   * proportion, so it leaves the next ones as large a factor or a larger one. All others have the
   * same factor, so equal demands get equal parts, in any order.
   *
   * A demand beyond the ceiling counts as the ceiling: the kernel would not hold the rest.
   *
   * Nobody gets less than the floor: if that alone is more than the budget, the budget is as much.
   */
  private static final int INDEX_BITS = 24;
  private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;

  /** Keeps the sum of rounded parts within what is shared. */
  private static final double BELOW_ONE = 1 - 1e-12;

  private MaxMinAllocator() {}

  /**
   * Shares {@code budget}; the sum of the parts is never more, but for the floor.
   *
   * @param demands at most 2^24
   * @param ceiling at most 2^38
   * @return the parts, in the order of the demands, each from {@code floor} to {@code ceiling}
   */
  static long[] allocate(long[] demands, long budget, long floor, long ceiling) {
    int n = demands.length;
    if (n > INDEX_MASK) {
      throw new IllegalArgumentException(
          "demands: " + n + " (expected: at most " + INDEX_MASK + ")");
    }
    long[] order = new long[n];
    for (int i = 0; i < n; i++) {
      order[i] = Math.clamp(demands[i], floor, ceiling) << INDEX_BITS | i;
    }
    Arrays.sort(order);
    long demanded = 0;
    for (long each : order) {
      demanded += each >> INDEX_BITS;
    }
    long shared = Math.max(budget, n * floor);
    long[] parts = new long[n];
    if (shared < demanded) {
      shareEqually(order, parts, shared, demanded);
    } else {
      shareInProportion(order, parts, shared - demanded, demanded, ceiling);
    }
    return parts;
  }

  /** The budget binds: from the least demand on, because those are met first. */
  private static void shareEqually(long[] order, long[] parts, long budget, long demanded) {
    int n = order.length;
    double equal = (double) budget / n;
    long left = budget;
    long among = demanded;
    double factor = 0;
    boolean isMet = true;
    for (int i = 0; i < n; i++) {
      long demand = order[i] >> INDEX_BITS;
      if (isMet) {
        factor = Math.max(0, left - (n - i) * equal) / among;
        isMet = demand <= equal + factor * demand;
      }
      long part = isMet ? demand : (long) (equal + factor * demand * BELOW_ONE);
      parts[(int) (order[i] & INDEX_MASK)] = part;
      left -= part;
      among -= demand;
    }
  }

  /** Something is left: from the greatest demand on, because those reach the ceiling first. */
  private static void shareInProportion(
      long[] order, long[] parts, long surplus, long demanded, long ceiling) {
    long left = surplus;
    long among = demanded;
    double factor = 0;
    boolean isFull = true;
    for (int i = order.length - 1; i >= 0; i--) {
      long demand = order[i] >> INDEX_BITS;
      if (isFull) {
        factor = 1 + (double) left / among;
        isFull = demand * factor >= ceiling;
      }
      long part = isFull ? ceiling : (long) (demand * factor * BELOW_ONE);
      parts[(int) (order[i] & INDEX_MASK)] = Math.max(demand, part);
      left -= part - demand;
      among -= demand;
    }
  }
}
