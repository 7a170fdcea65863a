package io.kamille.cache.tiers.peak;

/**
 * What is usual: of the disk when it is quiet, of the origins, of requests. Confined to its user.
 */
final class PeakBaseline {

  /*
   * The disk's own time is learnt while hardly more than its threads' reads are about, quickly when
   * it gets shorter and more slowly when it gets longer: the beginning of a peak is not to be taken
   * for what is usual, nor for long what the kernel had kept in memory. Before it is known it is
   * taken for that of a hard disk; below a millisecond nobody feels a difference. Origins that have
   * not been asked for a minute are unknown again.
   */
  private static final double UNKNOWN_READ_NANOS = 10e6;
  private static final double LEAST_READ_NANOS = 1e6;
  private static final double QUIET_QUEUE = 2;
  private static final int LEAST_READS = 4;
  private static final double SHORTER_WEIGHT = 0.5;
  private static final double LONGER_WEIGHT = 0.2;
  private static final double ORIGIN_WEIGHT = 0.25;
  private static final int ORIGIN_WINDOWS = 60;
  private static final int RATE_WINDOWS = 300;
  private static final int LEAST_RATE_WINDOWS = 60;
  private static final double SURGE = 1.5;

  private double readNanos;
  private double originNanos;
  private int windowsWithoutOrigin;
  private double requestsPerSecond;
  private int rateWindows;
  private boolean isSurge;

  /** Takes in what a window shows of origins and requests. */
  void learn(PeakWindow window) {
    learnOrigin(window);
    learnRate(window.requestsPerSecond());
  }

  /** Takes in what a window without evidence of a peak, or of a trial, shows of the disk. */
  void learnDisk(PeakWindow window) {
    if (window.reads() >= LEAST_READS && window.queue() <= QUIET_QUEUE) {
      learnRead(window.meanServiceNanos());
    }
  }

  private void learnRead(double nanos) {
    double weight = nanos < readNanos ? SHORTER_WEIGHT : LONGER_WEIGHT;
    readNanos = readNanos == 0 ? nanos : readNanos + (nanos - readNanos) * weight;
  }

  private void learnOrigin(PeakWindow window) {
    if (window.origins() > 0) {
      double nanos = window.meanOriginNanos();
      originNanos = originNanos == 0 ? nanos : originNanos + (nanos - originNanos) * ORIGIN_WEIGHT;
      windowsWithoutOrigin = 0;
    } else if (++windowsWithoutOrigin >= ORIGIN_WINDOWS) {
      originNanos = 0;
    }
  }

  private void learnRate(double rate) {
    isSurge = rateWindows >= LEAST_RATE_WINDOWS && rate > SURGE * requestsPerSecond;
    rateWindows = Math.min(rateWindows + 1, RATE_WINDOWS);
    requestsPerSecond += (rate - requestsPerSecond) / rateWindows;
  }

  /** What a read takes when the disk is quiet, as far as is known. */
  double quietReadNanos() {
    return readNanos == 0 ? UNKNOWN_READ_NANOS : Math.max(readNanos, LEAST_READ_NANOS);
  }

  /** Whether {@link #quietReadNanos} was measured. */
  boolean knowsQuietRead() {
    return readNanos > 0;
  }

  /** What origins take to begin their answer; 0 while that is unknown. */
  double originNanos() {
    return originNanos;
  }

  /** The mean of the last minutes. */
  double requestsPerSecond() {
    return requestsPerSecond;
  }

  /** Whether far more requests came in the last window than in the last minutes. */
  boolean isSurge() {
    return isSurge;
  }
}
