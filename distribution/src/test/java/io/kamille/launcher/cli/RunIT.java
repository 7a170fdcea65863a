package io.kamille.launcher.cli;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.launcher.appliance.StubOrigin;
import io.kamille.launcher.appliance.TrustingAll;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The process as its operator and the system know it: words, signals, exit codes. */
class RunIT {

  @TempDir private Path directory;
  private StubOrigin origin;

  RunIT() throws IOException {
    origin = StubOrigin.open();
  }

  @BeforeEach
  void answer() {
    origin.on("/a", ok("hello", "Cache-Control: max-age=60"));
  }

  @AfterEach
  void close() throws IOException {
    origin.close();
  }

  @Test
  void aFewWordsAreEnough() throws Exception {
    try (KamilleProcess kamille =
        run("--listen", "127.0.0.1:0", "--origin", origin.url(), "--admin", "127.0.0.1:0")) {
      try (TestClient client = TestClient.connect(kamille.address())) {
        assertThat(client.get("/a").answer().content()).isEqualTo("hello");
        assertThat(client.get("/a").answer().field("Cache-Status")).contains("; hit;");
      }
      URI health = URI.create("http://" + kamille.awaitLine("admin on ") + "/healthz");
      assertThat(
              HttpClient.newHttpClient()
                  .send(HttpRequest.newBuilder(health).build(), BodyHandlers.ofString())
                  .statusCode())
          .isEqualTo(200);
      assertThat(directory.resolve("admin-token")).exists();
      kamille.signal("INT");
      assertThat(kamille.exitCode()).isZero();
    }
  }

  @Test
  void oneProcessAtATimeUsesAStateDirectory() throws Exception {
    String[] words = {
      "run", "--listen", "127.0.0.1:0", "--origin", origin.url(), "--admin", "127.0.0.1:0"
    };
    Path socket = directory.resolve("admin.sock");
    try (KamilleProcess first = KamilleProcess.start(directory, words)) {
      first.awaitLine("admin on ");
      try (KamilleProcess second = KamilleProcess.start(directory, words)) {
        assertThat(second.awaitLine("another Kamille (process "))
            .isEqualTo(first.processId() + ") uses this state directory: " + directory);
        assertThat(second.exitCode()).isEqualTo(ExitCode.UNAVAILABLE);
      }
      words[words.length - 1] = "off";
      try (KamilleProcess second = KamilleProcess.start(directory, words)) {
        assertThat(second.awaitLine("another Kamille (process "))
            .startsWith(first.processId() + ") uses this state directory: ");
        assertThat(second.exitCode()).isEqualTo(ExitCode.UNAVAILABLE);
      }
      words[words.length - 1] = "127.0.0.1:0";
      assertThat(socket).exists();
      first.signal("KILL");
      first.exitCode();
    }
    assertThat(socket).exists();
    try (KamilleProcess next = KamilleProcess.start(directory, words)) {
      next.awaitLine("admin on ");
    }
  }

  @Test
  void aStartWithATestThatFailsSaysSo() throws Exception {
    Path file =
        Files.writeString(
            directory.resolve("kamille.yaml"),
            """
            listeners: ['127.0.0.1:0']
            upstreams: {a: {origins: ['%s']}}
            routes: [{upstream: a}]
            admin: {address: off}
            tests: [{request: http://a/, expect: {cache: bypass}}]
            """
                .replace("%s", origin.url()));
    try (KamilleProcess kamille = run("--config", file.toString())) {
      assertThat(kamille.awaitLine("a test fails: "))
          .startsWith(file + ":5:46: tests[0].expect.cache: found lookup (route: ");
      try (TestClient client = TestClient.connect(kamille.address())) {
        assertThat(client.get("/a").answer().content()).isEqualTo("hello");
      }
    }
  }

  @Test
  void whoOrdersNoCertificateLoadsNothingForThat() throws Exception {
    Path loaded = directory.resolve("classes");
    try (KamilleProcess kamille =
        KamilleProcess.start(
            List.of("-Xlog:class+load:file=" + loaded),
            directory,
            "run",
            "--listen",
            "127.0.0.1:0",
            "--origin",
            origin.url(),
            "--admin",
            "127.0.0.1:0")) {
      try (TestClient client = TestClient.connect(kamille.address())) {
        client.get("/a").answer();
      }
      kamille.awaitLine("admin on ");
      kamille.signal("TERM");
      assertThat(kamille.exitCode()).isZero();
    }
    assertThat(Files.readString(loaded))
        .contains("io.kamille.launcher.Main")
        .doesNotContain("org.bouncycastle", "org.shredzone", "org.jose4j", "AcmeIssuer");
  }

  @Test
  void theOrderToStopLetsExchangesFinish() throws Exception {
    var gate = new CountDownLatch(1);
    origin.on(
        "/slow",
        visit -> {
          Await.opened(gate);
          visit.send(ok("finished"));
        });
    try (KamilleProcess kamille =
        run("--listen", "127.0.0.1:0", "--origin", origin.url(), "--admin", "off")) {
      var address = kamille.address();
      try (TestClient idle = TestClient.connect(address);
          TestClient busy = TestClient.connect(address).get("/slow")) {
        idle.get("/a").answer();
        origin.awaitRequests("/slow", 1);
        kamille.signal("TERM");
        assertThat(idle.isAtEnd()).isTrue();
        assertThatThrownBy(() -> TestClient.connect(address)).hasMessageContaining("refused");
        assertThat(kamille.isAlive()).isTrue();
        gate.countDown();
        assertThat(busy.answer().content()).isEqualTo("finished");
      }
      assertThat(kamille.exitCode()).isZero();
    }
  }

