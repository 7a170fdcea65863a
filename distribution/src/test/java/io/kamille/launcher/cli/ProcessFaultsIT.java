package io.kamille.launcher.cli;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.launcher.appliance.StubOrigin;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the process lacks costs what needs it, and nothing else; when it dies, so does its past. */
class ProcessFaultsIT {

  private static final String FRESH = "Cache-Control: max-age=36000";
  private static final int BUSY = 8;
  private static final int WAITING = 48;
  private static final int TARGETS = 20;

  private final HttpClient admin = HttpClient.newHttpClient();
  private final List<TestClient> clients = new ArrayList<>();
  private final AtomicInteger version = new AtomicInteger();
  private final StubOrigin origin;

  @TempDir private Path directory;

  ProcessFaultsIT() throws IOException {
    origin = StubOrigin.open();
    origin.on("/a", ok("hello", FRESH));
    for (int i = 0; i < BUSY; i++) {
      origin.on(
          "/slow/" + i, visit -> visit.awaitTheWord().send(ok("slow", "Cache-Control: no-store")));
    }
    for (int i = 0; i < TARGETS; i++) {
      int number = i;
      origin.on("/" + i, visit -> visit.send(ok(content(number, version.get()), FRESH)));
    }
  }

  @AfterEach
  void close() throws IOException {
    clients.forEach(TestClient::close);
    origin.giveTheWord();
    origin.close();
    admin.close();
  }

  /** Each request under way has a connection to the origin too. */
  @Test
  void withoutDescriptorsWhatIsUnderWayGoesOnAndOthersAreServedOnceThereIsRoom() throws Exception {
    try (KamilleProcess kamille = start("127.0.0.1:0", "access: {enabled: off}")) {
      InetSocketAddress address = kamille.address();
      // A class that is needed for the first time takes a descriptor too.
      assertThat(client(address).get("/a").answer().content()).isEqualTo("hello");
      assertThat(client(address).get("/a", "Connection: close").answer().status()).isEqualTo(200);
      assertThat(client(address).get("/nothing").answer().status()).isEqualTo(404);
      List<TestClient> busy = new ArrayList<>();
      for (int i = 0; i < BUSY; i++) {
        busy.add(client(address).get("/slow/" + i));
        origin.awaitRequests("/slow/" + i, 1);
      }
      kamille.limitDescriptors(kamille.descriptors());
      List<TestClient> waiting = new ArrayList<>();
      for (int i = 0; i < WAITING; i++) {
        waiting.add(client(address).get("/a", "Connection: close"));
      }
      kamille.awaitLine("connections cannot be accepted");
      origin.giveTheWord();
      for (TestClient client : busy) {
        assertThat(client.answer().content()).isEqualTo("slow");
        client.close();
      }
      for (TestClient client : waiting) {
        assertThat(client.answer().content()).isEqualTo("hello");
        client.close();
      }
      Await.until(() -> metric(kamille, "kamille_accept_failures_total") > 0, "it is counted");
      assertThat(kamille.lines())
          .filteredOn(line -> line.contains("Too many open files"))
          .as("lines of a second or two")
          .hasSizeLessThan(10);
    }
  }

  /** {@code /dev/full} answers every write as a full disk does. */
  @Test
  void withAFullDiskUnderTheAccessLogRequestsGoOnAndOneLineSaysIt() throws Exception {
    try (KamilleProcess kamille =
        start("127.0.0.1:0", "access: {enabled: on, output: /dev/full}")) {
      InetSocketAddress address = kamille.address();
      assertThat(client(address).get("/a").answer().content()).isEqualTo("hello");
      kamille.awaitLine("access log: lines are lost");
      assertThat(client(address).get("/a").answer().content()).isEqualTo("hello");
      Await.until(
          () -> metric(kamille, "kamille_access_log_write_errors_total") > 1, "both are counted");
      assertThat(kamille.lines())
          .filteredOn(line -> line.contains("access log"))
          .as("lines of the log")
          .hasSize(1);
    }
  }

