package io.kamille.core.origin.choose;

import io.kamille.core.origin.Origin;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * Draws two origins by weight and takes the one that is expected to answer sooner. Confined to its
 * loop.
 */
public final class LeastTime extends OriginChoice {

  /*
   * The cost is the peak EWMA of Finagle (Twitter, 2013): the time to the head of a response, which
   * follows a rise at once and a fall within seconds, times the requests in flight, one more among
   * them. An origin that slows down is left at once.
   *
   * The cost decays while the origin is neither asked nor answers. So an origin that was slow gets
   * one request after some seconds, and its full cost again until that one is answered. Finagle
   * lets the cost decay all the time. But in-flight requests are counted over all loops here, and a
   * tunnel stays in flight for hours: their number cannot tell whether a probe is under way.
   *
   * An origin without a sample costs nothing until it is asked, and much from then on.
   *
   * A timeout and a 503 count as twice the mean, any other failure as the mean at least: to fail
   * quickly must not look fast.
   */
  private static final double DECAY_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** The mean of an origin without a sample, and the most that a quick refusal counts as. */
  private static final double UNKNOWN_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final SplittableRandom random;
  private final double[] meanNanos;
  private final boolean[] isKnown;
  private final long[] sampledNanos;

  /** When a request last went there or was answered. */
  private final long[] usedNanos;

  public LeastTime(List<Origin> origins, SplittableRandom random) {
    super(origins);
    this.random = random;
    this.meanNanos = new double[origins.size()];
    this.isKnown = new boolean[origins.size()];
    this.sampledNanos = new long[origins.size()];
    this.usedNanos = new long[origins.size()];
  }

  @Override
  public void answered(int place, long nanos, Speed speed, long nowNanos) {
    double mean = meanNanos[place];
    double least =
        switch (speed) {
          case OWN -> 1;
          case OF_FAILURE -> mean;
          case OF_OVERLOAD -> Math.min(2 * mean, UNKNOWN_NANOS);
        };
    double sample = Math.max((double) nanos, least);
    double kept = isKnown[place] ? decay(sampledNanos[place], nowNanos) : 0;
    double next = sample >= mean ? sample : mean * kept + sample * (1 - kept);
    sampled(place, next, nowNanos);
  }

  /** The answer would have taken longer than that: a shorter time than the mean says nothing. */
  @Override
  public void waited(int place, long nanos, long nowNanos) {
    if (nanos > meanNanos[place]) {
      sampled(place, (double) nanos, nowNanos);
    }
  }

  private void sampled(int place, double mean, long nowNanos) {
    meanNanos[place] = mean;
    isKnown[place] = true;
    sampledNanos[place] = nowNanos;
    usedNanos[place] = nowNanos;
  }

  @Override
  int pick(int count) {
    int one = draw(random, count);
    int first = candidates[one];
    candidates[one] = candidates[count - 1];
    int second = candidates[draw(random, count - 1)];
    int picked = cost(second) < cost(first) ? second : first;
    usedNanos[picked] = nowNanos;
    if (!isKnown[picked]) {
      meanNanos[picked] = UNKNOWN_NANOS;
    }
    return picked;
  }

  private double cost(int place) {
    double mean = meanNanos[place] * decay(usedNanos[place], nowNanos);
    return mean * (origins[place].inFlight() + 1) / weights[place];
  }

  private static double decay(long sinceNanos, long nowNanos) {
    return Math.exp((sinceNanos - nowNanos) / DECAY_NANOS);
  }
}
