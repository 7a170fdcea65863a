package io.kamille.perf.host;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a number depends on besides the code: machine, kernel, Java, versions. */
public final class HostFingerprint {

  private static final double QUIET_LOAD = 0.5;

  private HostFingerprint() {}

  /** Looks at this machine now: names and values, in the order they are shown. */
  public static Map<String, String> facts(Checkout checkout) {
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("date", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    facts.put("commit", checkout.commit());
    facts.put("cpu", cpuModel());
    facts.put("cores", Integer.toString(Runtime.getRuntime().availableProcessors()));
    facts.put("kernel", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    facts.put("tcp_congestion_control", CongestionControl.current());
    facts.put(
        "java",
        System.getProperty("java.runtime.version") + " " + System.getProperty("java.vendor"));
    facts.put("flags", String.join(" ", ManagementFactory.getRuntimeMXBean().getInputArguments()));
    facts.put("options", System.getenv().getOrDefault("KAMILLE_JAVA_OPTS", ""));
    facts.put("load", Double.toString(loadAverage()));
    return facts;
  }

  /** Whether this machine is busy with other things, so that figures are disturbed. */
  public static boolean isBusy() {
    return loadAverage() > QUIET_LOAD;
  }

  /** How many processes wanted a core during the last minute. */
  private static double loadAverage() {
    return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
  }

  private static String cpuModel() {
    try (var lines = Files.lines(Path.of("/proc/cpuinfo"))) {
      return lines
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse(System.getProperty("os.arch"));
    } catch (IOException e) {
      return System.getProperty("os.arch");
    }
  }
}
