package io.kamille.core.origin.pool;

import java.util.concurrent.TimeUnit;

/**
 * How many requests at a time are good for an origin, found out by how long it takes to begin its
 * answers. A pure law but for what it remembers. Confined to its loop.
 */
public final class ConcurrencyLimit {

  /*
   * A server that has enough to do answers more requests at a time no sooner, only later: what is
   * added waits within it. So the limit follows the ratio of the time that a head takes with few
   * requests under way to the time it takes now (the gradient of Netflix's concurrency-limits, Eran
   * Landau and others, 2018; Envoy's adaptive concurrency filter). Window by window:
   *
   *   gradient = tolerance · baseline / mean, at most 1
   *   limit    moves halfway to limit · gradient + √limit
   *
   * The root is room to grow while there is no queue, and what remains of one when there is; until
   * the first sign of one, the room is as much again. Failures that speak of overload take a tenth
   * and leave no room.
   *
   * The baseline moves down with every shorter mean. It moves up only when few requests were under
   * way: their time cannot be of our making. An origin that has become slower for good brings the
   * limit down to those few, where the baseline learns the new time, and up again. An average over
   * all requests, as in the gradient's second version, would follow a queue that grows slowly.
   *
   * While less than half of the limit is used, it says nothing and stays.
   */
  public static final int FEW = 4;
  private static final double TOLERANCE = 1.5;
  private static final double LEAST_GRADIENT = 0.3;
  private static final double ON_FAILURE = 0.9;
  private static final int WINDOW_SAMPLES = 20;
  private static final long WINDOW_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final int most;
  private double limit;
  private double baselineNanos;
  private long sinceNanos;
  private long sumNanos;
  private int samples;
  private int peak;
  private boolean hasFailed;
  private boolean isStarting = true;

  /**
   * Few at first.
   *
   * @param most what the limit never exceeds
   */
  public ConcurrencyLimit(int most) {
    this.most = most;
    this.limit = Math.min(FEW, most);
  }

  /** Requests that may be under way at a time; at least 1. */
  public int limit() {
    return (int) limit;
  }

  /**
   * One request got its answer, or none.
   *
   * @param nanos the time this took
   * @param underWay requests at this moment, this one among them
   * @param isOverload whether it failed in a way that speaks of too much to do
   */
  public void sample(long nanos, int underWay, boolean isOverload, long nowNanos) {
    if (samples == 0) {
      sinceNanos = nowNanos;
    }
    samples++;
    sumNanos += nanos;
    peak = Math.max(peak, underWay);
    hasFailed |= isOverload;
    if (samples >= WINDOW_SAMPLES && nowNanos - sinceNanos >= WINDOW_NANOS) {
      conclude((double) sumNanos / samples);
      samples = 0;
      sumNanos = 0;
      peak = 0;
      hasFailed = false;
    }
  }

  private void conclude(double meanNanos) {
    if (baselineNanos == 0) {
      baselineNanos = meanNanos;
    } else if (meanNanos < baselineNanos || peak <= FEW) {
      baselineNanos += (meanNanos - baselineNanos) / 2;
    }
    if (hasFailed || peak * 2 >= limit()) {
      double next = (limit + target(meanNanos)) / 2;
      limit = Math.clamp(next, Math.min(FEW, most), most);
    }
  }

  private double target(double meanNanos) {
    double gradient = TOLERANCE * baselineNanos / Math.max(meanNanos, 1);
    isStarting &= gradient >= 1 && !hasFailed;
    if (hasFailed) {
      return limit * Math.clamp(gradient, LEAST_GRADIENT, ON_FAILURE);
    }
    double room = isStarting ? limit : Math.sqrt(limit);
    return limit * Math.clamp(gradient, LEAST_GRADIENT, 1) + room;
  }
}
