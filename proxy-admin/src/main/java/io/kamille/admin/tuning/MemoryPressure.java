package io.kamille.admin.tuning;

import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** How near memory for content in motion is to its end. Any thread. */
public final class MemoryPressure {

  /*
   * /proc/net/sockstat      "TCP: inuse 6 orphan 0 tw 0 alloc 8 mem 3", in pages, of all namespaces
   * /proc/sys/net/ipv4/tcp_mem   "low pressure high", in pages: over the second the kernel saves
   */
  private static final String MEM = " mem ";

  private final Path proc;

  /** Reads below {@code proc}. */
  public MemoryPressure(Path proc) {
    this.proc = proc;
  }

  /** 0 at rest; 1 where the kernel begins to save, or the process has no direct memory left. */
  public double now() {
    return Math.max(kernel(), process());
  }

  private double kernel() {
    try {
      String sockets = Files.readString(proc.resolve("net/sockstat"));
      String[] limits = KernelLimits.numbers(proc.resolve("sys/net/ipv4/tcp_mem"));
      int tcp = sockets.indexOf("TCP:");
      int at = sockets.indexOf(MEM, Math.max(tcp, 0)) + MEM.length();
      int end = sockets.indexOf('\n', at);
      String pages = sockets.substring(at, end < 0 ? sockets.length() : end).strip();
      return Double.parseDouble(pages) / Math.max(1, Double.parseDouble(limits[1]));
    } catch (IOException | RuntimeException untold) {
      return 0;
    }
  }

  private static double process() {
    long most = PlatformDependent.maxDirectMemory();
    long used = PlatformDependent.usedDirectMemory();
    return most <= 0 || used < 0 ? 0 : (double) used / most;
  }
}
