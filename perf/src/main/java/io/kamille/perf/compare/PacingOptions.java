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

  private static final List<Integer> RATES = List.of(1000, 2000, 10_000, 20_000, 50_000);
  private static final List<Integer> COSTLY_RATES = List.of(500, 1000, 2000, 5000, 10_000);
  private static final int COSTLY_SIZE = 16 << 10;
  private static final int LIMIT = 1_000_000;
  private static final int SIZE_LIMIT = 16 << 20;
  private static final Pattern WAY = Pattern.compile("off|adaptive|[1-9][0-9]{0,5}(us|ms)");
  private static final Pattern FILE_NAME = Pattern.compile("[a-z0-9][a-z0-9.-]*");

  /**
   * Reads the words of a command line.
   *
   * @throws IllegalArgumentException if one is not understood; the message says which
   */
  static PacingOptions parse(List<String> words) {
    var reading = new Reading();
    for (int i = 0; i < words.size(); i++) {
      if (!reading.flag(words.get(i))) {
        reading.value(words.get(i), next(words, ++i));
      }
    }
    return reading.options();
  }

  private static String next(List<String> words, int index) {
    if (index == words.size()) {
      throw new IllegalArgumentException(
          words.get(index - 1) + ": unknown option, or nothing behind it");
    }
    return words.get(index);
  }

  /** What was read so far, beginning with what holds when nothing is said. */
  private static final class Reading {

    private Job job = Job.HIT;
    private int size = 1 << 10;
    private List<String> ways = List.of("off", "adaptive");
    private List<Integer> rates = List.of();
    private int rounds = 5;
    private int seconds = 3;
    private boolean isQuick;
    private int connections = 200;
    private int open;
    private boolean hasCapacity = true;
    private boolean isStep;
    private @Nullable String record;

    /** Takes a word that stands alone; false if it is none. */
    boolean flag(String word) {
      switch (word) {
        case "--quick" -> {
          isQuick = true;
          rounds = 2;
          seconds = 1;
        }
        case "--fixed" ->
            ways = Stream.concat(ways.stream(), Stream.of("500us", "1ms")).distinct().toList();
        case "--misses" -> job = Job.PASS;
        case "--no-capacity" -> hasCapacity = false;
        case "--step" -> isStep = true;
        default -> {
          return false;
        }
      }
      return true;
    }

    void value(String word, String value) {
      switch (word) {
        case "--rounds" -> rounds = number(word, value, 1, 100);
        case "--seconds" -> seconds = number(word, value, 1, 100);
        case "--connections" -> connections = number(word, value, 1, LIMIT);
        case "--open" -> open = number(word, value, 1, LIMIT);
        case "--size" -> size = number(word, value, 0, SIZE_LIMIT);
        case "--ways" -> ways = matching(word, value, WAY);
        case "--rates" ->
            rates =
                Stream.of(value.split(",", -1)).map(rate -> number(word, rate, 1, LIMIT)).toList();
        case "--record" -> record = matching(word, value, FILE_NAME).getFirst();
        default -> throw new IllegalArgumentException("unknown option " + word);
      }
    }

    PacingOptions options() {
      return new PacingOptions(
          subject(),
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

    private Subject subject() {
      String length = size % 1024 == 0 ? size / 1024 + " KiB" : size + " B";
      return new Subject(job, length + (job == Job.HIT ? " hit" : " miss"), size);
    }
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
}
