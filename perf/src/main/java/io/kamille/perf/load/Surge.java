package io.kamille.perf.load;

import java.time.Duration;
import java.util.SplittableRandom;

/**
 * The web workload of Barford and Crovella, "Generating representative web workloads for network
 * and server performance evaluation" (SURGE), 1998: what one user draws. Confined.
 */
final class Surge {

  /*
   * Lengths: log-normal, and for 7 % of the objects Pareto from 133 kB on. Requests choose objects
   * by Zipf's law. A page has as many objects as a Pareto number says; between two of them the
   * browser thinks (active OFF, Weibull), behind the last one the user does (inactive OFF, Pareto).
   * Lengths end at 4 MiB and pauses at a minute, so that a run of minutes sees the mean.
   */
  private static final int OBJECTS = 2000;
  private static final double TAIL_SHARE = 0.07;
  private static final double BODY_MU = 9.357;
  private static final double BODY_SIGMA = 1.318;
  private static final double TAIL_LEAST = 133_000;
  private static final double TAIL_SHAPE = 1.1;
  private static final int MOST_BYTES = 4 << 20;
  private static final int LEAST_BYTES = 64;
  private static final double REFERENCES_SHAPE = 2.43;
  private static final int MOST_REFERENCES = 50;
  private static final double ACTIVE_SCALE_SECONDS = 1.46;
  private static final double ACTIVE_SHAPE = 0.382;
  private static final double INACTIVE_SHAPE = 1.5;
  private static final double MOST_SECONDS = 60;
  private static final double NANOS_PER_SECOND = 1e9;
  private static final long LENGTHS_SEED = 1998;
  private static final Distribution.Zipf POPULARITY = new Distribution.Zipf(OBJECTS);

  private final SplittableRandom random;
  private int left;

  Surge(long seed) {
    random = new SplittableRandom(seed);
  }

  /** The object that is asked for next. */
  OriginTarget next() {
    if (left == 0) {
      left = (int) Math.min(MOST_REFERENCES, pareto(1, REFERENCES_SHAPE, random.nextDouble()));
    }
    left--;
    int object = POPULARITY.value(random.nextDouble());
    return OriginTarget.of(object, length(object));
  }

  /** How long nothing is asked for, once the last object is there. */
  Duration pause() {
    double seconds =
        left == 0
            ? pareto(1, INACTIVE_SHAPE, random.nextDouble())
            : ACTIVE_SCALE_SECONDS
                * StrictMath.pow(-StrictMath.log1p(-random.nextDouble()), 1 / ACTIVE_SHAPE);
    return Duration.ofNanos((long) (Math.min(seconds, MOST_SECONDS) * NANOS_PER_SECOND));
  }

  /** The length of an object, the same for every user. */
  static int length(int object) {
    var drawn = new SplittableRandom(LENGTHS_SEED + object);
    drawn.nextLong();
    double length =
        drawn.nextDouble() < TAIL_SHARE
            ? pareto(TAIL_LEAST, TAIL_SHAPE, drawn.nextDouble())
            : StrictMath.exp(
                BODY_MU + BODY_SIGMA * Distribution.normal(drawn.nextDouble(), drawn.nextDouble()));
    return (int) Math.clamp(length, LEAST_BYTES, MOST_BYTES);
  }

  private static double pareto(double least, double shape, double share) {
    return least / StrictMath.pow(1 - share, 1 / shape);
  }
}
