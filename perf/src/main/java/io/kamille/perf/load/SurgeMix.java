package io.kamille.perf.load;

import java.util.SplittableRandom;

/**
 * What one user of the SURGE workload does (Barford, Crovella, 1998), as Terai, Okamoto, Hasegawa
 * and Murata used it (2001): pages of embedded objects, with pauses. Confined.
 */
public final class SurgeMix {

  /*
   * The distributions and their parameters are those of SURGE: lengths are log-normal in the body and
   * Pareto in the tail, embedded references and the pauses between pages are Pareto, the pauses
   * between the objects of a page are Weibull. Pareto with α = 1.1 has no variance: the mean of a
   * sample goes on growing, and what is beyond the limits is drawn again.
   */

  private static final double BODY_SHARE = 0.93;
  private static final double BODY_LOG_MEAN = 9.357;
  private static final double BODY_LOG_DEVIATION = 1.318;
  private static final double TAIL_ALPHA = 1.1;
  private static final double TAIL_LEAST = 133_000;
  private static final double EMBEDDED_ALPHA = 2.43;
  private static final double EMBEDDED_LEAST = 1;
  private static final double ACTIVE_OFF_SCALE = 1.46;
  private static final double ACTIVE_OFF_SHAPE = 0.382;
  private static final double INACTIVE_OFF_ALPHA = 1.5;
  private static final double INACTIVE_OFF_LEAST = 1;
  private static final int LENGTH_LIMIT = 100_000_000;
  private static final int EMBEDDED_LIMIT = 150;

  private final SplittableRandom random;

  public SurgeMix(long seed) {
    this.random = new SplittableRandom(seed);
  }

  /** The length of an object in octets, at least one. */
  public int length() {
    while (true) {
      double octets = random.nextDouble() < BODY_SHARE ? body() : tail();
      if (octets >= 1 && octets <= LENGTH_LIMIT) {
        return (int) octets;
      }
    }
  }

  private double body() {
    double normal = Distribution.normal(random.nextDouble(), random.nextDouble());
    return StrictMath.exp(BODY_LOG_MEAN + BODY_LOG_DEVIATION * normal);
  }

  private double tail() {
    return Distribution.pareto(TAIL_ALPHA, TAIL_LEAST, random.nextDouble());
  }

  /** How many objects a page consists of, itself included. */
  public int objectsOfPage() {
    while (true) {
      double count = Distribution.pareto(EMBEDDED_ALPHA, EMBEDDED_LEAST, random.nextDouble());
      if (count <= EMBEDDED_LIMIT) {
        return (int) count;
      }
    }
  }

  /** The pause between two objects of a page, in seconds. */
  public double activeOffSeconds() {
    return Distribution.weibull(ACTIVE_OFF_SCALE, ACTIVE_OFF_SHAPE, random.nextDouble());
  }

  /** The pause between two pages, in seconds. */
  public double inactiveOffSeconds() {
    return Distribution.pareto(INACTIVE_OFF_ALPHA, INACTIVE_OFF_LEAST, random.nextDouble());
  }
}
