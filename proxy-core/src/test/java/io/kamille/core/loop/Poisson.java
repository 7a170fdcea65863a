package io.kamille.core.loop;

import java.util.SplittableRandom;

/** Arrivals that know nothing of each other, from a seed. */
final class Poisson {

  private Poisson() {}

  /** Adds arrivals at a rate, from one time to another. */
  static void arrivals(
      SimulatedLoop loop, long seed, double perSecond, long fromNanos, long toNanos) {
    SplittableRandom random = new SplittableRandom(seed);
    double at = fromNanos;
    while (true) {
      at -= Math.log(1 - random.nextDouble()) * 1e9 / perSecond;
      if (at >= toNanos) {
        return;
      }
      loop.arrival((long) at);
    }
  }
}
