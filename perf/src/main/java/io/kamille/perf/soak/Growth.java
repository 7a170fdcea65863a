package io.kamille.perf.soak;

import java.util.ArrayList;
import java.util.List;

/** Whether memory grows, from readings at equal distances. Confined. */
final class Growth {

  /** Fewer readings say nothing: code is still being compiled. */
  private static final int LEAST_READINGS = 120;

  private static final int QUARTERS = 4;

  private final List<Long> readings = new ArrayList<>();

  void add(long bytes) {
    readings.add(bytes);
  }

  boolean isTelling() {
    return readings.size() >= LEAST_READINGS;
  }

  /** From the second quarter to the end, by the line of least squares, in octets. */
  long bytes() {
    int from = readings.size() / QUARTERS;
    int count = readings.size() - from;
    if (count < 2) {
      return 0;
    }
    double meanTime = (count - 1) / 2.0;
    double mean =
        readings.subList(from, readings.size()).stream().mapToLong(r -> r).average().orElse(0);
    double products = 0;
    double squares = 0;
    for (int i = 0; i < count; i++) {
      products += (i - meanTime) * (readings.get(from + i) - mean);
      squares += (i - meanTime) * (i - meanTime);
    }
    return Math.round(products / squares * (count - 1));
  }
}
