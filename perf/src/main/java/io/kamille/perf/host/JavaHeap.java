package io.kamille.perf.host;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/** The live objects of a Java process, counted by {@code jcmd} after a full collection. */
public final class JavaHeap {

  /** A line per generation, or one for all, begins at the margin; their parts are indented. */
  private static final Pattern USED =
      Pattern.compile("(?m)^(?!Metaspace)[\\w-].*?\\bused (\\d+)([KM])");

  private JavaHeap() {}

  /** Collects the garbage of that process and returns the octets that are left. */
  public static long liveBytes(Workbench bench, long pid) throws IOException, InterruptedException {
    jcmd(bench, pid, "GC.run");
    return parse(jcmd(bench, pid, "GC.heap_info"));
  }

  private static String jcmd(Workbench bench, long pid, String what)
      throws IOException, InterruptedException {
    String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
    return bench.run(Workbench.Core.OTHERS, List.of(jcmd, Long.toString(pid), what));
  }

  static long parse(String heapInfo) {
    return USED.matcher(heapInfo)
        .results()
        .mapToLong(
            match -> Long.parseLong(match.group(1)) << (match.group(2).equals("M") ? 20 : 10))
        .sum();
  }
}
