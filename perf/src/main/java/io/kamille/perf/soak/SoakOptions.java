package io.kamille.perf.soak;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What was asked for.
 *
 * @param seconds how long the load lasts
 * @param seed decides what each client does in which order; not how they interleave
 * @param clients how many at once, besides crowds
 * @param directory where logs go; null for one of its own below {@code perf/target/soak}
 */
record SoakOptions(long seconds, long seed, int clients, @Nullable Path directory) {

  static final String HELP =
      """
      ./dev soak MINUTES [OPTIONS]   everything at once, then look whether anything is left

      --seed N      what clients do, and in which order (default: the time)
      --clients N   how many at once (default 96)
      --to DIR      where logs go (default perf/target/soak/TIME)
      """;

  private static final int CLIENTS = 96;
  private static final int SECONDS_PER_MINUTE = 60;

  /**
   * Reads the words of a command line.
   *
   * @param usualSeed if none is given
   * @throws IllegalArgumentException if one is not understood; the message says which
   */
  static SoakOptions parse(List<String> words, long usualSeed) {
    if (words.isEmpty() || words.getFirst().startsWith("-")) {
      throw new IllegalArgumentException("no duration (expected: ./dev soak MINUTES)");
    }
    double minutes = number(words.getFirst());
    long seed = usualSeed;
    int clients = CLIENTS;
    Path directory = null;
    for (int i = 1; i < words.size(); i += 2) {
      String name = words.get(i);
      if (i + 1 == words.size()) {
        throw new IllegalArgumentException(name + ": nothing behind it");
      }
      String value = words.get(i + 1);
      switch (name) {
        case "--seed" -> seed = (long) number(value);
        case "--clients" -> clients = (int) number(value);
        case "--to" -> directory = Path.of(value);
        default -> throw new IllegalArgumentException("unknown option " + name);
      }
    }
    long seconds = Math.round(minutes * SECONDS_PER_MINUTE);
    if (seconds < 1 || clients < 1) {
      throw new IllegalArgumentException("a second and a client are the least");
    }
    return new SoakOptions(seconds, seed, clients, directory);
  }

  private static double number(String word) {
    try {
      double number = Double.parseDouble(word);
      if (number > 0 && number <= Long.MAX_VALUE) {
        return number;
      }
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(word + " (expected: a number)", e);
    }
    throw new IllegalArgumentException(word + " (expected: a number above 0)");
  }
}