  /** Who reads a pipe may stop, such as a log shipper: messages are lost then, and nothing else. */
  @Test
  void ifNobodyReadsStandardErrorRequestsGoOnAndASignalEndsTheProcess() throws Exception {
    try (KamilleProcess kamille = start("127.0.0.1:0", "access: {enabled: off}")) {
      InetSocketAddress address = kamille.address();
      kamille.awaitLine("admin on ");
      assertThat(metric(kamille, "kamille_config_last_reload_successful")).isOne();
      assertThat(metric(kamille, "kamille_config_last_reload_success_timestamp_seconds"))
          .isGreaterThan(1_700_000_000);
      Path file = directory.resolve("kamille.yaml");
      StringBuilder broken = new StringBuilder(Files.readString(file));
      for (int i = 0; i < 100; i++) {
        broken.append("unknown-").append("x".repeat(100)).append(i).append(": 1\n");
      }
      Files.writeString(file, broken);
      kamille.stopReading();
      Await.until(
          () -> {
            hangUp(kamille);
            return metric(kamille, "kamille_log_dropped_messages_total") > 0;
          },
          "messages are dropped");
      assertThat(metric(kamille, "kamille_config_last_reload_successful")).isZero();
      assertThat(client(address).get("/refused/by/nobody").answer().status()).isEqualTo(404);
      kamille.readOn();
      kamille.awaitLine("messages were dropped");
      kamille.stopReading();
      hangUp(kamille);
      kamille.signal("TERM");
      assertThat(kamille.awaitEnd()).isZero();
      kamille.readOn();
    }
  }

  private static void hangUp(KamilleProcess kamille) {
    try {
      kamille.signal("HUP");
    } catch (IOException | InterruptedException failed) {
      throw new AssertionError(failed);
    }
  }

  /** The address is none that connections of others start from, so that nobody takes the port. */
  @Test
  void whatIsKilledUnderLoadListensAgainAtOnceAndHasForgottenEverything() throws Exception {
    String listener = "127.0.0.77:0";
    for (int round = 0; round < 3; round++) {
      try (KamilleProcess kamille = start(listener, "access: {enabled: off}")) {
        InetSocketAddress address = kamille.address();
        listener = address.getHostString() + ":" + address.getPort();
        readAll(address);
        var answered = new AtomicInteger();
        Thread load = Thread.ofVirtual().start(() -> load(address, answered));
        Await.until(() -> answered.get() > TARGETS || !load.isAlive(), "clients are served");
        kamille.signal("KILL");
        kamille.exitCode();
        load.join();
        assertThat(answered.get()).as("answers under load").isGreaterThan(TARGETS);
        version.incrementAndGet();
      }
    }
  }

  private void readAll(InetSocketAddress address) {
    TestClient client = client(address);
    for (int i = 0; i < TARGETS; i++) {
      assertThat(client.get("/" + i).answer().content()).isEqualTo(content(i, version.get()));
    }
  }

  /** Asks until the process is gone; a wrong answer ends it without that, and is not counted. */
  private void load(InetSocketAddress address, AtomicInteger answered) {
    try (TestClient client = TestClient.connect(address)) {
      for (int i = 0; true; i = (i + 1) % TARGETS) {
        String content = client.get("/" + i).answer().content();
        if (!content.equals(content(i, version.get()))) {
          answered.set(Integer.MIN_VALUE / 2);
        }
        answered.incrementAndGet();
      }
    } catch (RuntimeException killed) {
      // As it should be.
    }
  }

  private static String content(int number, int version) {
    return (number + " " + version + " ").repeat(500);
  }

  private TestClient client(InetSocketAddress address) {
    TestClient client = TestClient.connect(address);
    clients.add(client);
    return client;
  }

  private KamilleProcess start(String listener, String accessLog) throws IOException {
    Path file =
        Files.writeString(
            directory.resolve("kamille.yaml"),
            """
            listeners: ['LISTENER']
            loops: 1
            upstreams: {site: {origins: ['ORIGIN']}}
            routes: [{upstream: site}]
            cache: {memory: {capacity: 8MiB}}
            log: {ACCESS}
            admin: {address: '127.0.0.1:0', token-file: 'TOKEN'}
            """
                .replace("LISTENER", listener)
                .replace("ORIGIN", origin.url())
                .replace("ACCESS", accessLog)
                .replace("TOKEN", directory.resolve("token").toString()));
    return KamilleProcess.start(directory, "run", "--config", file.toString());
  }

  /** The value of a metric without labels; 0 if there is none. */
  private double metric(KamilleProcess kamille, String name) {
    try {
      String token = Files.readString(directory.resolve("token")).strip();
      HttpRequest request =
          HttpRequest.newBuilder(
                  URI.create("http://" + kamille.awaitLine("admin on ") + "/metrics"))
              .header("Authorization", "Bearer " + token)
              .build();
      return admin
          .send(request, BodyHandlers.ofString())
          .body()
          .lines()
          .filter(line -> line.startsWith(name + " "))
          .mapToDouble(line -> Double.parseDouble(line.substring(name.length())))
          .sum();
    } catch (IOException | InterruptedException failed) {
      throw new AssertionError(failed);
    }
  }
}
