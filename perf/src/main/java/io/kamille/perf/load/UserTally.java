package io.kamille.perf.load;

import io.kamille.perf.load.UserResult.Count;
import java.util.EnumMap;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * Counts what becomes of what users want. Those count that came due within a window; the beginning
 * and the rest of a run do not. Confined to the client's thread.
 */
final class UserTally {

  private static final long GREATEST_NANOS = 60_000_000_000L;
  private static final int DIGITS = 3;

  private final long fromNanos;
  private final long toNanos;
  private final Histogram latency = new Histogram(GREATEST_NANOS, DIGITS);
  private final Histogram lateness = new Histogram(GREATEST_NANOS, DIGITS);
  private final long[] counts = new long[Count.values().length];

  UserTally(long fromNanos, long toNanos) {
    this.fromNanos = fromNanos;
    this.toNanos = toNanos;
  }

  private boolean isWithin(long nanos) {
    return nanos >= fromNanos && nanos < toNanos;
  }

  /** Counts it if that time is within the window. */
  void count(Count what, long nanos) {
    counts[what.ordinal()] += isWithin(nanos) ? 1 : 0;
  }

  /** The client noticed then what should have been sent before. */
  void noticed(long intendedNanos, long nanos) {
    if (isWithin(intendedNanos)) {
      record(lateness, nanos - intendedNanos);
    }
  }

  /** Goodput is what was answered within the window, whenever it came due. */
  void right(long intendedNanos, long nanos, boolean wasForwarded) {
    count(Count.GOOD, nanos);
    if (wasForwarded) {
      count(Count.GOOD_FORWARDED, nanos);
    }
    if (isWithin(intendedNanos)) {
      record(latency, nanos - intendedNanos);
    }
  }

  private static void record(Histogram histogram, long nanos) {
    histogram.recordValue(Math.clamp(nanos, 0, GREATEST_NANOS));
  }

  /**
   * The result, to be asked for once.
   *
   * @param busyRatio how much of the time the client had something to do
   */
  UserResult result(double busyRatio) {
    Map<Count, Long> counted = new EnumMap<>(Count.class);
    for (Count what : Count.values()) {
      counted.put(what, counts[what.ordinal()]);
    }
    return new UserResult(toNanos - fromNanos, counted, latency, lateness, busyRatio);
  }
}
