package io.kamille.perf.load;

import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * What an {@link LoadClient} saw in one run. Every request offered is in {@code latency} or in
 * {@code failures}; octets that follow a right response are a failure of their own.
 *
 * @param offered requests that were due
 * @param failures how many failed, by kind; kinds without any are left out
 * @param connects connections that were opened for a request
 * @param plannedNanos for how long requests were due
 * @param answeredInPlan right responses that came by then
 * @param nanos from the beginning until the last one was done with
 * @param busyNanos of them the client itself had something to do
 * @param latency in nanoseconds from the intended send time to the last octet of the response
 * @param hits the same of those that the proxy had stored, by their Cache-Status
 * @param lateness in nanoseconds from the intended send time to when the client noticed it
 */
public record LoadResult(
    long offered,
    Map<LoadFailure, Long> failures,
    long connects,
    long plannedNanos,
    long answeredInPlan,
    long nanos,
    long busyNanos,
    Histogram latency,
    Histogram hits,
    Histogram lateness) {

  private static final double BUSY_LIMIT = 0.95;
  private static final long LATENESS_LIMIT_NANOS = 1_000_000;
  private static final double NANOS_PER_SECOND = 1e9;

  /** Requests answered rightly. */
  public long completed() {
    return latency.getTotalCount();
  }

  public long failed() {
    return failures.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Right responses per second of the planned time: a late last one changes nothing. */
  public double ratePerSecond() {
    return plannedNanos == 0 ? 0 : answeredInPlan * NANOS_PER_SECOND / plannedNanos;
  }

  /** Latency that this share of the requests, in per cent, does not exceed. */
  public double latencyMicros(double percentile) {
    return latency.getValueAtPercentile(percentile) / 1e3;
  }

  /** Lateness that this share of the requests, in per cent, does not exceed. */
  public double latenessMicros(double percentile) {
    return lateness.getValueAtPercentile(percentile) / 1e3;
  }

  /** How much of the time the client had something to do, 0 to 1. */
  public double busyRatio() {
    return nanos == 0 ? 0 : (double) busyNanos / nanos;
  }

  /**
   * Whether the client was at its own limit or was kept from its core, so that the numbers say as
   * much about it as about the server.
   */
  public boolean isSaturated() {
    return busyRatio() > BUSY_LIMIT || lateness.getValueAtPercentile(99) > LATENESS_LIMIT_NANOS;
  }
}
