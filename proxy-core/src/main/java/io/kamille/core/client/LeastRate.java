package io.kamille.core.client;

/** Whether octets move at a least rate, to a client or from it. Confined to its loop. */
public final class LeastRate {

  /*
   * Time is cut into windows as long as the grace period, and in each as many octets must move as
   * the least rate makes of it. What moved before gives no credit: otherwise whoever moves the
   * first megabyte quickly could take an hour over the next kilobyte, and a time-out that begins
   * anew with every octet bounds nothing. Time in which we do not let them move does not count.
   */
  private static final double NANOS_PER_SECOND = 1e9;

  private long startNanos;
  private long movedBefore;
  private long heldSinceNanos;
  private boolean held;

  /**
   * The first window begins.
   *
   * @param moved octets that have moved in all
   */
  public LeastRate(long nowNanos, long moved) {
    startNanos = nowNanos;
    movedBefore = moved;
  }

  /** Nothing can move for now. */
  public void hold(long nowNanos) {
    if (!held) {
      held = true;
      heldSinceNanos = nowNanos;
    }
  }

  /** They can move again. */
  public void release(long nowNanos) {
    if (held) {
      held = false;
      startNanos += nowNanos - heldSinceNanos;
    }
  }

  /** Whether a window is over. */
  public boolean isDue(long nowNanos, long graceNanos) {
    return !held && nowNanos - startNanos >= graceNanos;
  }

  /**
   * If a window is over, the next begins.
   *
   * @param moved octets that have moved in all
   * @param bytesPerSecond the least rate; 0 for none
   * @return whether too few moved in the window that is over
   */
  public boolean isTooSlow(long nowNanos, long moved, long graceNanos, long bytesPerSecond) {
    if (!isDue(nowNanos, graceNanos)) {
      return false;
    }
    boolean tooSlow = moved - movedBefore < graceNanos / NANOS_PER_SECOND * bytesPerSecond;
    startNanos = nowNanos;
    movedBefore = moved;
    return tooSlow;
  }
}
