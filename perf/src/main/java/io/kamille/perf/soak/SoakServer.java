package io.kamille.perf.soak;

import io.kamille.perf.host.MemoryUse;
import io.kamille.perf.host.Resource;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.peer.ControlPlane;
import io.kamille.perf.peer.Jvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Kamille as a child, and what can be asked of it. Any thread. */
final class SoakServer implements AutoCloseable {

  private static final int START_SECONDS = 120;

  /** Nobody may wait for longer than this; it is no measure of speed. */
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private static final int STOP_SECONDS = 60;
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** The first line of a stack trace's frames, and what nobody wants to read in a log. */
  private static final Pattern TROUBLE =
      Pattern.compile("LEAK|^\\s+at \\S+\\(|Exception|Error:|OutOfMemory|AssertionError");

  private final Path directory;
  private final int port;
  private final int adminPort;
  private final Ports origins;
  private final ControlPlane control;
  private final Process process;

  /** Where the origins listen. */
  record Ports(int sound, int shaky, int down) {}

  private SoakServer(Path directory, int port, int adminPort, Ports origins, Process process) {
    this.directory = directory;
    this.port = port;
    this.adminPort = adminPort;
    this.origins = origins;
    this.control = new ControlPlane(adminPort, directory, PATIENCE);
    this.process = process;
  }

  /**
   * Starts it and waits until it is ready.
   *
   * @param command runs Kamille, without what {@code run} takes
   * @param directory for all its files, of which {@code kamille.log} is its log
   */
  static SoakServer start(List<String> command, Path directory, Ports origins) throws IOException {
    int port = Workbench.freePort();
    int adminPort = Workbench.freePort();
    Files.writeString(file(directory), configuration(directory, port, adminPort, origins, 0));
    var words = new ArrayList<>(command);
    words.addAll(List.of("run", "--config", file(directory).toString()));
    Process process =
        new ProcessBuilder(words)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("kamille.log").toFile())
            .start();
    var server = new SoakServer(directory, port, adminPort, origins, process);
    server.awaitReady();
    return server;
  }

  private static Path file(Path directory) {
    return directory.resolve("kamille.yaml");
  }

  /** What a reload changes follows from its number. */
  private static String configuration(
      Path directory, int port, int adminPort, Ports origins, int number) {
    return Resource.text(SoakServer.class, "kamille.yaml")
        .replace("%PORT%", Integer.toString(port))
        .replace("%ADMIN%", Integer.toString(adminPort))
        .replace("%SOUND%", Integer.toString(origins.sound()))
        .replace("%SHAKY%", Integer.toString(origins.shaky()))
        .replace("%DOWN%", Integer.toString(origins.down()))
        .replace("%STORE%", directory.resolve("store").toAbsolutePath().toString())
        .replace("%TOKEN%", directory.resolve("token").toAbsolutePath().toString())
        .replace("%RETRIES%", Integer.toString(1 + number % 2))
        .replace("%STALE%", 1 + number % 3 + "s");
  }

  private void awaitReady() throws IOException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    while (!isReady()) {
      if (!process.isAlive() || System.nanoTime() - deadline > 0) {
        close();
        throw new IOException("Kamille does not start: " + Files.readString(log()));
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }

  private boolean isReady() {
    try {
      return control.get("/readyz").startsWith("ready");
    } catch (IOException notYet) {
      return false;
    }
  }

  int port() {
    return port;
  }

  boolean isAlive() {
    return process.isAlive();
  }

  Path log() {
    return directory.resolve("kamille.log");
  }

  /** Writes another configuration and has it loaded. */
  void reload(int number) throws IOException, InterruptedException {
    Files.writeString(file(directory), configuration(directory, port, adminPort, origins, number));
    int status = new ProcessBuilder("kill", "-HUP", Long.toString(process.pid())).start().waitFor();
    if (status != 0) {
      throw new IOException("kill -HUP ended with status " + status);
    }
  }

  /** Sockets, and what is open besides them and the files of the disk tier. */
  record Descriptors(int sockets, int others) {}

  Descriptors descriptors() throws IOException {
    int sockets = 0;
    int others = 0;
    try (Stream<Path> links = Files.list(Path.of("/proc", Long.toString(process.pid()), "fd"))) {
      for (Path link : links.toList()) {
        String target = target(link);
        boolean isSocket = target.startsWith("socket:");
        sockets += isSocket ? 1 : 0;
        others += isSocket || target.startsWith(directory.resolve("store").toString()) ? 0 : 1;
      }
    }
    return new Descriptors(sockets, others);
  }

  private String target(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException closedMeanwhile) {
      return directory.resolve("store").toString();
    }
  }

  /** Its pages in memory, in octets. */
  long residentBytes() throws IOException {
    return MemoryUse.of(process.pid()).residentBytes();
  }

  /** The heap that is in use after everything else was collected, in octets. */
  long liveHeapBytes() throws IOException, InterruptedException {
    new ProcessBuilder(Jvm.tool("jcmd"), Long.toString(process.pid()), "GC.run")
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start()
        .waitFor();
    return control.metrics().with("jvm_memory_used_bytes", "area=\"heap\"");
  }

  /** Lines of its log that should not be there. */
  List<String> troubleInLog() throws IOException {
    try (Stream<String> lines = Files.lines(log())) {
      return lines.filter(line -> TROUBLE.matcher(line).find()).toList();
    }
  }

  ControlPlane control() {
    return control;
  }

  /** Tells it to stop, and waits; by force if it hesitates. */
  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  /** How it ended, after {@link #close}. */
  int exitValue() {
    return process.exitValue();
  }
}
