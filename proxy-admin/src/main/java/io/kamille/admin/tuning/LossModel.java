package io.kamille.admin.tuning;

import io.kamille.core.socket.CongestionControl;

/** How large a sender's window is on average, given how often its path loses. Pure. */
final class LossModel {

  /*
   * Fitted to Reno and CUBIC as Linux has them today. SACK, RACK and TLP leave hardly any
   * retransmission time-out, so none is in it: those that the kernel counts come on top.
   */
  private static final double BLEND = 5.5;

  private LossModel() {}

  /**
   * The mean window in segments.
   *
   * @param p loss events per segment, over 0 and below 1
   */
  static double segments(CongestionControl control, double p, double rttSeconds) {
    if (control == CongestionControl.RENO) {
      return 1.31 / Math.sqrt(p) - 0.5;
    }
    double reno = 1.24 / Math.sqrt(p) - 0.8;
    double cubic = 1.2 * Math.pow(rttSeconds / p, 0.75);
    return Math.pow(Math.pow(Math.max(reno, 0), BLEND) + Math.pow(cubic, BLEND), 1 / BLEND);
  }
}
