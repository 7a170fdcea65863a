package io.kamille.perf.host;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** What {@code jcmd} tells of the heap of a Java process. */
public final class JavaProcess {

  /** A line per generation, or one for all, begins at the margin; their parts are indented. */
  private static final Pattern USED =
      Pattern.compile("(?m)^(?!Metaspace)[\\w-].*?\\bused (\\d+)([KM])");

  /*
   * Past a hundred megabytes the JVM rounds down to whole ones: over a hundred thousand requests
   * and more that is less than ten octets for each.
   */
  private static final Pattern ALLOCATED = Pattern.compile(" allocated=(\\d+)([BKMG])");

  private static final String UNITS = "BKMG";

  private JavaProcess() {}

  /** Collects the garbage of that process and returns the octets that are left. */
  public static long liveBytes(Workbench bench, long pid) throws IOException, InterruptedException {
    jcmd(bench, pid, "GC.run");
    return live(jcmd(bench, pid, "GC.heap_info"));
  }

  /** Octets allocated so far by all threads that are alive. */
  public static long allocatedBytes(Workbench bench, long pid)
      throws IOException, InterruptedException {
    return allocated(jcmd(bench, pid, "Thread.print", "-e"));
  }

  private static String jcmd(Workbench bench, long pid, String... words)
      throws IOException, InterruptedException {
    String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
    var command = new ArrayList<>(List.of(jcmd, Long.toString(pid)));
    command.addAll(List.of(words));
    return bench.run(Workbench.Core.OTHERS, command);
  }

  static long live(String heapInfo) {
    return sum(USED, heapInfo);
  }

  static long allocated(String threads) {
    return sum(ALLOCATED, threads);
  }

  private static long sum(Pattern amount, String text) {
    return amount
        .matcher(text)
        .results()
        .mapToLong(match -> Long.parseLong(match.group(1)) << (10 * UNITS.indexOf(match.group(2))))
        .sum();
  }
}
