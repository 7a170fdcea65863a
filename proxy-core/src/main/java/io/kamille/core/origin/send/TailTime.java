package io.kamille.core.origin.send;

import java.util.concurrent.TimeUnit;

/**
 * The time within which 19 of 20 requests have the head of their response at present. Confined to
 * its loop.
 */
final class TailTime {

  /*
   * A request that takes longer raises the time, any other lowers it by a nineteenth of that: the
   * two balance where one in twenty takes longer. So it follows a slower or faster upstream within
   * some tens of requests, and keeps no samples.
   */
  private static final double RISE = 1.095;
  private static final double FALL = 0.995;
  private static final double LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final double MOST_NANOS = TimeUnit.MINUTES.toNanos(1);

  private double nanos;

  /** What it is now; 0 before the first sample. */
  long nanos() {
    return (long) nanos;
  }

  /** A request had its head after so long. */
  void sample(long taken) {
    if (nanos == 0) {
      nanos = Math.clamp(2.0 * taken, LEAST_NANOS, MOST_NANOS);
    } else if (taken > nanos) {
      late();
    } else {
      nanos = Math.max(nanos * FALL, LEAST_NANOS);
    }
  }

  /** A request took longer than the time now is; nobody knows how long. */
  void late() {
    nanos = Math.min(nanos * RISE, MOST_NANOS);
  }
}
