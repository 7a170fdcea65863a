package io.kamille.core.client.open;

import java.util.concurrent.TimeUnit;

/**
 * How long a connection may be idle, given how many are open: as long as configured while they are
 * few, shorter the nearer their count comes to a threshold. Kawai, Kadobayashi and Yamaguchi, 2004
 * (docs/research.md, P1).
 *
 * @param threshold as a share of the limit, more than 0; {@link #OFF} knows none
 */
public record IdleTimeoutGovernor(double threshold) {

  /*
   * With n connections open, a threshold of t, a configured time-out C and a floor F:
   *
   *   time-out = C · (F/C)^(u²),  u = (n − t/2) / (t/2), at least 0 and at most 1
   *
   * It is C up to half the threshold, leaves C without a kink, falls with every connection more,
   * and is F from the threshold on. If connections go idle at r a second and stay so, r · time-out
   * of them are open (Little), and since the time-out falls by orders of magnitude over the second
   * half, the count settles there for every r up to t/F, the nearer to the threshold the greater r
   * is. The square keeps the time-out long over the first part of the fall.
   *
   * The floor is reached at the threshold and not at the limit, because idle connections alone
   * should never take more than the threshold; what lies above is room for exchanges. Time-outs are
   * looked at once a second, so a floor below a second would mean nothing.
   */
  static final long FLOOR_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Always the configured time-out. */
  public static final IdleTimeoutGovernor OFF = new IdleTimeoutGovernor(Double.POSITIVE_INFINITY);

  public IdleTimeoutGovernor {
    if (!(threshold > 0)) {
      throw new IllegalArgumentException("threshold: " + threshold + " (expected: more than 0)");
    }
  }

  /**
   * The time-out now.
   *
   * @param open connections
   * @param limit of connections
   */
  public long idleTimeoutNanos(int open, int limit, long configuredNanos) {
    double half = threshold * limit / 2;
    if (open <= half || configuredNanos <= FLOOR_NANOS) {
      return configuredNanos;
    }
    double nearness = Math.min(1, (open - half) / half);
    double fall = Math.pow((double) FLOOR_NANOS / configuredNanos, nearness * nearness);
    return Math.max(FLOOR_NANOS, (long) (configuredNanos * fall));
  }
}
