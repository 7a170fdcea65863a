package io.kamille.admin.tuning;

/** How often a path loses, by the losses of late. Confined to its estimator. */
final class LossWindow {

  /*
   * The noise of a rate that follows from losses depends on how many there were, not on how long it
   * took: 16 leave about 13 %. So the window reaches back over about 16 losses, and a minute at the
   * most; what is older fades. The laws of congestion control mean loss events, one for each round
   * trip however many segments it cost. Looks tell apart events that lie in different ones: of n
   * looks of which k saw a loss, Poisson gives -n ln(1 - k/n) events. Where most looks see some,
   * the losses themselves count, at most one for each round trip.
   *
   * A short life tells little: until then the client group's rate counts as one loss more, but for
   * no more than a thousand segments, else a group that hardly loses would outweigh every loss.
   */
  private static final double LOSSES = 16;
  private static final double FADE_SECONDS = 60;
  private static final double MOST_TELLING = 0.8;
  private static final double MOST_OF_GROUP = 1000;
  static final double LEAST_EVENTS = 0.25;

  private double segments;
  private double losses;
  private double looks;
  private double looksWithLoss;
  private double timeouts;

  /**
   * Adds what happened between two looks.
   *
   * @param roundTrips how many fitted between them
   */
  void add(long segments, long lost, long timeouts, double seconds, double roundTrips) {
    scale(Math.exp(-seconds / FADE_SECONDS));
    this.timeouts += timeouts;
    this.segments += segments;
    if (segments > 0) {
      looks++;
    }
    if (lost > 0) {
      losses += Math.min((double) lost, Math.max(1, roundTrips));
      looksWithLoss++;
    }
    if (losses > LOSSES) {
      scale(LOSSES / losses);
    }
  }

  private void scale(double part) {
    segments *= part;
    losses *= part;
    looks *= part;
    looksWithLoss *= part;
    timeouts *= part;
  }

  /** Forgets the path. */
  void clear() {
    scale(0);
  }

  /** Loss events within the window. */
  double events() {
    if (looksWithLoss == 0) {
      return 0;
    }
    double share = looksWithLoss / looks;
    return share > MOST_TELLING ? losses : Math.min(losses, -looks * Math.log1p(-share));
  }

  /** Whether it saw a loss that has not faded. */
  boolean hasLost() {
    return events() >= LEAST_EVENTS;
  }

  /** Time-outs per segment. */
  double timeoutRate() {
    return segments > 0 ? timeouts / segments : 0;
  }

  /**
   * Loss events per segment.
   *
   * @param prior that of the client's group
   */
  double eventRate(double prior) {
    double ofGroup = Math.min(1 / prior, MOST_OF_GROUP);
    return (events() + prior * ofGroup) / (segments + ofGroup);
  }
}
