package io.kamille.perf.host;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/** What the threads of a Java process have allocated on the heap so far, as {@code jcmd} tells. */
public final class JavaAllocation {

  /*
   * Past a hundred megabytes the JVM rounds down to whole ones: over a hundred thousand requests and
   * more that is less than ten octets for each.
   */
  private static final Pattern ALLOCATED = Pattern.compile(" allocated=(\\d+)([BKMG])");
  private static final String UNITS = "BKMG";

  private JavaAllocation() {}

  /** Octets allocated by all threads that are alive. */
  public static long bytes(Workbench bench, long pid) throws IOException, InterruptedException {
    String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
    List<String> command = List.of(jcmd, Long.toString(pid), "Thread.print", "-e");
    return parse(bench.run(Workbench.Core.OTHERS, command));
  }

  static long parse(String threads) {
    return ALLOCATED
        .matcher(threads)
        .results()
        .mapToLong(match -> Long.parseLong(match.group(1)) << (10 * UNITS.indexOf(match.group(2))))
        .sum();
  }
}
