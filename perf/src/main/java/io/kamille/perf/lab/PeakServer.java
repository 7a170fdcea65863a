package io.kamille.perf.lab;

import io.kamille.cache.disk.SlowDisk;
import io.kamille.perf.host.Child;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.peer.Jvm;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Kamille in one of the modes, on a disk that is slow when it is told to be. Confined. */
final class PeakServer implements AutoCloseable {

  /**
   * How it is built.
   *
   * @param seekMicros of the disk's arm
   */
  record Build(
      long memoryMib, long diskMib, int connections, long seekMicros, long diskBytesPerSecond) {}

  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final int READ_LIMIT_MILLIS = 2000;
  private static final Pattern RECORDS =
      Pattern.compile("^kamille_cache_disk_records\\S* ([0-9.eE+]+)$", Pattern.MULTILINE);

  private static final String CONFIGURATION =
      """
      listeners:
        - address: 127.0.0.1:%PORT%
      loops: 1
      upstreams:
        origin:
          origins:
            - http://127.0.0.1:%ORIGIN%
          max-connections: 8192
          max-waiting: 8192
      routes:
        - upstream: origin
      cache:
        memory:
          capacity: %MEMORY%MiB
      %DISK%
      limits:
        connections: %CONNECTIONS%
        idle-timeout: 1h
        idle-threshold: off
      log:
        access:
          enabled: off
      admin:
        address: 127.0.0.1:%ADMIN%
        token-file: %DIRECTORY%/token
      """;

  private static final String DISK =
      """
        disk:
          path: %DIRECTORY%/store
          capacity: %CAPACITY%MiB
          admit: always
          keep-memory: off
          peak: %PEAK%
      """;

  private final Path directory;
  private final int port;
  private final int adminPort;
  private final Child process;

  private PeakServer(Path directory, int port, int adminPort, Child process) {
    this.directory = directory;
    this.port = port;
    this.adminPort = adminPort;
    this.process = process;
  }

  /** Starts it, on a disk that costs nothing yet; the bench ends it, and closing this before. */
  static PeakServer start(Workbench bench, String name, PeakMode mode, Build build, int originPort)
      throws IOException {
    Path directory = bench.directory(name);
    int port = Workbench.freePort();
    int adminPort = Workbench.freePort();
    String text =
        configuration(mode, build)
            .replace("%DIRECTORY%", directory.toString())
            .replace("%PORT%", Integer.toString(port))
            .replace("%ADMIN%", Integer.toString(adminPort))
            .replace("%ORIGIN%", Integer.toString(originPort));
    Path file = Files.writeString(directory.resolve("kamille.yaml"), text);
    List<String> arguments =
        List.of(
            Long.toString(build.seekMicros()),
            Long.toString(build.diskBytesPerSecond()),
            mark(directory).toString(),
            "run",
            "--config",
            file.toString());
    Child process =
        bench.start(name, Core.SERVER, Jvm.command(SlowDisk.class, List.of(), arguments));
    process.awaitListening(port, START_LIMIT);
    process.awaitListening(adminPort, START_LIMIT);
    return new PeakServer(directory, port, adminPort, process);
  }

  /** What differs by mode, for the report too. */
  static String configuration(PeakMode mode, Build build) {
    String disk = mode.hasDisk() ? DISK.stripTrailing() : "";
    return CONFIGURATION
        .replace("%DISK%", disk)
        .replace("%CAPACITY%", Long.toString(build.diskMib()))
        .replace("%PEAK%", mode.peak())
        .replace("%MEMORY%", Long.toString(mode == PeakMode.DISK ? 1 : build.memoryMib()))
        .replace("%CONNECTIONS%", Integer.toString(build.connections()));
  }

  private static Path mark(Path directory) {
    return directory.resolve("slow");
  }

  /** From now on the disk takes its time. */
  void makeDiskSlow() throws IOException {
    Files.writeString(mark(directory), "");
  }

  int port() {
    return port;
  }

  /** How many responses are on the disk; 0 without one. */
  long diskRecords() throws IOException {
    Matcher matcher = RECORDS.matcher(get("/metrics"));
    return matcher.find() ? Math.round(Double.parseDouble(matcher.group(1))) : 0;
  }

  /** What a path of the control plane answers. Any thread. */
  String get(String path) throws IOException {
    var connection =
        (HttpURLConnection)
            URI.create("http://127.0.0.1:" + adminPort + path).toURL().openConnection();
    connection.setConnectTimeout(READ_LIMIT_MILLIS);
    connection.setReadTimeout(READ_LIMIT_MILLIS);
    String token = Files.readString(directory.resolve("token")).strip();
    connection.setRequestProperty("Authorization", "Bearer " + token);
    try (var in = connection.getInputStream()) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } finally {
      connection.disconnect();
    }
  }

  @Override
  public void close() {
    process.stop();
  }
}
