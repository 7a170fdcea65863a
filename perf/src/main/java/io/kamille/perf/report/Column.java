package io.kamille.perf.report;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/**
 * One column of a comparison's table.
 *
 * @param title with the unit
 * @param text makes the cell of one server in one situation
 */
public record Column(String title, Function<Rounds, String> text) {

  private static final String UNKNOWN = "–";

  /**
   * All that was measured of one server in one situation.
   *
   * @param samples of all servers and situations
   * @param rounds at least one
   */
  public record Rounds(Samples samples, String situation, String server, List<Sample> rounds) {}

  /** The median with the extremes in parentheses; a dash if a round lacks the figure. */
  public static Column spread(String title, Figure figure, int decimals) {
    return new Column(title, rounds -> text(known(rounds, figure), decimals));
  }

  /** The median alone. */
  public static Column median(String title, Figure figure, int decimals) {
    return new Column(
        title,
        rounds -> known(rounds, figure).map(all -> number(all.median(), decimals)).orElse(UNKNOWN));
  }

  /** The sum of all rounds. */
  public static Column sum(String title, Figure figure) {
    return new Column(
        title,
        rounds -> number(rounds.rounds().stream().mapToDouble(one -> one.of(figure)).sum(), 0));
  }

  /** A multiple of another server's, taken round by round. */
  public static Column ratio(String title, Figure figure, String other) {
    return new Column(
        title, all -> text(all.samples().ratio(figure, all.situation(), all.server(), other), 2));
  }

  /** What is more than another server's, taken round by round. */
  public static Column difference(String title, Figure figure, String other, int decimals) {
    return new Column(
        title,
        all ->
            text(all.samples().difference(figure, all.situation(), all.server(), other), decimals));
  }

  /** A multiple of what the same server had in another situation, taken round by round. */
  public static Column multiple(String title, Figure figure, String situation) {
    return new Column(
        title,
        all -> text(all.samples().multiple(figure, all.server(), all.situation(), situation), 2));
  }

  private static Optional<Spread> known(Rounds all, Figure figure) {
    return all.rounds().stream().anyMatch(one -> Double.isNaN(one.of(figure)))
        ? Optional.empty()
        : Optional.of(Spread.of(all.rounds(), one -> one.of(figure)));
  }

  /** A spread as it stands in tables; a dash if there is none. */
  public static String text(Optional<Spread> spread, int decimals) {
    return spread.map(known -> known.text(decimals)).orElse(UNKNOWN);
  }

  private static String number(double value, int decimals) {
    return String.format(Locale.ROOT, "%." + decimals + "f", value);
  }
}
