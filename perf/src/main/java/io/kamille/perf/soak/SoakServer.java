package io.kamille.perf.soak;

import io.kamille.perf.host.Child;
import io.kamille.perf.host.ProcessFigures;
import io.kamille.perf.host.Resource;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.peer.ControlPlane;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Kamille as a child, and what can be asked of it. The bench ends it. Any thread. */
record SoakServer(
    Workbench bench, Path directory, int port, ControlPlane control, Ports origins, Child process) {

  /** Nobody may wait for longer than this; it is no measure of speed. */
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private static final Duration STOP_LIMIT = Duration.ofMinutes(1);

  /** Heap of the proxy, all of it touched at start: what grows then is something else. */
  private static final int HEAP_MIB = 192;

  private static final String OPTIONS =
      "KAMILLE_JAVA_OPTS=-Xms%dm -Xmx%dm -XX:+AlwaysPreTouch -Dio.netty.leakDetection.level=advanced"
          .formatted(HEAP_MIB, HEAP_MIB);

  /** The first line of a stack trace's frames, and what nobody wants to read in a log. */
  private static final Pattern TROUBLE =
      Pattern.compile("LEAK|^\\s+at \\S+\\(|Exception|Error:|OutOfMemory|AssertionError");

  /** Where the origins listen. */
  record Ports(int sound, int shaky, int down) {}

  /** Starts it, with leak detection and a heap that does not grow, and waits until it listens. */
  static SoakServer start(Workbench bench, Path program, Ports origins) throws IOException {
    Path directory = bench.directory("soak");
    int port = Workbench.freePort();
    var control = new ControlPlane(Workbench.freePort(), directory, PATIENCE);
    Path file = configure(directory, port, control, origins, 0);
    List<String> command =
        List.of("env", OPTIONS, program.toString(), "run", "--config", file.toString());
    Child process = bench.start("kamille", Core.ALL, command);
    process.awaitListening(port, PATIENCE);
    process.awaitListening(control.port(), PATIENCE);
    return new SoakServer(bench, directory, port, control, origins, process);
  }

  /** Writes a configuration. What a reload changes follows from its number. */
  private static Path configure(
      Path directory, int port, ControlPlane control, Ports origins, long number)
      throws IOException {
    return Files.writeString(
        directory.resolve("kamille.yaml"),
        Resource.text(SoakServer.class, "kamille.yaml")
            .replace("%PORT%", Integer.toString(port))
            .replace("%ADMIN%", Integer.toString(control.port()))
            .replace("%SOUND%", Integer.toString(origins.sound()))
            .replace("%SHAKY%", Integer.toString(origins.shaky()))
            .replace("%DOWN%", Integer.toString(origins.down()))
            .replace("%DIRECTORY%", directory.toString())
            .replace("%RETRIES%", Long.toString(1 + number % 2))
            .replace("%STALE%", 1 + number % 3 + "s"));
  }

  /** Writes another configuration and has it loaded. */
  void reload(long number) throws IOException, InterruptedException {
    configure(directory, port, control, origins, number);
    bench.run(Core.ALL, List.of("sh", "-c", "kill -HUP " + process.pid()));
  }

  /** Sockets, and what is open besides them and the files of the disk tier. */
  record Descriptors(int sockets, int others) {}

  Descriptors descriptors() throws IOException {
    int sockets = 0;
    int others = 0;
    String store = directory.resolve("store").toString();
    try (Stream<Path> links = Files.list(Path.of("/proc", Long.toString(process.pid()), "fd"))) {
      for (Path link : links.toList()) {
        String target = target(link, store);
        boolean isSocket = target.startsWith("socket:");
        sockets += isSocket ? 1 : 0;
        others += isSocket || target.startsWith(store) ? 0 : 1;
      }
    }
    return new Descriptors(sockets, others);
  }

  private static String target(Path link, String closed) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException closedMeanwhile) {
      return closed;
    }
  }

  /** Its pages in memory, in octets. */
  long residentBytes() throws IOException {
    return process.memory().residentBytes();
  }

  /** The heap that is in use after everything else was collected, in octets. */
  long liveHeapBytes() throws IOException, InterruptedException {
    ProcessFigures.collectGarbage(bench, process.pid());
    return control.metrics().with("jvm_memory_used_bytes", "area=\"heap\"");
  }

  /** Lines of its log that should not be there. */
  List<String> troubleInLog() throws IOException {
    try (Stream<String> lines = Files.lines(process.log())) {
      return lines.filter(line -> TROUBLE.matcher(line).find()).toList();
    }
  }

  /** Tells it to stop, by force if it hesitates, and returns how it ended. */
  int stop() {
    return process.stop(STOP_LIMIT);
  }
}
