package io.kamille.launcher.sizing;

/**
 * What a request costs by the length of its response: a straight line between two that were
 * measured, no less than the small one, and in proportion beyond the large one.
 *
 * @param small of a response of {@link #SMALL_BYTES}
 * @param large of a response of {@link #LARGE_BYTES}
 */
public record CostBySize(Cost small, Cost large) {

  static final int SMALL_BYTES = 1 << 10;
  static final int LARGE_BYTES = 256 << 10;

  /** The cost of a response with content of that length. */
  Cost at(long bytes) {
    if (bytes >= LARGE_BYTES) {
      return large.times((double) bytes / LARGE_BYTES);
    }
    double share = Math.max(0, (double) (bytes - SMALL_BYTES) / (LARGE_BYTES - SMALL_BYTES));
    return small.times(1 - share).plus(large.times(share));
  }
}
