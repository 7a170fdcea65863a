package io.kamille.perf.host;

import io.kamille.perf.host.Workbench.Core;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Single figures that the kernel, or {@code jcmd}, tells of a process or of the machine. */
public final class ProcessFigures {

  private static final int MICROS_PER_TICK = 10_000;
  private static final int PAGE_BYTES = 4096;
  private static final Pattern VOLUNTARY =
      Pattern.compile("(?m)^voluntary_ctxt_switches:\\s+(\\d+)");
  private static final Pattern TCP_PAGES = Pattern.compile("(?m)^TCP: .*\\bmem (\\d+)");

  /* jcmd Thread.print -e gives the octets that each thread has allocated. */
  private static final Pattern ALLOCATED = Pattern.compile(" allocated=(\\d+)([BKMG])");
  private static final String UNITS = "BKMG";

  private ProcessFigures() {}

  /**
   * How often those threads of a process slept so far ({@code proc_pid_status(5)}) whose name
   * begins so; the kernel knows 15 characters of it.
   */
  public static long sleeps(long pid, String name) throws IOException {
    long sleeps = 0;
    try (Stream<Path> tasks = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
      for (Path task : tasks.toList()) {
        try {
          String status = Files.readString(task.resolve("status"));
          sleeps += status.startsWith("Name:\t" + name) ? sum(VOLUNTARY, status) : 0;
        } catch (IOException ended) {
          sleeps += 0;
        }
      }
    }
    return sleeps;
  }

  /** Microseconds since the machine started in which a core did something. */
  public static long busyMicros(Core core) throws IOException {
    return busyMicros(Files.readString(Path.of("/proc/stat")), core.list());
  }

  static long busyMicros(String stat, String core) {
    // user nice system, then idle and iowait, which do not count, then irq softirq steal
    String ticks = "(?m)^cpu" + core + " +(\\d+) (\\d+) (\\d+) \\d+ \\d+ (\\d+) (\\d+) (\\d+)";
    return sum(Pattern.compile(ticks), stat) * MICROS_PER_TICK;
  }

  /** Octets that the kernel holds for all TCP sockets of the machine now. */
  public static long socketBytes() throws IOException {
    return sum(TCP_PAGES, Files.readString(Path.of("/proc/net/sockstat"))) * PAGE_BYTES;
  }

  /** Octets allocated so far by all threads of a Java process that are alive. */
  public static long allocatedBytes(Workbench bench, long pid)
      throws IOException, InterruptedException {
    return allocated(jcmd(bench, pid, "Thread.print", "-e"));
  }

  static long allocated(String threads) {
    return amount(ALLOCATED, threads);
  }

  /** Lets a Java process collect all its garbage. */
  public static void collectGarbage(Workbench bench, long pid)
      throws IOException, InterruptedException {
    jcmd(bench, pid, "GC.run");
  }

  private static String jcmd(Workbench bench, long pid, String... words)
      throws IOException, InterruptedException {
    String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
    var command = new ArrayList<>(List.of(jcmd, Long.toString(pid)));
    command.addAll(List.of(words));
    return bench.run(Core.OTHERS, command);
  }

  private static long amount(Pattern pattern, String text) {
    return pattern
        .matcher(text)
        .results()
        .mapToLong(found -> Long.parseLong(found.group(1)) << (10 * UNITS.indexOf(found.group(2))))
        .sum();
  }

  private static long sum(Pattern pattern, String text) {
    return pattern
        .matcher(text)
        .results()
        .mapToLong(
            found -> {
              long sum = 0;
              for (int i = 1; i <= found.groupCount(); i++) {
                sum += Long.parseLong(found.group(i));
              }
              return sum;
            })
        .sum();
  }
}
