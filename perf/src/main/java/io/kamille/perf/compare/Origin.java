package io.kamille.perf.compare;

import io.kamille.perf.host.Child;
import io.kamille.perf.host.CpuTime;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.load.Responder;
import io.kamille.perf.peer.Jvm;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/**
 * The origin that all servers ask, in a process of its own.
 *
 * @param port on the loopback address
 * @param process that the bench ends
 */
public record Origin(int port, Child process) {

  private static final Duration START_LIMIT = Duration.ofSeconds(60);

  /**
   * Starts it; the bench ends it.
   *
   * @throws IOException if it does not start
   */
  public static Origin start(Workbench bench) throws IOException {
    int port = Workbench.freePort();
    Child process =
        bench.start("origin", Workbench.Core.OTHERS, Jvm.command(Responder.class, List.of(), port));
    process.awaitListening(port, START_LIMIT);
    return new Origin(port, process);
  }

  CpuTime cpuTime() throws IOException {
    return process.cpuTime();
  }

  /** How many requests it has answered. */
  public long requests() throws IOException {
    try (var in = URI.create("http://127.0.0.1:" + port + "/requests").toURL().openStream()) {
      return Long.parseLong(new String(in.readAllBytes(), StandardCharsets.US_ASCII));
    }
  }
}
