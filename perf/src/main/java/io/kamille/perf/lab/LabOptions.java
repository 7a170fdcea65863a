package io.kamille.perf.lab;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What was asked of the lab.
 *
 * @param directory where the results go; null for one of its own below {@code perf/target/lab}
 */
record LabOptions(String experiment, LabScale scale, @Nullable Path directory) {

  static final String HELP =
      """
      ./dev lab p1 [OPTIONS]   paced polling: request rate × interval between two polls
      ./dev lab p2 [OPTIONS]   memory at the peak: four kinds of store through a peak of load
      ./dev lab p3 [OPTIONS]   short busy wait: round trip, wake-ups, what a neighbour loses

      --quick       three minutes at most: to see that it works, not to believe it
      --full        as long as the paper took, as far as one machine goes
      --to DIR      where the results go (default perf/target/lab/NAME-TIME)
      """;

  /**
   * Reads the words of a command line.
   *
   * @throws IllegalArgumentException if one is not understood; the message says which
   */
  static LabOptions parse(List<String> words) {
    if (words.isEmpty() || words.getFirst().startsWith("-")) {
      throw new IllegalArgumentException("no experiment (expected: p1, p2 or p3)");
    }
    LabScale scale = LabScale.NORMAL;
    Path directory = null;
    for (int i = 1; i < words.size(); i++) {
      switch (words.get(i)) {
        case "--quick" -> scale = LabScale.QUICK;
        case "--full" -> scale = LabScale.FULL;
        case "--to" -> {
          if (++i == words.size()) {
            throw new IllegalArgumentException("--to: nothing behind it");
          }
          directory = Path.of(words.get(i));
        }
        default -> throw new IllegalArgumentException("unknown option " + words.get(i));
      }
    }
    return new LabOptions(words.getFirst(), scale, directory);
  }
}
