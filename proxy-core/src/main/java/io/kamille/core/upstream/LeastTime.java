package io.kamille.core.upstream;

import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * Draws two origins by weight and takes the one that is expected to answer sooner. Confined to its
 * loop.
 */
final class LeastTime extends OriginChoice {

  /*
   * What is expected is the peak EWMA of Finagle (Twitter, 2013): the time to the head of a
   * response, which follows a rise at once and a fall within seconds, times the requests in flight,
   * one more among them. So an origin that slows down is left at once, and tried again bit by bit.
   * A failure counts as twice the time: to refuse quickly must not look fast.
   */
  private static final double DECAY_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final SplittableRandom random;
  private final double[] meanNanos;
  private final long[] atNanos;

  LeastTime(List<Origin> origins, SplittableRandom random) {
    super(origins);
    this.random = random;
    this.meanNanos = new double[origins.size()];
    this.atNanos = new long[origins.size()];
  }

  @Override
  void answered(int place, long nanos, boolean hasFailed, long nowNanos) {
    double sample = hasFailed ? Math.max((double) nanos, 2 * meanNanos[place]) : nanos;
    double kept = Math.exp((atNanos[place] - nowNanos) / DECAY_NANOS);
    meanNanos[place] =
        sample >= meanNanos[place] ? sample : meanNanos[place] * kept + sample * (1 - kept);
    atNanos[place] = nowNanos;
  }

  @Override
  int pick(int count) {
    int one = draw(random, count);
    int first = candidates[one];
    candidates[one] = candidates[count - 1];
    int second = candidates[draw(random, count - 1)];
    return cost(second) < cost(first) ? second : first;
  }

  private double cost(int place) {
    return meanNanos[place] * (origins[place].inFlight() + 1) / weights[place];
  }
}
