package io.kamille.perf.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The kernel's congestion control for new connections.
 *
 * <p>BBR paces, which without the fq queueing discipline doubles what a large transfer over
 * loopback costs, for every server. CUBIC does not.
 */
public final class CongestionControl {

  private static final Path SETTING = Path.of("/proc/sys/net/ipv4/tcp_congestion_control");
  private static final String WANTED = "cubic";

  private CongestionControl() {}

  /** What is in force. */
  public static String current() {
    try {
      return Files.readString(SETTING).strip();
    } catch (IOException e) {
      return "unknown";
    }
  }

  /** Sets CUBIC until the bench is cleared. Says so, also if it may not. */
  public static void useCubic(Workbench bench) {
    String before = current();
    if (before.equals(WANTED)) {
      return;
    }
    bench.undo(() -> restore(before));
    try {
      Files.writeString(SETTING, WANTED);
      System.out.println("tcp_congestion_control: cubic, and " + before + " again at the end");
    } catch (IOException e) {
      System.out.println(
          "tcp_congestion_control stays "
              + before
              + " (only root may set cubic): large objects cost more");
    }
  }

  private static void restore(String before) throws IOException {
    if (current().equals(WANTED)) {
      Files.writeString(SETTING, before);
    }
  }
}
