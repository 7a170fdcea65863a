package io.kamille.admin.tuning;

/**
 * What the connections of neighbouring clients were like.
 *
 * @param lossEventRate loss events per segment
 * @param bytesPerSecond throughput
 * @param demandBytes what their send buffers should hold
 * @param weight how much there was to learn from, fading; 0 for a group nobody knows
 */
record GroupPrior(double lossEventRate, double bytesPerSecond, double demandBytes, double weight) {

  /** What is assumed of strangers: one loss in 200 segments. */
  static final GroupPrior UNKNOWN = new GroupPrior(0.005, 0, 0, 0);

  private static final double KNOWN = 0.1;

  boolean isKnown() {
    return weight > KNOWN;
  }

  /** With another estimate, whose part is its confidence. */
  GroupPrior with(Estimate estimate) {
    double more = estimate.confidence();
    if (more == 0) {
      return this;
    }
    double all = weight + more;
    return new GroupPrior(
        mean(
            weight == 0 ? estimate.lossEventRate() : lossEventRate,
            estimate.lossEventRate(),
            more / all),
        mean(bytesPerSecond, estimate.bytesPerSecond(), more / all),
        mean(demandBytes, (double) estimate.demandBytes(), more / all),
        all);
  }

  /** After a while. */
  GroupPrior faded(double part) {
    return new GroupPrior(lossEventRate, bytesPerSecond, demandBytes, weight * part);
  }

  private static double mean(double old, double other, double part) {
    return old + part * (other - old);
  }
}
