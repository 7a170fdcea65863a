package io.kamille.perf.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * How long the threads of a process have run so far, to the nanosecond.
 *
 * @param threads by number; what a thread took that has ended since is lost
 */
public record RunTime(Map<String, Taken> threads) {

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
    for (Path task : tasks) {
      try {
        String text = Files.readString(task.resolve("schedstat"));
        threads.put(String.valueOf(task.getFileName()), Taken.parse(text));
      } catch (IOException ended) {
        // No such file, or no such process if it ends while it is read.
        threads.remove(String.valueOf(task.getFileName()));
      }
    }
    if (threads.isEmpty()) {
      throw new IOException("this kernel does not tell how long threads run (CONFIG_SCHED_INFO)");
    }
    return new RunTime(threads);
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
