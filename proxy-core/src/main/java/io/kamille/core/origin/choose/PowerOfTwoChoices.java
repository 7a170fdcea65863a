package io.kamille.core.origin.choose;

import io.kamille.core.origin.Origin;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Draws two origins by weight and takes the one with fewer requests in flight for its weight
 * (Michael Mitzenmacher, The Power of Two Choices in Randomized Load Balancing, 2001). Confined to
 * its loop.
 *
 * <p>Unlike "the least loaded", it does not send all loops at once to the same idle origin. If one
 * of the candidates fails, the request at hand counts as in flight: what fails at once is idle.
 */
public final class PowerOfTwoChoices extends OriginChoice {

  private final SplittableRandom random;

  public PowerOfTwoChoices(List<Origin> origins, SplittableRandom random) {
    super(origins);
    this.random = random;
  }

  @Override
  int pick(int count) {
    int one = draw(random, count);
    int first = candidates[one];
    candidates[one] = candidates[count - 1];
    int second = candidates[draw(random, count - 1)];
    return load(second, first) < load(first, second) ? second : first;
  }

  /** Requests in flight, scaled by the weight of the other so that the two compare. */
  private long load(int place, int other) {
    return (long) (origins[place].inFlight() + (isUneven ? 1 : 0)) * weights[other];
  }
}
