package io.kamille.perf.load;

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
  private long offered;
  private long good;
  private long goodForwarded;
  private long shed;
  private long turnedAway;
  private long timedOut;
  private long failed;

  UserTally(long fromNanos, long toNanos) {
    this.fromNanos = fromNanos;
    this.toNanos = toNanos;
  }

  private boolean counts(long nanos) {
    return nanos >= fromNanos && nanos < toNanos;
  }

  void offered(long intendedNanos) {
    offered += counts(intendedNanos) ? 1 : 0;
  }

  /** The client noticed then what should have been sent before. */
  void noticed(long intendedNanos, long nanos) {
    if (counts(intendedNanos)) {
      record(lateness, nanos - intendedNanos);
    }
  }

  /** Goodput is what was answered within the window, whenever it came due. */
  void right(long intendedNanos, long nanos, boolean wasForwarded) {
    if (counts(nanos)) {
      good++;
      goodForwarded += wasForwarded ? 1 : 0;
    }
    if (counts(intendedNanos)) {
      record(latency, nanos - intendedNanos);
    }
  }

  private static void record(Histogram histogram, long nanos) {
    histogram.recordValue(Math.clamp(nanos, 0, GREATEST_NANOS));
  }

  void shed(long intendedNanos) {
    shed += counts(intendedNanos) ? 1 : 0;
  }

  void turnedAway(long intendedNanos) {
    turnedAway += counts(intendedNanos) ? 1 : 0;
  }

  void timedOut(long intendedNanos) {
    timedOut += counts(intendedNanos) ? 1 : 0;
  }

  void failed(long intendedNanos) {
    failed += counts(intendedNanos) ? 1 : 0;
  }

  /**
   * The result, to be asked for once.
   *
   * @param busyRatio how much of the time the client had something to do
   */
  UserResult result(double busyRatio) {
    return new UserResult(
        toNanos - fromNanos,
        offered,
        good,
        goodForwarded,
        shed,
        turnedAway,
        timedOut,
        failed,
        latency,
        lateness,
        busyRatio);
  }
}
