package io.kamille.perf.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * How long the threads of a process have run so far, to the nanosecond.
 *
 * @param threads by number; what a thread took that has ended since is lost
 * @param names of the threads, by number, of 15 characters at the most
 */
public record RunTime(Map<String, Taken> threads, Map<String, String> names) {

  /*
   * /proc/PID/task/TID/schedstat: time on a core, time in a queue for one, how often. The first is
   * what utime and stime of /proc/PID/stat add up to, which come in hundredths of a second: too
   * coarse for a thousand requests.
   */

  /**
   * What one thread took, or several.
   *
   * @param ranNanos on a core, in user mode and in the kernel
   * @param waitedNanos ready to run while others had the core
   */
  public record Taken(long ranNanos, long waitedNanos) {

    static final Taken NONE = new Taken(0, 0);

    static Taken parse(String schedstat) {
      String[] fields = schedstat.strip().split(" ", -1);
      return new Taken(Long.parseLong(fields[0]), Long.parseLong(fields[1]));
    }
  }

  /** Reads the meters of a process. */
  public static RunTime of(long pid) throws IOException {
    List<Path> tasks;
    try (Stream<Path> all = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
      tasks = all.toList();
    }
    Map<String, Taken> threads = new HashMap<>();
    Map<String, String> names = new HashMap<>();
    for (Path task : tasks) {
      String number = String.valueOf(task.getFileName());
      try {
        names.put(number, Files.readString(task.resolve("comm")).strip());
        threads.put(number, Taken.parse(Files.readString(task.resolve("schedstat"))));
      } catch (IOException ended) {
        // No such file, or no such process if it ends while it is read.
        names.remove(number);
      }
    }
    if (threads.isEmpty()) {
      throw new IOException("this kernel does not tell how long threads run (CONFIG_SCHED_INFO)");
    }
    return new RunTime(threads, names);
  }

  /** The same, of the threads alone whose name begins with one of these. */
  public RunTime of(Collection<String> prefixes) {
    Map<String, Taken> some = new HashMap<>(threads);
    some.keySet()
        .removeIf(
            number -> prefixes.stream().noneMatch(names.getOrDefault(number, "")::startsWith));
    return new RunTime(some, names);
  }

  /** What was added since an earlier reading, all threads together. */
  public Taken since(RunTime before) {
    long ran = 0;
    long waited = 0;
    for (var entry : threads.entrySet()) {
      Taken then = before.threads.getOrDefault(entry.getKey(), Taken.NONE);
      ran += entry.getValue().ranNanos - then.ranNanos;
      waited += entry.getValue().waitedNanos - then.waitedNanos;
    }
    return new Taken(ran, waited);
  }
}
