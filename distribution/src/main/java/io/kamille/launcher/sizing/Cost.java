package io.kamille.launcher.sizing;

import java.util.Arrays;

/**
 * Processor time of a loop for one request, in microseconds, measured several times.
 *
 * @param median the middle measurement
 */
public record Cost(double least, double median, double greatest) {

  /** Checks. */
  public Cost {
    if (!(0 <= least && least <= median && median <= greatest && greatest < 1e9)) {
      throw new IllegalArgumentException(
          "cost: " + least + ", " + median + ", " + greatest + " (expected: at least 0, in order)");
    }
  }

  /** Of an odd number of measurements. */
  static Cost of(double... micros) {
    double[] sorted = micros.clone();
    Arrays.sort(sorted);
    return new Cost(sorted[0], sorted[sorted.length / 2], sorted[sorted.length - 1]);
  }

  Cost times(double factor) {
    return new Cost(least * factor, median * factor, greatest * factor);
  }

  Cost plus(Cost other) {
    return new Cost(least + other.least, median + other.median, greatest + other.greatest);
  }
}
