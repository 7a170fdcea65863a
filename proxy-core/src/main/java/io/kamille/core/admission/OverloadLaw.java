package io.kamille.core.admission;

/**
 * Which share of its requests a loop sheds, by how late it is. Pure; confined to one thread.
 *
 * <p>The share goes from 0 to almost 2: up to 1 it is that of the requests to be forwarded, and
 * what is over 1 is that of all others.
 */
final class OverloadLaw {

  /*
   * A controller in velocity form with a proportional and an integral term. What it controls is the
   * least delay of a window, as in CoDel (Nichols, Jacobson, "Controlling queue delay", 2012): a
   * burst passes, a standing queue does not. CoDel itself drops more and more often until the queue
   * is gone, which is made for senders that halve their rate; clients that are shed are silent for a
   * second and then ask as before, so the share has to settle.
   */
  static final double MOST = 1.95;

  private static final double INTEGRAL_GAIN = 0.03;
  private static final double PROPORTIONAL_GAIN = 0.1;

  private final long targetNanos;
  private double share;
  private double lastError;

  OverloadLaw(long targetNanos) {
    this.targetNanos = targetNanos;
  }

  long targetNanos() {
    return targetNanos;
  }

  double share() {
    return share;
  }

  /** A window is over; {@code leastNanos} is the least delay of its turns. */
  void window(long leastNanos) {
    double error = Math.clamp((double) (leastNanos - targetNanos) / targetNanos, -1, 2);
    double step = INTEGRAL_GAIN * error + PROPORTIONAL_GAIN * (error - lastError);
    share = Math.clamp(share + step, 0, MOST);
    lastError = error;
  }
}