  @Test
  void aSecondOrderToStopStopsAtOnce() throws Exception {
    var never = new CountDownLatch(1);
    origin.on("/hangs", visit -> Await.opened(never));
    try (KamilleProcess kamille =
            run("--listen", "127.0.0.1:0", "--origin", origin.url(), "--admin", "off");
        TestClient idle = TestClient.connect(kamille.address());
        TestClient busy = TestClient.connect(kamille.address()).get("/hangs")) {
      idle.get("/a").answer();
      origin.awaitRequests("/hangs", 1);
      kamille.signal("TERM");
      assertThat(idle.isAtEnd()).as("it drains").isTrue();
      kamille.signal("TERM");
      assertThat(kamille.exitCode()).isEqualTo(130);
      assertThat(busy).isNotNull();
    }
    never.countDown();
  }

  @Test
  void itAcceptsForAWhileAfterItHasSaidThatItIsNotReady() throws Exception {
    Path file = directory.resolve("kamille.yaml");
    Files.writeString(
        file,
        """
        listeners: ['127.0.0.1:0']
        routes: [{respond: {status: 204}}]
        admin: {address: '127.0.0.1:0'}
        limits: {shutdown-delay: 1h}
        """);
    try (KamilleProcess kamille = run("--config", file.toString());
        HttpClient client = HttpClient.newHttpClient()) {
      URI ready = URI.create("http://" + kamille.awaitLine("admin on ") + "/readyz");
      var request = HttpRequest.newBuilder(ready).build();
      kamille.signal("TERM");
      Await.until(
          () -> client.sendAsync(request, BodyHandlers.discarding()).join().statusCode() == 503,
          "it is not ready");
      try (TestClient late = TestClient.connect(kamille.address())) {
        assertThat(late.get("/").answer().status()).isEqualTo(204);
      }
      kamille.signal("TERM");
      assertThat(kamille.exitCode()).isEqualTo(130);
    }
  }

  @Test
  void aHangUpReadsTheFileAgainAndABadFileChangesNothing() throws Exception {
    Path file = directory.resolve("kamille.yaml");
    configure(file, origin);
    try (StubOrigin other = StubOrigin.open();
        KamilleProcess kamille = run("--config", file.toString());
        TestClient client = TestClient.connect(kamille.address())) {
      other.on("/b", ok("other"));
      origin.on("/b", ok("first"));
      assertThat(client.get("/b").answer().content()).isEqualTo("first");

      Files.writeString(file, "listeners: nonsense\n");
      kamille.signal("HUP");
      kamille.awaitLine("the configuration was not reloaded");
      kamille.awaitLine(file + ":1:12");
      assertThat(client.get("/b").answer().content()).isEqualTo("first");

      Path log = directory.resolve("access.log");
      Files.move(log, directory.resolve("access.log.1"));
      kamille.signal("USR1");
      Await.until(() -> Files.exists(log), "the log is opened anew, whatever the file says");

      configure(file, other);
      kamille.signal("HUP");
      kamille.awaitLine("configuration reloaded");
      assertThat(client.get("/b").answer().content()).isEqualTo("other");
      kamille.signal("TERM");
      assertThat(kamille.exitCode()).isZero();
    }
  }

  @Test
  void whereBoringSslDoesNotLoadTheTlsOfTheJdkStandsIn() throws Exception {
    try (KamilleProcess kamille =
            KamilleProcess.start(
                List.of("-Dio.netty.handler.ssl.noOpenSsl=true"),
                directory,
                "run",
                "--listen",
                "127.0.0.1:0",
                "--tls",
                "self-signed",
                "--origin",
                origin.url(),
                "--admin",
                "off");
        HttpClient client = HttpClient.newBuilder().sslContext(TrustingAll.context()).build()) {
      URI uri = URI.create("https://127.0.0.1:" + kamille.address().getPort() + "/a");
      for (int i = 0; i < 2; i++) {
        HttpResponse<String> answer =
            client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
        assertThat(answer.version()).isEqualTo(Version.HTTP_2);
        assertThat(answer.body()).isEqualTo("hello");
      }
      assertThat(kamille.awaitLine("BoringSSL does not load")).contains("the JDK's TLS");
    }
  }

  private KamilleProcess run(String... words) throws IOException {
    String[] arguments = new String[words.length + 1];
    arguments[0] = "run";
    System.arraycopy(words, 0, arguments, 1, words.length);
    return KamilleProcess.start(directory, arguments);
  }

  private static void configure(Path file, StubOrigin origin) throws IOException {
    Files.writeString(
        file,
        """
        listeners: ['127.0.0.1:0']
        loops: 1
        upstreams: {site: {origins: ['ORIGIN']}}
        routes: [{upstream: site}]
        cache: {memory: {capacity: 8MiB}}
        admin: {address: 'off'}
        log: {access: {enabled: on, output: access.log}}
        """
            .replace("ORIGIN", origin.url()));
  }
}
