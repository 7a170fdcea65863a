package io.kamille.perf.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * How often the threads of a process gave up their core so far ({@code proc_pid_status(5)}).
 *
 * @param voluntary to wait for something: each one is a sleep, with a wake-up at its end
 * @param involuntary because somebody else was to run
 */
public record ContextSwitches(long voluntary, long involuntary) {

  private static final String VOLUNTARY = "voluntary_ctxt_switches:";
  private static final String INVOLUNTARY = "nonvoluntary_ctxt_switches:";

  /** Reads the meters of a process; threads that have ended are not in it. */
  public static ContextSwitches of(long pid) throws IOException {
    long voluntary = 0;
    long involuntary = 0;
    try (Stream<Path> tasks = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
      for (Path task : tasks.toList()) {
        ContextSwitches one = ofTask(task);
        voluntary += one.voluntary;
        involuntary += one.involuntary;
      }
    }
    return new ContextSwitches(voluntary, involuntary);
  }

  private static ContextSwitches ofTask(Path task) {
    try {
      return parse(Files.readAllLines(task.resolve("status")));
    } catch (IOException ended) {
      return new ContextSwitches(0, 0);
    }
  }

  static ContextSwitches parse(List<String> status) {
    return new ContextSwitches(value(status, VOLUNTARY), value(status, INVOLUNTARY));
  }

  private static long value(List<String> status, String name) {
    return status.stream()
        .filter(line -> line.startsWith(name))
        .mapToLong(line -> Long.parseLong(line.substring(name.length()).strip()))
        .findFirst()
        .orElse(0);
  }
}
