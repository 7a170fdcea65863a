package io.kamille.core.upstream;

import java.util.List;
import java.util.SplittableRandom;

/** Picks the origin for one request. Confined to its loop. */
public abstract sealed class OriginChoice permits PowerOfTwoChoices, WeightedRoundRobin {

  /*
   * Origins that are out are passed over, but when one of them is due for its probe, the request at
   * hand is the probe. When none is left, refusing would turn a few failures in a row into an outage
   * of our own making: then the least bad gets the request, which is the one that is out for the
   * shortest time to come.
   */

  /** The ways to choose that a setting may name. */
  public enum Kind {
    /** Of two origins drawn by weight, the one with fewer requests in flight for its weight. */
    POWER_OF_TWO,
    /** One after the other, in the proportion of the weights, well mixed. */
    ROUND_ROBIN
  }

  final Origin[] origins;

  /** The places in {@code origins} that may be picked this time: the first so many count. */
  final int[] candidates;

  OriginChoice(List<Origin> origins) {
    this.origins = origins.toArray(Origin[]::new);
    this.candidates = new int[this.origins.length];
  }

  /** A choice for one loop. */
  public static OriginChoice of(Kind kind, List<Origin> origins) {
    if (origins.isEmpty()) {
      throw new IllegalArgumentException("origins: none (expected: at least one)");
    }
    return switch (kind) {
      case POWER_OF_TWO -> new PowerOfTwoChoices(origins, new SplittableRandom());
      case ROUND_ROBIN -> new WeightedRoundRobin(origins);
    };
  }

  /**
   * The place of the origin to ask, in the list this choice was made from.
   *
   * @param avoid the place of an origin that just failed this request, or -1; it is chosen again
   *     only when there is no other
   */
  public int choose(int avoid, long nowNanos) {
    if (origins.length == 1) {
      return 0;
    }
    int count = 0;
    for (int i = 0; i < origins.length; i++) {
      if (i == avoid) {
        continue;
      }
      if (origins[i].health().isIn()) {
        candidates[count++] = i;
      } else if (origins[i].health().claimProbe(nowNanos)) {
        return i;
      }
    }
    return switch (count) {
      case 0 -> leastBad(avoid, nowNanos);
      case 1 -> candidates[0];
      default -> pick(count);
    };
  }

  /** One of the first {@code count} candidates; at least two. */
  abstract int pick(int count);

  private int leastBad(int avoid, long nowNanos) {
    int best = -1;
    long least = 0;
    for (int i = 0; i < origins.length; i++) {
      long remaining = origins[i].health().remainingOutNanos(nowNanos);
      if (i != avoid && (best < 0 || remaining < least)) {
        best = i;
        least = remaining;
      }
    }
    return best;
  }
}
