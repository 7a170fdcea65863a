package io.kamille.core.server.h1;

/** How fast a client takes what waits for it, while something waits. Confined to its loop. */
final class DownloadPace {

  /*
   * Time is cut into windows as long as the grace period, and in each the client must take what the
   * least rate makes of it. What it took before gives no credit: otherwise whoever reads the first
   * megabyte quickly could take an hour over the next kilobyte. The first window begins with the
   * first look; once all has been taken, there is nothing to look at, and the next wait begins anew.
   */
  private static final double NANOS_PER_SECOND = 1e9;

  private long startNanos;
  private long takenBefore;
  private boolean begun;

  /** Whether a window is over, or the first has not begun: then it is time for a look. */
  boolean isDue(long nowNanos, long graceNanos) {
    return !begun || nowNanos - startNanos >= graceNanos;
  }

  /**
   * A look when one is due: ends a window, if one had begun, and begins the next.
   *
   * @param taken octets that the client has taken in all
   * @param bytesPerSecond the least rate
   * @return whether the client took too little in the window that is over
   */
  boolean isTooSlow(long nowNanos, long taken, long graceNanos, long bytesPerSecond) {
    double least = graceNanos / NANOS_PER_SECOND * bytesPerSecond;
    boolean tooSlow = begun && taken - takenBefore < least;
    begun = true;
    startNanos = nowNanos;
    takenBefore = taken;
    return tooSlow;
  }
}
