package io.kamille.perf.lab;

import io.kamille.cache.disk.SlowDisk;
import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Child;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.peer.ControlPlane;
import io.kamille.perf.peer.Jvm;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * A Kamille on a {@link SlowDisk}.
 *
 * @param directory with its configuration and its store
 * @param port on the loopback address
 */
record PeakServer(Path directory, int port, ControlPlane control, Child process)
    implements AutoCloseable {

  /** What stored responses lie on, and whether requests leave the disk alone at a peak. */
  enum Mode {
    DISK("disk only"),
    HYBRID("memory + disk"),
    MEMORY("memory only"),
    AUTO("auto");

    private final String label;

    Mode(String label) {
      this.label = label;
    }

    String label() {
      return label;
    }

    boolean hasDisk() {
      return this != MEMORY;
    }
  }

  /** How it is built, whatever the mode. */
  record Build(
      long memoryMib, long diskMib, int connections, long seekMicros, long diskBytesPerSecond) {

    /** What is below {@code cache} in its configuration. */
    String cache(Mode mode) {
      String memory = "  memory:\n    capacity: " + (mode == Mode.DISK ? 1 : memoryMib) + "MiB\n";
      String disk =
          DISK.replace("%CAPACITY%", Long.toString(diskMib))
              .replace("%PEAK%", mode == Mode.AUTO ? "auto" : "off");
      return mode.hasDisk() ? memory + disk : memory;
    }
  }

  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(2);
  private static final String MARK = "slow";
  private static final String DISK =
      """
        disk:
          path: %DIRECTORY%/store
          capacity: %CAPACITY%MiB
          admit: always
          keep-memory: off
          peak: %PEAK%
      """;

  /** Starts it, on a disk that costs nothing yet; the bench ends it, and closing this before. */
  static PeakServer start(Workbench bench, String name, Mode mode, Build build, int originPort)
      throws IOException {
    Path directory = bench.directory(name);
    int port = Workbench.freePort();
    int adminPort = Workbench.freePort();
    Kamille.of(Checkout.find())
        .withCache(build.cache(mode))
        .withMetrics(adminPort)
        .prepare(directory, new Place(Job.MIX, port, originPort, build.connections()));
    List<String> arguments =
        List.of(
            Long.toString(build.seekMicros()),
            Long.toString(build.diskBytesPerSecond()),
            directory.resolve(MARK).toString(),
            directory.resolve("kamille.yaml").toString());
    Child process =
        bench.start(name, Core.SERVER, Jvm.command(SlowDisk.class, List.of(), arguments));
    process.awaitListening(port, START_LIMIT);
    process.awaitListening(adminPort, START_LIMIT);
    return new PeakServer(
        directory, port, new ControlPlane(adminPort, directory, ANSWER_LIMIT), process);
  }

  /** From now on the disk takes its time. */
  void makeDiskSlow() throws IOException {
    Files.writeString(directory.resolve(MARK), "");
  }

  /** Off the peak again, whatever it has seen; it looks for the next one. */
  void forgetPeak() throws IOException {
    control.order("PUT", "/v1/cache/tiers", "{\"peak\": \"off\"}");
    control.get("/v1/cache/tiers");
    control.order("PUT", "/v1/cache/tiers", "{\"peak\": \"auto\"}");
  }

  /** How many responses are on the disk; 0 without one. */
  long diskRecords() throws IOException {
    return control.metrics().sum("kamille_cache_disk_records");
  }

  @Override
  public void close() {
    process.stop();
  }
}
