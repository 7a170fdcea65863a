package io.kamille.perf.compare;

import io.kamille.perf.peer.Peer.Job;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What of pacing is compared, and for how long.
 *
 * @param subject what is asked for
 * @param ways of pacing, the first being what the others are compared with
 * @param rates offered, in requests per second; empty means those that suit the subject
 * @param rounds each measures every way once, in turn
 * @param seconds of load on one way in one round
 * @param isQuick whether it is only to be seen that it works
 * @param connections that requests are sent on
 * @param open connections in all; those beyond {@code connections} stay unused
 * @param hasCapacity whether the highest rate is looked for
 * @param isStep whether, instead of all that, the load jumps up and down again
 * @param record name of the files with the raw data, or null for none
 */
record PacingOptions(
    Subject subject,
    List<String> ways,
    List<Integer> rates,
    int rounds,
    int seconds,
    boolean isQuick,
    int connections,
    int open,
    boolean hasCapacity,
    boolean isStep,
    @Nullable String record) {

  /** What there is to say. */
  static final String HELP =
      """
      --rounds N        how often every way is measured in turn (default 5)
      --seconds N       of load on one way in one round (default 3)
      --quick           2 rounds of 1 second: to see that it works, not to believe it
      --ways A,B        of pacing: off, adaptive or an interval such as 500us (default off,adaptive)
      --fixed           500us and 1ms as well
      --rates N,N       requests per second that are offered
      --connections N   that requests are sent on (default 200)
      --open N          connections in all, the others unused
      --size BYTES      of the object (default 1024)
      --misses          ask for what must not be stored
      --no-capacity     without looking for the highest rate
      --step            nothing but a jump from 1,000 to 60,000 requests/s and back
      --record NAME     keep the raw data in perf/log/data/NAME.csv
      """;

  private static final Subject SMALL_HIT = new Subject(Job.HIT, "1 KiB hit", 1 << 10);
  private static final List<Integer> RATES = List.of(1000, 2000, 10_000, 20_000, 50_000);
  private static final List<Integer> COSTLY_RATES = List.of(500, 1000, 2000, 5000, 10_000);
  private static final int COSTLY_SIZE = 16 << 10;
  private static final int LIMIT = 1_000_000;
  private static final int SIZE_LIMIT = 16 << 20;
  private static final Pattern WAY = Pattern.compile("off|adaptive|[1-9][0-9]{0,5}(us|ms)");
  private static final Pattern FILE_NAME = Pattern.compile("[a-z0-9][a-z0-9.-]*");

  private static final PacingOptions DEFAULT =
      new PacingOptions(
          SMALL_HIT, List.of("off", "adaptive"), List.of(), 5, 3, false, 200, 0, true, false, null);

  /**
   * Reads the words of a command line.
   *
   * @throws IllegalArgumentException if one is not understood; the message says which
   */
  static PacingOptions parse(List<String> words) {
    var options = DEFAULT;
    for (int i = 0; i < words.size(); i++) {
      String word = words.get(i);
      options =
          switch (word) {
            case "--quick" -> options.quick();
            case "--fixed" -> options.withFixed();
            case "--misses" -> options.withSubject(Job.PASS, options.subject.size());
            case "--no-capacity" -> options.withoutCapacity();
            case "--step" -> options.stepping();
            default -> options.with(word, value(words, ++i));
          };
    }
    return options;
  }

  private static String value(List<String> words, int index) {
    if (index == words.size()) {
      throw new IllegalArgumentException(
          words.get(index - 1) + ": unknown option, or nothing behind it");
    }
    return words.get(index);
  }

  private PacingOptions with(String word, String value) {
    return switch (word) {
      case "--rounds" -> withLength(number(word, value, 1, 100), seconds);
      case "--seconds" -> withLength(rounds, number(word, value, 1, 100));
      case "--connections" -> withConnections(number(word, value, 1, LIMIT), open);
      case "--open" -> withConnections(connections, number(word, value, 1, LIMIT));
      case "--size" -> withSubject(subject.job(), number(word, value, 0, SIZE_LIMIT));
      case "--ways" -> withWays(matching(word, value, WAY));
      case "--rates" ->
          withRates(
              Stream.of(value.split(",", -1)).map(rate -> number(word, rate, 1, LIMIT)).toList());
      case "--record" -> withRecord(matching(word, value, FILE_NAME).getFirst());
      default -> throw new IllegalArgumentException("unknown option " + word);
    };
  }

  private static int number(String word, String value, int least, int most) {
    if (!value.matches("[0-9]{1,8}")
        || Integer.parseInt(value) < least
        || Integer.parseInt(value) > most) {
      throw new IllegalArgumentException(
          word + ": " + value + " (expected: a number from " + least + " to " + most + ")");
    }
    return Integer.parseInt(value);
  }

  private static List<String> matching(String word, String value, Pattern pattern) {
    List<String> values = Arrays.asList(value.split(",", -1));
    for (String one : values) {
      if (!pattern.matcher(one).matches()) {
        throw new IllegalArgumentException(word + ": " + one + " (expected: " + pattern + ")");
      }
    }
    return List.copyOf(values);
  }

  /** The rates to offer. */
  List<Integer> ratesOrDefault() {
    if (!rates.isEmpty()) {
      return rates;
    }
    return subject.job() == Job.PASS || subject.size() > COSTLY_SIZE ? COSTLY_RATES : RATES;
  }

  /** Connections on which nothing is asked. */
  int unusedConnections() {
    return Math.max(0, open - connections);
  }

  private PacingOptions quick() {
    return new PacingOptions(
        subject, ways, rates, 2, 1, true, connections, open, hasCapacity, isStep, record);
  }

  private PacingOptions withFixed() {
    var more = Stream.concat(ways.stream(), Stream.of("500us", "1ms")).distinct().toList();
    return withWays(more);
  }

  private PacingOptions withSubject(Job job, int size) {
    String length = size % 1024 == 0 ? size / 1024 + " KiB" : size + " B";
    var other = new Subject(job, length + (job == Job.HIT ? " hit" : " miss"), size);
    return new PacingOptions(
        other,
        ways,
        rates,
        rounds,
        seconds,
        isQuick,
        connections,
        open,
        hasCapacity,
        isStep,
        record);
  }

  private PacingOptions withoutCapacity() {
    return new PacingOptions(
        subject, ways, rates, rounds, seconds, isQuick, connections, open, false, isStep, record);
  }

  private PacingOptions stepping() {
    return new PacingOptions(
        subject, ways, rates, rounds, seconds, isQuick, connections, open, false, true, record);
  }

  private PacingOptions withLength(int rounds, int seconds) {
    return new PacingOptions(
        subject,
        ways,
        rates,
        rounds,
        seconds,
        isQuick,
        connections,
        open,
        hasCapacity,
        isStep,
        record);
  }

  private PacingOptions withConnections(int connections, int open) {
    return new PacingOptions(
        subject,
        ways,
        rates,
        rounds,
        seconds,
        isQuick,
        connections,
        open,
        hasCapacity,
        isStep,
        record);
  }

  private PacingOptions withWays(List<String> ways) {
    return new PacingOptions(
        subject,
        ways,
        rates,
        rounds,
        seconds,
        isQuick,
        connections,
        open,
        hasCapacity,
        isStep,
        record);
  }

  private PacingOptions withRates(List<Integer> rates) {
    return new PacingOptions(
        subject,
        ways,
        rates,
        rounds,
        seconds,
        isQuick,
        connections,
        open,
        hasCapacity,
        isStep,
        record);
  }

  private PacingOptions withRecord(String record) {
    return new PacingOptions(
        subject,
        ways,
        rates,
        rounds,
        seconds,
        isQuick,
        connections,
        open,
        hasCapacity,
        isStep,
        record);
  }
}
