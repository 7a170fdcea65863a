package io.kamille.launcher.cli;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.launcher.appliance.StubOrigin;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process with a disk that is killed under load, again and again: every octet its successors send
 * is right, and nothing comes back whose purge was answered.
 */
class DiskKillIT {

  private static final int ROUNDS = 3;
  private static final int TARGETS = 40;
  private static final int TAGS = 4;
  private static final int OTHERS = 200;
  private static final String FRESH = "Cache-Control: max-age=36000";

  private final HttpClient admin = HttpClient.newHttpClient();
  private final Random random = new Random(16);

  /** What the origin has now. */
  private final AtomicIntegerArray versions = new AtomicIntegerArray(TARGETS);

  /** What clients may get at least: the version after the last purge that was answered. */
  private final int[] least = new int[TARGETS];

  @TempDir private Path directory;
  private final StubOrigin origin;
  private int fromDisk;

  DiskKillIT() throws IOException {
    origin = StubOrigin.open();
    for (int i = 0; i < TARGETS; i++) {
      int number = i;
      origin.on(
          "/" + number,
          visit ->
              visit.send(
                  ok(
                      content(number, versions.get(number)),
                      FRESH,
                      "Surrogate-Key: tag-" + number % TAGS)));
    }
    for (int i = 0; i < OTHERS; i++) {
      origin.on("/other/" + i, ok(content(i, -1), FRESH));
    }
  }

  @AfterEach
  void close() throws IOException {
    origin.close();
    admin.close();
  }

  private static String content(int number, int version) {
    Random random = new Random(number * 100_000L + version);
    StringBuilder content = new StringBuilder(number + " " + version + " ");
    int length = random.nextInt(30_000);
    for (int i = 0; i < length; i++) {
      content.append((char) ('a' + random.nextInt(26)));
    }
    return content.toString();
  }

  private KamilleProcess start() throws IOException {
    Path file =
        Files.writeString(
            directory.resolve("kamille.yaml"),
            """
            listeners: ['127.0.0.1:0']
            loops: 2
            upstreams: {site: {origins: ['%s']}}
            routes: [{upstream: site}]
            cache:
              memory: {capacity: 16MiB}
              purge-from: [127.0.0.1]
              disk: {path: '%s', capacity: 64MiB, admit: always, peak: off}
            admin: {address: '127.0.0.1:0', token-file: '%s'}
            """
                .replaceFirst("%s", origin.url())
                .replaceFirst("%s", directory.resolve("store").toString())
                .replaceFirst("%s", directory.resolve("token").toString()));
    return KamilleProcess.start(directory, "run", "--config", file.toString());
  }

  @Test
  void everyOctetIsRightAndNothingPurgedComesBack() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      try (KamilleProcess kamille = start()) {
        InetSocketAddress address = kamille.address();
        await(kamille, "kamille_cache_disk_recovered 1");
        readAll(address);
        Thread load = Thread.ofVirtual().start(() -> load(address));
        work(kamille, address, 50 + random.nextInt(150));
        await(kamille, "kamille_cache_disk_records [1-9]");
        kamille.signal("KILL");
        kamille.exitCode();
        load.join();
      }
    }
    try (KamilleProcess kamille = start()) {
      InetSocketAddress address = kamille.address();
      await(kamille, "kamille_cache_disk_recovered 1");
      readAll(address);
    }
    assertThat(fromDisk).as("answers from the disk").isPositive();
  }

  private void readAll(InetSocketAddress address) {
    try (TestClient client = TestClient.connect(address)) {
      for (int number = 0; number < TARGETS; number++) {
        read(client, number);
      }
    }
  }

  private void work(KamilleProcess kamille, InetSocketAddress address, int steps)
      throws IOException, InterruptedException {
    try (TestClient client = TestClient.connect(address)) {
      for (int step = 0; step < steps; step++) {
        int number = random.nextInt(TARGETS);
        switch (random.nextInt(10)) {
          case 0 -> purge(client, number);
          case 1 -> purgeTag(kamille, number % TAGS);
          default -> read(client, number);
        }
      }
    }
  }

  private void read(TestClient client, int number) {
    Answer answer = client.get("/" + number).answer();
    int version = Integer.parseInt(answer.content().split(" ", 3)[1]);
    assertThat(version).as("version of %d", number).isBetween(least[number], versions.get(number));
    assertThat(answer.content().equals(content(number, version))).isTrue();
    fromDisk += String.valueOf(answer.field("Cache-Status")).contains("detail=disk") ? 1 : 0;
  }

  private void purge(TestClient client, int number) {
    int version = versions.incrementAndGet(number);
    assertThat(client.request("PURGE", "/" + number).answer().status()).isEqualTo(200);
    least[number] = version;
  }

  private void purgeTag(KamilleProcess kamille, int tag) throws IOException, InterruptedException {
    for (int number = tag; number < TARGETS; number += TAGS) {
      versions.incrementAndGet(number);
    }
    HttpResponse<String> answer =
        admin.send(
            request(kamille, "/v1/cache/purges")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{\"tags\": [\"tag-" + tag + "\"]}"))
                .build(),
            BodyHandlers.ofString());
    assertThat(answer.statusCode()).isEqualTo(200);
    for (int number = tag; number < TARGETS; number += TAGS) {
      least[number] = versions.get(number);
    }
  }

  private HttpRequest.Builder request(KamilleProcess kamille, String path) throws IOException {
    return HttpRequest.newBuilder(URI.create("http://" + kamille.awaitLine("admin on ") + path))
        .header("Authorization", "Bearer " + Files.readString(directory.resolve("token")).strip());
  }

  /** Waits until the metrics have a line that begins so. */
  private void await(KamilleProcess kamille, String line) throws IOException {
    HttpRequest metrics = request(kamille, "/metrics").build();
    Await.until(
        () -> {
          try {
            return admin
                .send(metrics, BodyHandlers.ofString())
                .body()
                .lines()
                .anyMatch(text -> text.matches(line + ".*"));
          } catch (IOException | InterruptedException failed) {
            throw new AssertionError(failed);
          }
        },
        line);
  }

  /** Asks for this and that until the process is gone. */
  private static void load(InetSocketAddress address) {
    try (TestClient client = TestClient.connect(address)) {
      for (int i = 0; true; i = (i + 1) % OTHERS) {
        assertThat(client.get("/other/" + i).answer().content().equals(content(i, -1))).isTrue();
      }
    } catch (RuntimeException | AssertionError killed) {
      // As it should be.
    }
  }
}
