package io.kamille.perf.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** How many file descriptors a process may have; Java itself goes up to the hard limit. */
final class DescriptorLimit {

  /** For everything but connections to clients. */
  private static final int OTHER_DESCRIPTORS = 1000;

  /** A careful server keeps one for the origin beside each for a client. */
  private static final int DESCRIPTORS_PER_CONNECTION = 2;

  private DescriptorLimit() {}

  /** How many connections a server can have open here, at most as many as wanted. */
  static int connections(int wanted) throws IOException {
    long hard = hardLimit(Files.readAllLines(Path.of("/proc/self/limits")));
    int possible = connections(wanted, hard);
    if (possible < wanted) {
      System.out.println(
          "note: "
              + possible
              + " connections, not "
              + wanted
              + ", for want of file descriptors; "
              + "more with: ulimit -Hn "
              + (wanted * DESCRIPTORS_PER_CONNECTION + OTHER_DESCRIPTORS));
    }
    return possible;
  }

  static int connections(int wanted, long descriptors) {
    long possible = (descriptors - OTHER_DESCRIPTORS) / DESCRIPTORS_PER_CONNECTION;
    return Math.clamp(possible, 1, wanted);
  }

  /** Reads {@code /proc/PID/limits}: name, soft limit, hard limit, unit. */
  static long hardLimit(List<String> limits) {
    String line =
        limits.stream().filter(l -> l.startsWith("Max open files")).findFirst().orElseThrow();
    String hard = line.strip().split("\\s{2,}", -1)[2];
    return hard.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(hard);
  }
}
