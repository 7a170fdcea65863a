package io.kamille.core.metric;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Durations counted by size, with one writer, usually a loop; other amounts in whole numbers of
 * their unit ({@link MetricDescriptor#parts}). Confined to its writer; {@link #snapshot} any
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
  public Snapshot snapshot() {
    long[] counts = new long[BUCKETS];
    for (int i = 0; i < BUCKETS; i++) {
      counts[i] = (long) CELL.getOpaque(cells, FIRST + i);
    }
    return new Snapshot(counts, sumNanos());
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

  /** Durations counted by size, as one or several histograms had them. Immutable; any thread. */
  public static final class Snapshot {

    /** Nothing counted. */
    public static final Snapshot EMPTY = new Snapshot(new long[Histogram.BUCKETS], 0);

    private final long[] counts;
    private final long sumNanos;

    /** Takes ownership of {@code counts}. */
    Snapshot(long[] counts, long sumNanos) {
      this.counts = counts;
      this.sumNanos = sumNanos;
    }

    /** How many buckets there are; the last one has no upper bound. */
    public int buckets() {
      return counts.length;
    }

    /** How many durations lie in a bucket. */
    public long count(int bucket) {
      return counts[bucket];
    }

    /** The greatest duration that a bucket holds; {@link Long#MAX_VALUE} for the last. */
    public long upperBoundNanos(int bucket) {
      return Histogram.upperBoundNanos(bucket);
    }

    /** How many durations were counted. */
    public long count() {
      long count = 0;
      for (long each : counts) {
        count += each;
      }
      return count;
    }

    /** All durations together. */
    public long sumNanos() {
      return sumNanos;
    }

    /**
     * A duration that the share {@code quantile} of all durations does not exceed: the upper bound
     * of its bucket, at most a quarter too long. Zero if nothing was counted.
     *
     * @param quantile between 0 and 1
     */
    public long quantileNanos(double quantile) {
      long rank = (long) Math.ceil(quantile * count());
      long seen = 0;
      for (int i = 0; i < counts.length; i++) {
        seen += counts[i];
        if (seen >= rank && seen > 0) {
          return upperBoundNanos(i);
        }
      }
      return 0;
    }

    /** Both together. */
    public Snapshot plus(Snapshot other) {
      long[] both = new long[counts.length];
      for (int i = 0; i < both.length; i++) {
        both[i] = counts[i] + other.counts[i];
      }
      return new Snapshot(both, sumNanos + other.sumNanos);
    }

    /**
     * What was counted since an earlier snapshot of the same histograms. A bucket that had more
     * then counts as zero.
     */
    public Snapshot since(Snapshot earlier) {
      long[] rest = new long[counts.length];
      for (int i = 0; i < rest.length; i++) {
        rest[i] = Math.max(0, counts[i] - earlier.counts[i]);
      }
      return new Snapshot(rest, Math.max(0, sumNanos - earlier.sumNanos));
    }
  }
}
