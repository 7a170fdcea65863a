package io.kamille.launcher.cli;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kamille.core.client.h1.TestClient;
import io.kamille.launcher.appliance.StubOrigin;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Kamille in a network namespace without interfaces, with sockets from a helper on the host. */
class HostSocketsIT {

  private static final String CONFIGURATION =
      """
      listeners: ['127.0.0.1:0']
      loops: 2
      upstreams:
        a: {origins: ['%s'], health: {check: {kind: http, path: /health, interval: 100ms}}}
        b: {origins: ['http://127.0.0.1:9']}
      routes: [{upstream: a}, {path: /elsewhere, upstream: b}]
      cache: {memory: {capacity: 16MiB}}
      log: {access: {enabled: on, output: stdout}}
      admin: {address: off}
      host-sockets: '%s'
      """;

  @TempDir private Path directory;
  private final StubOrigin origin;
  private Path socket = Path.of("");
  private Path file = Path.of("");

  HostSocketsIT() throws IOException {
    origin = StubOrigin.open();
  }

  @BeforeEach
  void configure() throws Exception {
    assumeTrue(mayUnshare(), "no network namespace of its own: needs root and unshare");
    origin.on("/a", ok("hello", "Cache-Control: max-age=60"));
    origin.on("/health", ok("well"));
    origin.on("/once", ok("passed", "Cache-Control: no-store", "Connection: close"));
    socket = directory.resolve("host.sock");
    file = directory.resolve("kamille.yaml");
    Files.writeString(
        file,
        CONFIGURATION
            .replaceFirst("%s", origin.url().replace("127.0.0.1", "localhost"))
            .replaceFirst("%s", socket.toString()));
  }

  private static boolean mayUnshare() throws InterruptedException {
    try {
      return new ProcessBuilder("unshare", "--net", "true").start().waitFor() == 0;
    } catch (IOException missing) {
      return false;
    }
  }

  @AfterEach
  void close() throws IOException {
    origin.close();
  }

  private KamilleProcess helper() throws IOException {
    String originAddress = origin.url().substring("http://".length());
    KamilleProcess helper =
        KamilleProcess.start(
            directory,
            "host-sockets",
            "--socket=" + socket,
            "--listen=127.0.0.1:0",
            "--allow-origin=" + originAddress.replace("127.0.0.1", "localhost"));
    helper.awaitLine("sockets at ");
    return helper;
  }

  private static TestClient.Answer get(InetSocketAddress address, String target) {
    try (TestClient client = TestClient.connect(address)) {
      return client.get(target).answer();
    }
  }

  @Test
  void aSandboxServesClientsFromItsOriginsAndReachesNobodyElse() throws Exception {
    try (KamilleProcess helper = helper();
        KamilleProcess kamille =
            KamilleProcess.sandboxed(directory, "run", "--config", file.toString())) {
      InetSocketAddress address = kamille.address();
      assertThat(network(kamille.processId())).isNotEqualTo(network(helper.processId()));
      assertThat(get(address, "/a").content()).isEqualTo("hello");
      assertThat(get(address, "/a").field("Cache-Status")).contains("hit");
      assertThat(get(address, "/once").content()).isEqualTo("passed");
      origin.awaitRequests("/health", 2);
      assertThat(get(address, "/elsewhere").status()).isEqualTo(503);
      helper.awaitLine("a sandbox may not connect to 127.0.0.1:9");
      kamille.awaitLine("the helper is not allowed to connect to 127.0.0.1:9");
    }
  }

  @Test
  void aSandboxOutlivesItsHelper() throws Exception {
    InetSocketAddress address;
    KamilleProcess first = helper();
    try (KamilleProcess kamille =
        KamilleProcess.sandboxed(directory, "run", "--config", file.toString())) {
      address = kamille.address();
      assertThat(get(address, "/once").content()).isEqualTo("passed");
      first.signal("KILL");
      kamille.awaitLine("no sockets from the helper");
      assertThat(get(address, "/a").status()).isBetween(500, 504);
      try (KamilleProcess second = helper()) {
        kamille.awaitLine("is there again");
        assertThat(get(address, "/once").content()).isEqualTo("passed");
        assertThat(second.isAlive()).isTrue();
      }
    }
  }

  @Test
  void withoutItsHelperASandboxDoesNotStart() throws Exception {
    try (KamilleProcess helper =
            KamilleProcess.start(
                directory, "host-sockets", "--socket=" + socket, "--listen=127.0.0.2:0");
        KamilleProcess kamille =
            KamilleProcess.sandboxed(directory, "run", "--config", file.toString())) {
      assertThat(kamille.exitCode()).isEqualTo(ExitCode.UNAVAILABLE);
      kamille.awaitLine("cannot listen on 127.0.0.1:0: the helper is not allowed to listen on");
      assertThat(helper.isAlive()).isTrue();
    }
  }

  private static Path network(long process) throws IOException {
    return Files.readSymbolicLink(Path.of("/proc", Long.toString(process), "ns/net"));
  }
}
