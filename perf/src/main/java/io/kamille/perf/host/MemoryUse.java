package io.kamille.perf.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Memory of a process.
 *
 * @param residentBytes its pages in memory, shared ones counted whole
 * @param proportionalBytes the same, a shared page counted as its share: what may be added up
 */
public record MemoryUse(long residentBytes, long proportionalBytes) {

  /** Nothing. */
  public static final MemoryUse NONE = new MemoryUse(0, 0);

  /** Of a process, without its children. */
  public static MemoryUse of(long pid) throws IOException {
    return parse(Files.readAllLines(Path.of("/proc", Long.toString(pid), "smaps_rollup")));
  }

  /** Reads {@code /proc/PID/smaps_rollup}. */
  static MemoryUse parse(List<String> rollup) {
    return new MemoryUse(bytes(rollup, "Rss:"), bytes(rollup, "Pss:"));
  }

  private static long bytes(List<String> rollup, String name) {
    return rollup.stream()
        .filter(line -> line.startsWith(name))
        .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024)
        .findFirst()
        .orElse(0);
  }

  public MemoryUse plus(MemoryUse other) {
    return new MemoryUse(
        residentBytes + other.residentBytes, proportionalBytes + other.proportionalBytes);
  }
}
