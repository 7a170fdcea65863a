package io.kamille.perf.compare;

import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Samples;
import java.io.IOException;

/**
 * Looks for the highest rate that holds, with few trials.
 *
 * @param factor of the first steps
 * @param precision how close the rate that holds and the one that does not shall come, as a factor
 * @param trials at most
 */
record CapacitySearch(double factor, double precision, int trials) {

  /*
   * From the rate where the search begins it goes up, or down, by a factor until the answer
   * changes, then halves what is between on a logarithmic scale. Trials disturbed by something else
   * can only make the answer smaller; that is what rounds and their median are for.
   */

  /** The highest rate that held, in requests per second; 0 if none was found. */
  static final Figure RATE = Figure.of("rate");

  /** Tries a rate. */
  @FunctionalInterface
  interface Trial {
    /** Whether the server keeps up with it. */
    boolean holds(double rate) throws IOException, InterruptedException;
  }

  /** What the last search of a server found, of those that found something; 0 if none did. */
  static double latest(Samples rates, String server) {
    return rates.of("", server).stream()
        .mapToDouble(one -> one.of(RATE))
        .filter(found -> found > 0)
        .reduce(0, (first, second) -> second);
  }

  /** The highest rate that was seen to hold; 0 if none was. */
  double find(double beginning, Trial trial) throws IOException, InterruptedException {
    double holding = 0;
    double failing = Double.POSITIVE_INFINITY;
    double rate = beginning;
    for (int i = 0; i < trials && failing > holding * precision; i++) {
      if (trial.holds(rate)) {
        holding = rate;
      } else {
        failing = rate;
      }
      rate = next(holding, failing);
    }
    return holding;
  }

  private double next(double holding, double failing) {
    if (holding == 0) {
      return failing / factor;
    }
    return Double.isInfinite(failing) ? holding * factor : Math.sqrt(holding * failing);
  }
}
