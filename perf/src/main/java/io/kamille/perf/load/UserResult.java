package io.kamille.perf.load;

import org.HdrHistogram.Histogram;

/**
 * What a {@link UserDemand} saw in one run. Every request offered is in {@code latency} or one of
 * {@code shed}, {@code turnedAway}, {@code timedOut} and {@code failed}.
 *
 * @param nanos that were counted
 * @param offered requests that came due in that time
 * @param good right answers in that time
 * @param goodForwarded those of them that had to come from the origin
 * @param shed requests answered with 503
 * @param turnedAway requests never sent, since the server had asked their user to wait
 * @param timedOut requests without an answer within the limit
 * @param failed requests that were answered wrongly, or whose connection failed
 * @param latency in nanoseconds from the intended time to the last octet, of right answers
 * @param lateness in nanoseconds from the intended time to when the client noticed it
 * @param busyRatio how much of the whole run the client had something to do, 0 to 1
 */
public record UserResult(
    long nanos,
    long offered,
    long good,
    long goodForwarded,
    long shed,
    long turnedAway,
    long timedOut,
    long failed,
    Histogram latency,
    Histogram lateness,
    double busyRatio) {

  private static final long LATENESS_LIMIT_NANOS = 2_000_000;

  /** Right answers per second. */
  public double goodput() {
    return good * 1e9 / nanos;
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
