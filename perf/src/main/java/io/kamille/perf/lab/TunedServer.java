package io.kamille.perf.lab;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Child;
import io.kamille.perf.host.CpuTime;
import io.kamille.perf.host.SendMemory;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.wan.Namespaces;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Kamille at its end of the path, with its control plane, tuned in some way. Confined. */
final class TunedServer implements AutoCloseable {

  private static final int PORT = 8080;
  private static final int ORIGIN_PORT = 9000;
  private static final int ADMIN_PORT = 9090;
  private static final Duration START_LIMIT = Duration.ofSeconds(60);

  private final Namespaces spaces;
  private final Child process;
  private final String token;

  private TunedServer(Namespaces spaces, Child process, String token) {
    this.spaces = spaces;
    this.process = process;
    this.token = token;
  }

  /**
   * Starts it as a cache in memory before the origin.
   *
   * @param name of its directory
   * @param settings in YAML
   */
  static TunedServer start(Workbench bench, Namespaces spaces, String name, String settings)
      throws IOException, InterruptedException {
    var kamille = new Kamille(Checkout.find()).with(settings).withMetrics(ADMIN_PORT);
    String missing = kamille.missing();
    if (missing != null) {
      throw new IOException(missing);
    }
    Path directory = bench.directory(name);
    var place = new Place(Job.HIT, Namespaces.SERVER_ADDRESS, PORT, ORIGIN_PORT, 8000, List.of());
    Child process =
        bench.start(name, Core.SERVER, spaces.atServer(kamille.prepare(directory, place)));
    spaces.callAtServer(
        () -> {
          process.awaitListening(WanServer.address(), START_LIMIT);
          return process;
        });
    return new TunedServer(spaces, process, Files.readString(directory.resolve("token")).strip());
  }

  /** What its control plane says. */
  String ask(String path) throws IOException, InterruptedException {
    return spaces.callAtServer(
        () -> {
          var url = URI.create("http://127.0.0.1:" + ADMIN_PORT + path).toURL();
          var connection = (HttpURLConnection) url.openConnection();
          connection.setRequestProperty("Authorization", "Bearer " + token);
          try (var in = connection.getInputStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
          }
        });
  }

  /** What the kernel holds to send for its clients, once so much time has passed. */
  SendMemory watchMemory(Duration settling) {
    return SendMemory.watch(spaces.atServer(List.of()), PORT, settling);
  }

  static InetSocketAddress address() {
    return WanServer.address();
  }

  CpuTime cpuTime() throws IOException {
    return process.cpuTime();
  }

  @Override
  public void close() {
    process.stop();
  }
}
