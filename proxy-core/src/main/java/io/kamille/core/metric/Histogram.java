package io.kamille.core.metric;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Durations counted by size, with one writer, usually a loop; other amounts in whole numbers of
 * their unit ({@link MetricDescriptor.Unit#parts}). Confined to its writer; {@link #snapshot} any
 * thread.
 */
public final class Histogram {

  /*
   * Buckets are log-linear: each power of two nanoseconds is split into four equal parts, so that a
   * bucket is at most a quarter wider than its lower bound. They reach from 2^10 ns (1 µs) to 2^37
   * ns (137 s); what is shorter shares the first bucket, what is longer the last. A bucket holds
   * its upper bound and not its lower one, as Prometheus wants it.
   *
   *   bucket 0: (0, 2^10]   1: (2^10, 1.25 * 2^10]   2: (.., 1.5 * 2^10]   ..   109: (2^37, ..)
   *
   * One array holds the sum and the buckets between two cache lines of nothing. Its elements are
   * written as those of Counter; a snapshot is not one moment, but each of its numbers was true.
   */
  static final int LEAST_EXPONENT = 10;
  static final int GREATEST_EXPONENT = 37;
  static final int PARTS_BITS = 2;
  static final int PARTS = 1 << PARTS_BITS;
  static final int BUCKETS = (GREATEST_EXPONENT - LEAST_EXPONENT) * PARTS + 2;

  private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);
  private static final int PADDING = 8;
  private static final int SUM = PADDING;
  private static final int FIRST = SUM + 1;

  private final long[] cells = new long[FIRST + BUCKETS + PADDING];

  Histogram() {}

  /** Counts one duration; a negative one counts as zero. */
  public void record(long nanos) {
    long duration = Math.max(nanos, 0);
    int cell = FIRST + bucket(duration);
    CELL.setOpaque(cells, cell, cells[cell] + 1);
    CELL.setOpaque(cells, SUM, cells[SUM] + duration);
  }

  /** All durations together, in nanoseconds. Any thread. */
  public long sumNanos() {
    return (long) CELL.getOpaque(cells, SUM);
  }

  /** A copy of what was counted so far. Any thread. */
  public HistogramSnapshot snapshot() {
    long[] counts = new long[BUCKETS];
    for (int i = 0; i < BUCKETS; i++) {
      counts[i] = (long) CELL.getOpaque(cells, FIRST + i);
    }
    return new HistogramSnapshot(counts, sumNanos());
  }

  /** The bucket that holds a duration. */
  static int bucket(long nanos) {
    long below = nanos - 1;
    int exponent = Long.SIZE - 1 - Long.numberOfLeadingZeros(below | 1);
    if (nanos == 0 || exponent < LEAST_EXPONENT) {
      return 0;
    }
    if (exponent >= GREATEST_EXPONENT) {
      return BUCKETS - 1;
    }
    int part = (int) (below >>> (exponent - PARTS_BITS)) & (PARTS - 1);
    return 1 + (exponent - LEAST_EXPONENT) * PARTS + part;
  }

  /** The greatest duration that a bucket holds; {@link Long#MAX_VALUE} for the last. */
  static long upperBoundNanos(int bucket) {
    if (bucket == 0) {
      return 1L << LEAST_EXPONENT;
    }
    if (bucket == BUCKETS - 1) {
      return Long.MAX_VALUE;
    }
    int exponent = LEAST_EXPONENT + (bucket - 1) / PARTS;
    int part = (bucket - 1) % PARTS;
    return (long) (PARTS + part + 1) << (exponent - PARTS_BITS);
  }
}
