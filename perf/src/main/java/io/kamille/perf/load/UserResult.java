package io.kamille.perf.load;

import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * What a {@link UserDemand} saw in one run. Every request offered is in {@code latency} or was
 * shed, turned away, timed out or failed.
 *
 * @param nanos that were counted
 * @param counts how many of each kind
 * @param latency in nanoseconds from the intended time to the last octet, of right answers
 * @param lateness in nanoseconds from the intended time to when the client noticed it
 * @param busyRatio how much of the whole run the client had something to do, 0 to 1
 */
public record UserResult(
    long nanos, Map<Count, Long> counts, Histogram latency, Histogram lateness, double busyRatio) {

  /** What is counted. */
  public enum Count {
    /** Requests that came due in that time. */
    OFFERED,
    /** Right answers in that time. */
    GOOD,
    /** Those of them that had to come from the origin. */
    GOOD_FORWARDED,
    /** Requests answered with 503. */
    SHED,
    /** Requests never sent, since the server had asked their user to wait. */
    TURNED_AWAY,
    /** Requests without an answer within the limit. */
    TIMED_OUT,
    /** Requests that were answered wrongly, or whose connection failed. */
    FAILED
  }

  private static final long LATENESS_LIMIT_NANOS = 2_000_000;

  /** How many of that kind. */
  public long of(Count what) {
    return counts.getOrDefault(what, 0L);
  }

  /** Right answers per second. */
  public double goodput() {
    return of(Count.GOOD) * 1e9 / nanos;
  }

  /** Latency that this share of right answers, in per cent, does not exceed. */
  public double latencyMicros(double percentile) {
    return latency.getValueAtPercentile(percentile) / 1e3;
  }

  /** Lateness of the client itself. */
  public double latenessMicros(double percentile) {
    return lateness.getValueAtPercentile(percentile) / 1e3;
  }

  /** Whether the client was kept from its core, so that the numbers say as much about it. */
  public boolean isSaturated() {
    return lateness.getValueAtPercentile(99) > LATENESS_LIMIT_NANOS;
  }
}
