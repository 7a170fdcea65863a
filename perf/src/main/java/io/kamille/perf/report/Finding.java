package io.kamille.perf.report;

import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * What becomes of one claim of a paper.
 *
 * @param claim the paper's, with its figure
 * @param figures ours, or why there are none
 */
public record Finding(String claim, Today today, String figures) {

  /** Whether the claim holds. */
  public enum Today {
    HOLDS("holds"),
    HOLDS_LESS("holds less"),
    DOES_NOT_HOLD("does not hold"),
    NOT_TESTED("not tested here");

    private final String text;

    Today(String text) {
      this.text = text;
    }
  }

  /** A claim whose cause was not there, or that nothing here can show. */
  public static Finding untested(String claim, String why) {
    return new Finding(claim, Today.NOT_TESTED, why);
  }

  /**
   * A claim that something grows or is large.
   *
   * @param measured what grows
   * @param holds from here on the claim holds
   * @param holdsLess from here on it holds less
   */
  public static Finding atLeast(
      String claim, double measured, double holds, double holdsLess, String figures) {
    Today today =
        measured >= holds
            ? Today.HOLDS
            : measured >= holdsLess ? Today.HOLDS_LESS : Today.DOES_NOT_HOLD;
    return new Finding(claim, today, figures);
  }

  /**
   * A claim about several situations: it holds if in all of them, and holds less if in some.
   *
   * @param measured what is large, at least one
   */
  public static Finding atLeast(
      String claim, List<Double> measured, double holds, double holdsLess, String figures) {
    double least = Collections.min(measured);
    double decisive = least >= holds ? least : Math.min(Collections.max(measured), holdsLess);
    return atLeast(claim, decisive, holds, holdsLess, figures);
  }

  /** The same of what rounds gave; not tested if there is none. */
  public static Finding atLeast(
      String claim, Optional<Spread> measured, double holds, double holdsLess) {
    return measured
        .map(all -> atLeast(claim, all.median(), holds, holdsLess, all.text(2)))
        .orElseGet(() -> untested(claim, "not measured, or disturbed"));
  }

  /** Not tested if there is a reason; else this. */
  public Finding unless(Optional<String> why) {
    return why.map(reason -> untested(claim, reason)).orElse(this);
  }

  /** A row for each finding. */
  public static Table table(List<Finding> findings) {
    var table = new Table("the paper's claim", "today", "figures of this run");
    findings.forEach(one -> table.row(List.of(one.claim(), one.today().text, one.figures())));
    return table;
  }
}
