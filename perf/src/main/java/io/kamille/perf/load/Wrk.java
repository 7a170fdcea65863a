package io.kamille.perf.load;

import io.kamille.perf.host.Programs;
import io.kamille.perf.host.Workbench;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Drives a server with wrk, on the core for load. */
public final class Wrk {

  private final Workbench bench;
  private final Path script;
  private final int connections;

  private Wrk(Workbench bench, Path script, int connections) {
    this.bench = bench;
    this.script = script;
    this.connections = connections;
  }

  /** What is missing on this machine, or null. */
  public static @Nullable String missing() {
    return Programs.find("wrk") == null
        ? "wrk is needed; install it with: apt-get install wrk"
        : null;
  }

  /**
   * Prepares runs over that many persistent connections.
   *
   * @throws IOException if wrk is missing or the script cannot be written
   */
  public static Wrk open(Workbench bench, int connections) throws IOException {
    String missing = missing();
    if (missing != null) {
      throw new IOException(missing);
    }
    Path script = bench.directory("wrk").resolve("wrk.lua");
    try (InputStream source = Wrk.class.getResourceAsStream("wrk.lua")) {
      if (source == null) {
        throw new IllegalStateException("wrk.lua is not beside the class");
      }
      Files.copy(source, script, StandardCopyOption.REPLACE_EXISTING);
    }
    return new Wrk(bench, script, connections);
  }

  /**
   * Asks for that path as fast as the server answers.
   *
   * @param coding the content coding that the client takes; empty for a client that says nothing
   */
  public WrkResult run(int port, String path, String coding, int seconds)
      throws IOException, InterruptedException {
    var command =
        new ArrayList<>(
            List.of(
                "wrk", "-t1", "-c" + connections, "-d" + seconds + "s", "-s", script.toString()));
    if (!coding.isEmpty()) {
      command.addAll(List.of("-H", "Accept-Encoding: " + coding));
    }
    command.add("http://127.0.0.1:" + port + path);
    return WrkResult.parse(bench.run(Workbench.Core.OTHERS, command));
  }
}
