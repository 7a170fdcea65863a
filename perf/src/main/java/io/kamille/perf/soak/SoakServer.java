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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Kamille as a child, and what can be asked of it. The bench ends it. Any thread. */
record SoakServer(
    Workbench bench, ControlPlane control, Map<String, Integer> ports, Child process) {

  /** Nobody may wait for longer than this; it is no measure of speed. */
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private static final Duration STOP_LIMIT = Duration.ofMinutes(1);

  /** Heap of the proxy, all of it touched at start: what grows then is something else. */
  private static final int HEAP_MIB = 192;

  private static final String OPTIONS =
      "KAMILLE_JAVA_OPTS=-Dio.netty.leakDetection.level=advanced -XX:+AlwaysPreTouch"
          + (" -Xms" + HEAP_MIB + "m -Xmx" + HEAP_MIB + "m");

  /** The first line of a stack trace's frames, and what nobody wants to read in a log. */
  private static final Pattern TROUBLE =
      Pattern.compile("LEAK|^\\s+at \\S+\\(|Exception|Error:|OutOfMemory|AssertionError");

  /**
   * Starts it, with leak detection and a heap that does not grow, and waits until it listens.
   *
   * @param origins ports, by their names in the configuration
   */
  static SoakServer start(Workbench bench, Path program, Map<String, Integer> origins)
      throws IOException {
    var ports = new HashMap<>(origins);
    var control = new ControlPlane(Workbench.freePort(), bench.directory("soak"), PATIENCE);
    ports.put("%ADMIN%", control.port());
    ports.put("%PORT%", Workbench.freePort());
    String file = configure(control, ports, 0).toString();
    List<String> command = List.of("env", OPTIONS, program.toString(), "run", "--config", file);
    var server = new SoakServer(bench, control, ports, bench.start("kamille", Core.ALL, command));
    server.process.awaitListening(server.port(), PATIENCE);
    server.process.awaitListening(control.port(), PATIENCE);
    return server;
  }

  /** Writes a configuration. What a reload changes follows from its number. */
  private static Path configure(ControlPlane control, Map<String, Integer> ports, long number)
      throws IOException {
    String text = Resource.text(SoakServer.class, "kamille.yaml");
    for (var port : ports.entrySet()) {
      text = text.replace(port.getKey(), port.getValue().toString());
    }
    return Files.writeString(
        control.directory().resolve("kamille.yaml"),
        text.replace("%DIRECTORY%", control.directory().toString())
            .replace("%RETRIES%", Long.toString(1 + number % 2))
            .replace("%STALE%", 1 + number % 3 + "s"));
  }

  /** Writes another configuration and has it loaded. */
  void reload(long number) throws IOException, InterruptedException {
    configure(control, ports, number);
    bench.run(Core.ALL, List.of("sh", "-c", "kill -HUP " + process.pid()));
  }

  /** Where clients come. */
  int port() {
    return ports.getOrDefault("%PORT%", 0);
  }

  /** Sockets, and what is open besides them and the files of the disk tier. */
  record Descriptors(int sockets, int others) {}

  Descriptors descriptors() throws IOException {
    int sockets = 0;
    int others = 0;
    String store = control.directory().resolve("store").toString();
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
