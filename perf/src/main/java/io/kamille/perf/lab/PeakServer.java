package io.kamille.perf.lab;

import io.kamille.cache.disk.SlowDisk;
import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Child;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.Responder;
import io.kamille.perf.peer.ControlPlane;
import io.kamille.perf.peer.Jvm;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.wan.Namespaces;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * A Kamille on a {@link SlowDisk}, and its origin at the other end of a path.
 *
 * @param directory with its configuration and its store
 * @param port on the loopback address
 */
record PeakServer(Mode mode, Path directory, int port, ControlPlane control, Child process)
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

    /** What is below {@code cache} in the configuration. */
    String cache() {
      String memory = "  memory:\n    capacity: " + (this == DISK ? 1 : MEMORY_MIB) + "MiB\n";
      return hasDisk() ? memory + STORE.replace("%PEAK%", this == AUTO ? "auto" : "off") : memory;
    }
  }

  static final long MEMORY_MIB = 48;
  static final int CONNECTIONS = 6000;
  static final long SEEK_MICROS = 24_000;
  static final long DISK_BYTES_PER_SECOND = 80_000_000;

  private static final int ORIGIN_PORT = 9000;
  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(2);
  private static final String MARK = "slow";
  private static final String STORE =
      """
        disk:
          path: %DIRECTORY%/store
          capacity: 8GiB
          admit: always
          keep-memory: off
          peak: %PEAK%
      """;

  private static InetSocketAddress origin() {
    return new InetSocketAddress(Namespaces.address(1, 1), ORIGIN_PORT);
  }

  /** Starts the origin of all; the bench ends it. */
  static void startOrigin(Workbench bench, Namespaces spaces)
      throws IOException, InterruptedException {
    List<String> where = List.of(Integer.toString(ORIGIN_PORT), origin().getHostString());
    List<String> command = Jvm.command(Responder.class, List.of(), where);
    Child process = bench.start("origin", Core.OTHERS, spaces.atClient(command));
    spaces.callAtClient(
        () -> {
          process.awaitListening(origin(), START_LIMIT);
          return process;
        });
  }

  /**
   * Starts it where the calling thread is, on a disk that costs nothing yet; the bench ends it, and
   * closing this before.
   */
  static PeakServer start(Workbench bench, Mode mode) throws IOException {
    Path directory = bench.directory(mode.name());
    int port = Workbench.freePort();
    int adminPort = Workbench.freePort();
    Kamille.of(Checkout.find())
        .withCache(mode.cache())
        .withMetrics(adminPort)
        .prepare(directory, new Place(Job.MIX, port, ORIGIN_PORT, CONNECTIONS));
    Path file = directory.resolve("kamille.yaml");
    String near = "http://127.0.0.1:";
    String far = "http://" + origin().getHostString() + ":";
    Files.writeString(file, Files.readString(file).replace(near, far));
    List<String> arguments =
        List.of(
            Long.toString(SEEK_MICROS),
            Long.toString(DISK_BYTES_PER_SECOND),
            directory.resolve(MARK).toString(),
            file.toString());
    Child process =
        bench.start(mode.name(), Core.SERVER, Jvm.command(SlowDisk.class, List.of(), arguments));
    process.awaitListening(port, START_LIMIT);
    process.awaitListening(adminPort, START_LIMIT);
    return new PeakServer(
        mode, directory, port, new ControlPlane(adminPort, directory, ANSWER_LIMIT), process);
  }

  /** From now on the disk takes its time. */
  void makeDiskSlow() throws IOException {
    Files.writeString(directory.resolve(MARK), "");
  }

  /** Off the peak again, whatever it has seen; it looks for the next one. */
  void forgetPeak() throws IOException {
    if (mode == Mode.AUTO) {
      control.order("PUT", "/v1/cache/tiers", "{\"peak\": \"off\"}");
      control.get("/v1/cache/tiers");
      control.order("PUT", "/v1/cache/tiers", "{\"peak\": \"auto\"}");
    }
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
