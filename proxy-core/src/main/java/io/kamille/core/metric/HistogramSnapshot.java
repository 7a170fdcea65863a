package io.kamille.core.metric;

/** Durations counted by size, as one or several histograms had them. Immutable; any thread. */
public final class HistogramSnapshot {

  /** Nothing counted. */
  public static final HistogramSnapshot EMPTY =
      new HistogramSnapshot(new long[Histogram.BUCKETS], 0);

  private final long[] counts;
  private final long sumNanos;

  /** Takes ownership of {@code counts}. */
  HistogramSnapshot(long[] counts, long sumNanos) {
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
   * A duration that the share {@code quantile} of all durations does not exceed: the upper bound of
   * its bucket, at most a quarter too long. Zero if nothing was counted.
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
  public HistogramSnapshot plus(HistogramSnapshot other) {
    long[] both = new long[counts.length];
    for (int i = 0; i < both.length; i++) {
      both[i] = counts[i] + other.counts[i];
    }
    return new HistogramSnapshot(both, sumNanos + other.sumNanos);
  }

  /**
   * What was counted since an earlier snapshot of the same histograms. A bucket that had more then
   * counts as zero.
   */
  public HistogramSnapshot since(HistogramSnapshot earlier) {
    long[] rest = new long[counts.length];
    for (int i = 0; i < rest.length; i++) {
      rest[i] = Math.max(0, counts[i] - earlier.counts[i]);
    }
    return new HistogramSnapshot(rest, Math.max(0, sumNanos - earlier.sumNanos));
  }
}
