package io.kamille.perf.compare;

import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How long and how often is measured, and whom.
 *
 * @param rounds each asks every server once, in turn
 * @param seconds of load on one server in one round
 * @param connections open at once
 * @param only names of servers; empty means all
 * @param record name of the file with the raw data, or null for none
 */
public record ComparisonOptions(
    int rounds, int seconds, int connections, List<String> only, @Nullable String record) {

  /** What there is to say. */
  public static final String HELP =
      """
      --rounds N        how often every server is asked in turn (default 7, collapse 5, others 3)
      --seconds N       of load on one server in one round (default 3, slow and faults 10; not of collapse)
      --quick           3 rounds of 1 second: to see that it works, not to believe it
      --connections N   open at once (default 64, collapse 1000, faults 1024, idle 10000)
      --only A,B        these servers: floor, kamille, nginx, haproxy, varnish; hit, pass and idle
                        also trafficserver, squid and apache, which are left out otherwise
      --record NAME     keep the raw data in perf/log/data/NAME.csv
      """;

  private static final List<String> NAMES =
      List.of(
          "floor", "kamille", "nginx", "haproxy", "varnish", "trafficserver", "squid", "apache");
  private static final Pattern FILE_NAME = Pattern.compile("[a-z0-9][a-z0-9.-]*");
  private static final int LIMIT = 100_000;

  /** Of requests. */
  public static final ComparisonOptions REQUESTS = new ComparisonOptions(7, 3, 64, List.of(), null);

  /** Of collapse. */
  public static final ComparisonOptions COLLAPSE =
      new ComparisonOptions(5, 3, 1000, List.of(), null);

  /** Of idle connections. */
  public static final ComparisonOptions IDLE = new ComparisonOptions(3, 3, 10_000, List.of(), null);

  /** Of slow clients. */
  public static final ComparisonOptions SLOW =
      new ComparisonOptions(3, 10, 64, List.of("kamille", "nginx", "haproxy", "varnish"), null);

  /** Of origins that fail. */
  public static final ComparisonOptions FAULTS =
      new ComparisonOptions(3, 10, 1024, List.of(), null);

  /**
   * Reads the words of a command line; where they are silent, these options hold.
   *
   * @throws IllegalArgumentException if one is not understood; the message says which
   */
  public ComparisonOptions parse(List<String> words) {
    var options = this;
    for (int i = 0; i < words.size(); i++) {
      String word = words.get(i);
      options =
          switch (word) {
            case "--quick" -> options.with(3, 1);
            case "--rounds" -> options.with(number(words, ++i), options.seconds);
            case "--seconds" -> options.with(options.rounds, number(words, ++i));
            case "--connections" -> options.withConnections(number(words, ++i));
            case "--only" -> options.withOnly(names(value(words, ++i)));
            case "--record" -> options.withRecord(fileName(value(words, ++i)));
            default -> throw new IllegalArgumentException("unknown option " + word);
          };
    }
    return options;
  }

  private static String value(List<String> words, int index) {
    if (index == words.size()) {
      throw new IllegalArgumentException(words.get(index - 1) + ": nothing behind it");
    }
    return words.get(index);
  }

  static int number(List<String> words, int index) {
    String value = value(words, index);
    if (!value.matches("[0-9]{1,6}")
        || Integer.parseInt(value) < 1
        || Integer.parseInt(value) > LIMIT) {
      throw new IllegalArgumentException(
          words.get(index - 1) + ": " + value + " (expected: a number from 1 to " + LIMIT + ")");
    }
    return Integer.parseInt(value);
  }

  private static List<String> names(String value) {
    List<String> names = List.of(value.split(",", -1));
    for (String name : names) {
      if (!NAMES.contains(name)) {
        throw new IllegalArgumentException(
            "--only: " + name + " (expected: " + String.join(", ", NAMES) + ")");
      }
    }
    return names;
  }

  private static String fileName(String value) {
    if (!FILE_NAME.matcher(value).matches()) {
      throw new IllegalArgumentException(
          "--record: " + value + " (expected: lower-case letters, digits, dots and dashes)");
    }
    return value;
  }

  private ComparisonOptions with(int rounds, int seconds) {
    return new ComparisonOptions(rounds, seconds, connections, only, record);
  }

  /** The same with that many connections. */
  ComparisonOptions withConnections(int connections) {
    return new ComparisonOptions(rounds, seconds, connections, only, record);
  }

  private ComparisonOptions withOnly(List<String> only) {
    return new ComparisonOptions(rounds, seconds, connections, only, record);
  }

  private ComparisonOptions withRecord(String record) {
    return new ComparisonOptions(rounds, seconds, connections, only, record);
  }
}
