package io.kamille.perf.lab;

import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What was asked of the lab.
 *
 * @param directory where the results go; null for one of its own below {@code perf/target/lab}
 * @param against other servers that are asked the same
 */
record LabOptions(
    String experiment, LabScale scale, @Nullable Path directory, List<String> against) {

  static final String HELP =
      """
      ./dev lab p1 [OPTIONS]   paced polling: request rate × interval between two polls
      ./dev lab p2 [OPTIONS]   memory at the peak: four kinds of store through a peak of load
      ./dev lab p3 [OPTIONS]   short busy wait: round trip, wake-ups, what a neighbour loses
      ./dev lab p4 [OPTIONS]   send buffers: policy × paths, memory at equal goodput (as root)
      ./dev lab p5 [OPTIONS]   long and lossy paths: object × round trip × loss × rate (as root)

      --quick       three minutes at most: to see that it works, not to believe it
      --full        as long as the paper took, as far as one machine goes
      --against NAMES  p1 and p5: nginx, haproxy, varnish, trafficserver, squid, apache, by commas;
                    what is not installed is left out; p5 without it: nginx
      --to DIR      where the results go (default perf/target/lab/NAME-TIME)
      """;

  /**
   * Reads the words of a command line.
   *
   * @throws IllegalArgumentException if one is not understood; the message says which
   */
  static LabOptions parse(List<String> words) {
    if (words.isEmpty() || words.getFirst().startsWith("-")) {
      throw new IllegalArgumentException(
          "no experiment before the options (expected: p1, p2, p3, p4 or p5)");
    }
    LabScale scale = LabScale.NORMAL;
    Path directory = null;
    List<String> against = List.of();
    for (int i = 1; i < words.size(); i++) {
      switch (words.get(i)) {
        case "--quick" -> scale = LabScale.QUICK;
        case "--full" -> scale = LabScale.FULL;
        case "--to" -> directory = Path.of(behind(words, i++));
        case "--against" -> against = servers(behind(words, i++));
        default -> throw new IllegalArgumentException("unknown option " + words.get(i));
      }
    }
    return new LabOptions(words.getFirst(), scale, directory, against);
  }

  private static String behind(List<String> words, int option) {
    if (option + 1 == words.size()) {
      throw new IllegalArgumentException(words.get(option) + ": nothing behind it");
    }
    return words.get(option + 1);
  }

  private static List<String> servers(String names) {
    List<String> servers = List.of(names.split(",", -1)).stream().distinct().toList();
    for (String name : servers) {
      if (!Opponents.NAMES.contains(name)) {
        throw new IllegalArgumentException(
            "--against: " + name + " (expected: " + new TreeSet<>(Opponents.NAMES) + ")");
      }
    }
    return servers;
  }
}
