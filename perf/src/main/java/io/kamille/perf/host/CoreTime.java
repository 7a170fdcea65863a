package io.kamille.perf.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * How long a core was busy, whoever kept it so, interrupts included ({@code /proc/stat}).
 *
 * <p>On a core given to one server this is that server's CPU time and nothing else, unless somebody
 * disturbs the measurement.
 */
public final class CoreTime {

  private static final int MICROS_PER_TICK = 10_000;
  private static final List<Integer> IDLE_AND_IOWAIT = List.of(3, 4);

  /** Fields of a line that count: user to steal. Guests are counted in user. */
  private static final int FIELDS = 8;

  private CoreTime() {}

  /** Microseconds since the machine started in which the core for servers did something. */
  public static long busyMicros(Workbench.Core core) throws IOException {
    return parse(Files.readAllLines(Path.of("/proc/stat")), core.number());
  }

  static long parse(List<String> stat, int core) {
    String prefix = "cpu" + core + " ";
    String line = stat.stream().filter(l -> l.startsWith(prefix)).findFirst().orElseThrow();
    String[] ticks = line.substring(prefix.length()).split(" ", -1);
    long busy = 0;
    for (int i = 0; i < FIELDS; i++) {
      busy += IDLE_AND_IOWAIT.contains(i) ? 0 : Long.parseLong(ticks[i]);
    }
    return busy * MICROS_PER_TICK;
  }
}
