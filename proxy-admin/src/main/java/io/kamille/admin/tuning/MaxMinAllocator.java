package io.kamille.admin.tuning;

import java.util.Arrays;

/** Shares a budget among demands, max–min fairly. Pure. */
final class MaxMinAllocator {

  /*
   * Who wants less than an equal part gets what it wants; what it leaves is for the others, and so
   * on. If something is left when all have what they want, it goes to them in proportion to what
   * they want (Terai and others, 2001), up to a ceiling.
   *
   * Nobody gets less than the floor: if that alone is more than the budget, the budget is as much.
   */
  private static final int INDEX_BITS = 20;
  private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;

  /** Keeps the sum of rounded parts within what is shared. */
  private static final double BELOW_ONE = 1 - 1e-12;

  private MaxMinAllocator() {}

  /**
   * Shares {@code budget}; the sum of the parts is never more, but for the floor.
   *
   * @param demands at most 2^20, each at most 2^40
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
    long[] parts = new long[n];
    long left = Math.max(budget, n * floor);
    for (int i = 0; i < n; i++) {
      long part = Math.min(order[i] >> INDEX_BITS, left / (n - i));
      parts[(int) (order[i] & INDEX_MASK)] = part;
      left -= part;
    }
    if (isSatisfied(order, parts)) {
      shareInProportion(order, parts, left, ceiling);
    }
    return parts;
  }

  /** Whether the greatest demand, and so every one, is met. */
  private static boolean isSatisfied(long[] order, long[] parts) {
    int n = order.length;
    return n > 0 && parts[(int) (order[n - 1] & INDEX_MASK)] == order[n - 1] >> INDEX_BITS;
  }

  /** From the greatest on, because those reach the ceiling first. */
  private static void shareInProportion(long[] order, long[] parts, long surplus, long ceiling) {
    long demands = 0;
    for (long part : parts) {
      demands += part;
    }
    double left = surplus;
    double among = demands;
    for (int i = order.length - 1; i >= 0; i--) {
      int at = (int) (order[i] & INDEX_MASK);
      long part = parts[at];
      long more = Math.min((long) (part * (left / among) * BELOW_ONE), ceiling - part);
      parts[at] += more;
      left -= more;
      among -= part;
    }
  }
}
