package io.kamille.perf.load;

import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.IntStream;

/**
 * How fast documents came, by size class: the mean of length ÷ transfer time, as formula (2) of
 * Terai and others (2001) takes it. Confined.
 */
public final class TransferRates {

  /** The classes, each up to four times as long as the one before. */
  public static final List<String> CLASSES =
      List.of("to 4 KiB", "to 16 KiB", "to 64 KiB", "to 256 KiB", "to 1 MiB", "to 4 MiB");

  private static final int LEAST_BYTES = 4 << 10;
  private static final int FACTOR_BITS = 2;

  private final double[] sums = new double[CLASSES.size()];
  private final long[] counts = new long[CLASSES.size()];

  /** Adds a document that came. */
  public void add(int bytes, long nanos) {
    int at = classOf(bytes);
    sums[at] += bytes * 1e9 / Math.max(1, nanos);
    counts[at]++;
  }

  static int classOf(int bytes) {
    return IntStream.range(0, CLASSES.size() - 1)
        .filter(at -> bytes <= LEAST_BYTES << (FACTOR_BITS * at))
        .findFirst()
        .orElse(CLASSES.size() - 1);
  }

  /** The mean rate of a class in octets a second; empty if none of its documents came. */
  public OptionalDouble mean(String sizeClass) {
    int at = CLASSES.indexOf(sizeClass);
    return counts[at] == 0 ? OptionalDouble.empty() : OptionalDouble.of(sums[at] / counts[at]);
  }
}
