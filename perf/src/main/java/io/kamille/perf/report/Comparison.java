package io.kamille.perf.report;

import java.util.Locale;

/**
 * Two runs that alternated, A B A B: how much more B has than A, round by round, so that what
 * disturbs both in a round cancels out.
 *
 * @param ratio of B to A in each round
 */
public record Comparison(Spread ratio) {

  /*
   * The rounds decide what noise is: a difference is beyond it if all rounds agree on its direction
   * and the median is further from 1 than the rounds are from each other. Five rounds agree by
   * chance once in sixteen times; the second condition is there for that.
   */

  /** Whether the rounds show a difference, rather than chance. One round shows nothing. */
  public boolean isBeyondNoise() {
    boolean agree = ratio.least() > 1 || ratio.greatest() < 1;
    double width = ratio.greatest() - ratio.least();
    return agree && width > 0 && Math.abs(ratio.median() - 1) > width / 2;
  }

  /** The difference in per cent with the extremes, and whether it is more than noise. */
  public String text() {
    return String.format(
        Locale.ROOT,
        "%+.1f %% (%+.1f … %+.1f), %s",
        percent(ratio.median()),
        percent(ratio.least()),
        percent(ratio.greatest()),
        isBeyondNoise() ? "beyond noise" : "within noise");
  }

  private static double percent(double ratio) {
    return (ratio - 1) * 100;
  }
}
