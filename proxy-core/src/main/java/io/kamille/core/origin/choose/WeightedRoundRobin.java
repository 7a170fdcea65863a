package io.kamille.core.origin.choose;

import io.kamille.core.origin.Origin;
import java.util.List;

/**
 * Takes origins in turn in the proportion of their weights, spread out evenly: 5:1:1 gives a a b a
 * c a a, not a a a a a b c (the smooth algorithm of nginx, Maxim Dounin, 2012). Confined to its
 * loop.
 */
final class WeightedRoundRobin extends OriginChoice {

  private final int[] credits;

  WeightedRoundRobin(List<Origin> origins) {
    super(origins);
    this.credits = new int[origins.size()];
  }

  /** Everyone earns its weight; the richest is taken and pays what all have earned. */
  @Override
  int pick(int count) {
    int total = 0;
    int best = candidates[0];
    for (int i = 0; i < count; i++) {
      int place = candidates[i];
      int weight = weights[place];
      credits[place] += weight;
      total += weight;
      if (credits[place] > credits[best]) {
        best = place;
      }
    }
    credits[best] -= total;
    return best;
  }
}
