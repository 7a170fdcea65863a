package io.kamille.perf.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** How often the threads of a process slept so far ({@code proc_pid_status(5)}). */
public final class ContextSwitches {

  private static final String VOLUNTARY = "voluntary_ctxt_switches:";

  private ContextSwitches() {}

  /**
   * How often they gave up their core to wait for something, each time with a wake-up at its end;
   * threads that have ended are not in it.
   */
  public static long voluntary(long pid) throws IOException {
    long voluntary = 0;
    try (Stream<Path> tasks = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
      for (Path task : tasks.toList()) {
        voluntary += ofTask(task);
      }
    }
    return voluntary;
  }

  private static long ofTask(Path task) {
    try {
      return parse(Files.readAllLines(task.resolve("status")));
    } catch (IOException ended) {
      return 0;
    }
  }

  static long parse(List<String> status) {
    return status.stream()
        .filter(line -> line.startsWith(VOLUNTARY))
        .mapToLong(line -> Long.parseLong(line.substring(VOLUNTARY.length()).strip()))
        .sum();
  }
}
