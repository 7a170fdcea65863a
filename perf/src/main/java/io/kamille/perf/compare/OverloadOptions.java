package io.kamille.perf.compare;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How servers are overloaded.
 *
 * @param loads offered, in capacities
 * @param seconds of load that are counted, at each
 * @param users each with a connection
 * @param areRude whether users ask again though they were told to wait
 * @param missShare of requests that must be forwarded, 0 to 1
 * @param slowPercent of the server's core that is taken from it
 * @param target of Kamille's {@code overload.target}
 * @param capacity in requests per second; 0 looks for each server's
 * @param only names of servers; empty means all
 * @param directory where the report goes; null for one of its own below {@code perf/target}
 */
record OverloadOptions(
    List<Double> loads,
    int seconds,
    int users,
    boolean areRude,
    double missShare,
    int slowPercent,
    String target,
    int capacity,
    List<String> only,
    @Nullable Path directory) {

  /** What there is to say. */
  static final String HELP =
      """
      --loads A,B       in capacities (default 0.5,0.8,1,1.5,2,3)
      --seconds N       of load that are counted, at each (default 12)
      --quick           4 seconds at 0.8, 1 and 3: to see that it works, not to believe it
      --users N         each with a connection (default 4000)
      --rude            users ask again though they were told to wait
      --misses SHARE    of requests that must be forwarded (default 0)
      --slow PERCENT    of the server's core that a process of ours takes (default 80; as root)
      --target TIME     of Kamille's overload.target (default 5ms)
      --capacity N      requests/s that are taken for the capacity (default: looked for)
      --only A,B        of kamille, off, nginx, haproxy
      --to DIR          where the report goes (default perf/target/overload-TIME)
      """;

  static final List<String> NAMES = List.of("kamille", "off", "nginx", "haproxy");

  private static final Pattern SHARE = Pattern.compile("[0-9](\\.[0-9]{1,3})?");
  private static final Pattern TIME = Pattern.compile("[1-9][0-9]{0,5}(us|ms)");
  private static final OverloadOptions DEFAULT =
      new OverloadOptions(
          List.of(0.5, 0.8, 1.0, 1.5, 2.0, 3.0), 12, 4000, false, 0, 80, "5ms", 0, List.of(), null);

  /**
   * Reads the words of a command line.
   *
   * @throws IllegalArgumentException if one is not understood; the message says which
   */
  static OverloadOptions parse(List<String> words) {
    var options = DEFAULT;
    for (int i = 0; i < words.size(); i++) {
      String word = words.get(i);
      options =
          switch (word) {
            case "--quick" -> options.withLoads(List.of(0.8, 1.0, 3.0)).withSeconds(4);
            case "--rude" -> options.rude();
            default -> options.with(word, value(words, ++i));
          };
    }
    return options;
  }

  private OverloadOptions with(String word, String value) {
    return switch (word) {
      case "--loads" ->
          withLoads(Arrays.stream(value.split(",", -1)).map(one -> share(word, one)).toList());
      case "--seconds" -> withSeconds(number(word, value, 1, 1000));
      case "--users" -> withUsers(number(word, value, 1, 100_000));
      case "--misses" -> withMissShare(Math.min(1, share(word, value)));
      case "--slow" -> withSlowPercent(number(word, value, 0, 90));
      case "--target" -> withTarget(time(word, value));
      case "--capacity" -> withCapacity(number(word, value, 1, 10_000_000));
      case "--only" -> withOnly(names(word, value));
      case "--to" -> withDirectory(Path.of(value));
      default -> throw new IllegalArgumentException("unknown option " + word);
    };
  }

  private static String value(List<String> words, int index) {
    if (index == words.size()) {
      throw new IllegalArgumentException(
          words.get(index - 1) + ": unknown option, or nothing behind it");
    }
    return words.get(index);
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

  private static double share(String word, String value) {
    if (!SHARE.matcher(value).matches()) {
      throw new IllegalArgumentException(word + ": " + value + " (expected: a number such as 0.8)");
    }
    return Double.parseDouble(value);
  }

  private static String time(String word, String value) {
    if (!TIME.matcher(value).matches()) {
      throw new IllegalArgumentException(word + ": " + value + " (expected: a time such as 5ms)");
    }
    return value;
  }

  private static List<String> names(String word, String value) {
    List<String> names = List.of(value.split(",", -1));
    for (String name : names) {
      if (!NAMES.contains(name)) {
        throw new IllegalArgumentException(
            word + ": " + name + " (expected: " + String.join(", ", NAMES) + ")");
      }
    }
    return names;
  }

  boolean has(String name) {
    return only.isEmpty() || only.contains(name);
  }

  private OverloadOptions withLoads(List<Double> wanted) {
    return new OverloadOptions(
        wanted, seconds, users, areRude, missShare, slowPercent, target, capacity, only, directory);
  }

  private OverloadOptions withSeconds(int wanted) {
    return new OverloadOptions(
        loads, wanted, users, areRude, missShare, slowPercent, target, capacity, only, directory);
  }

  private OverloadOptions withUsers(int wanted) {
    return new OverloadOptions(
        loads, seconds, wanted, areRude, missShare, slowPercent, target, capacity, only, directory);
  }

  private OverloadOptions rude() {
    return new OverloadOptions(
        loads, seconds, users, true, missShare, slowPercent, target, capacity, only, directory);
  }

  private OverloadOptions withMissShare(double wanted) {
    return new OverloadOptions(
        loads, seconds, users, areRude, wanted, slowPercent, target, capacity, only, directory);
  }

  private OverloadOptions withSlowPercent(int wanted) {
    return new OverloadOptions(
        loads, seconds, users, areRude, missShare, wanted, target, capacity, only, directory);
  }

  private OverloadOptions withTarget(String wanted) {
    return new OverloadOptions(
        loads, seconds, users, areRude, missShare, slowPercent, wanted, capacity, only, directory);
  }

  private OverloadOptions withCapacity(int wanted) {
    return new OverloadOptions(
        loads, seconds, users, areRude, missShare, slowPercent, target, wanted, only, directory);
  }

  private OverloadOptions withOnly(List<String> wanted) {
    return new OverloadOptions(
        loads,
        seconds,
        users,
        areRude,
        missShare,
        slowPercent,
        target,
        capacity,
        wanted,
        directory);
  }

  private OverloadOptions withDirectory(Path wanted) {
    return new OverloadOptions(
        loads, seconds, users, areRude, missShare, slowPercent, target, capacity, only, wanted);
  }
}
