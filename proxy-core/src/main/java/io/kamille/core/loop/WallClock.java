package io.kamille.core.loop;

/**
 * The time of day and a monotonic count of the machine, read from one place so that tests can move
 * both by hand.
 *
 * <p>Any thread.
 */
public interface WallClock {

  /** Milliseconds since 1970-01-01T00:00:00Z; may jump when the system's clock is set. */
  default long epochMillis() {
    return System.currentTimeMillis();
  }

  /** Nanoseconds since an arbitrary origin; never goes backwards and is only ever subtracted. */
  default long nanos() {
    return System.nanoTime();
  }

  /**
   * Whole seconds since 1970-01-01T00:00:00Z, the resolution of every HTTP date (RFC 9110 §5.6.7).
   */
  default long epochSeconds() {
    return Math.floorDiv(epochMillis(), 1000L);
  }

  /** The clock of the machine. */
  static WallClock system() {
    return new WallClock() {};
  }
}
