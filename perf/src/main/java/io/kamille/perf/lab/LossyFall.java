package io.kamille.perf.lab;

/**
 * How much of its replies a server loses to the loss of packets, at one rate.
 *
 * @param clean without loss
 * @param lossy with it, on a path that is else the same
 */
record LossyFall(LossyPoint clean, LossyPoint lossy) {

  /** The best of the paper's servers. */
  static final double GOAL = 0.12;

  private static final double SUSTAINED_SHARE = 0.95;

  /** The part of the reply rate that is gone, 0 to 1; less than 0 if there is more with loss. */
  double share() {
    return clean.answeredShare() == 0 ? 0 : 1 - lossy.answeredShare() / clean.answeredShare();
  }

  /**
   * Whether it says something about the server: without loss it answers what it is asked, and
   * neither client nor emulator was at its limit.
   */
  boolean isSustainable() {
    return clean.answeredShare() >= SUSTAINED_SHARE
        && clean.failed() == 0
        && !clean.isDisturbed()
        && !lossy.isDisturbed();
  }
}
