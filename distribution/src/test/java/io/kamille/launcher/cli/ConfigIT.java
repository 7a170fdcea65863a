package io.kamille.launcher.cli;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.admin.auth.AuditLog;
import io.kamille.core.client.h1.TestClient;
import io.kamille.launcher.appliance.StubOrigin;
import io.kamille.launcher.client.LocalApi;
import io.kamille.launcher.client.LocalApi.Reply;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The configuration of a process that runs, changed through its API. */
class ConfigIT {

  @TempDir private Path directory;
  private StubOrigin origin;
  private Path file;
  private LocalApi api;

  @BeforeEach
  void open() throws IOException {
    origin = StubOrigin.open();
    origin.on("/a", ok("hello", "Cache-Control: no-store"));
    file = Files.writeString(directory.resolve("kamille.yaml"), configuration(""));
    api = new LocalApi(directory);
  }

  @AfterEach
  void close() throws IOException {
    origin.close();
  }

  private String configuration(String routes) {
    return String.format(
        Locale.ROOT,
        """
        # what runs
        listeners: ["127.0.0.1:0"]
        loops: 1
        upstreams: {web: {origins: ["%s"]}}
        routes:
          - {upstream: web}
        %scache: {memory: {capacity: 8MiB}}
        admin: {address: "127.0.0.1:0"}
        """,
        origin.url(),
        routes);
  }

  private static String denied() {
    return "  - {upstream: web, path: /a, access: {deny: [127.0.0.1]}}\n";
  }

  private KamilleProcess start() throws IOException {
    KamilleProcess kamille = KamilleProcess.start(directory, "run", "--config", file.toString());
    kamille.awaitLine("admin on ");
    return kamille;
  }

  private Reply put(String query, @Nullable String tag, String text) throws IOException {
    Map<String, String> fields = new HashMap<>(Map.of("Content-Type", "application/yaml"));
    if (tag != null) {
      fields.put("If-Match", tag);
    }
    return api.ask("PUT", "/v1/config" + query, fields, text);
  }

  private Reply running() throws IOException {
    return api.ask("GET", "/v1/config", Map.of("Accept", "application/yaml"), null);
  }

  private String tag() throws IOException {
    return requireNonNull(running().fields().get("etag"));
  }

  private static int status(InetSocketAddress address) {
    try (TestClient client = TestClient.connect(address)) {
      return client.get("/a").answer().status();
    }
  }

  @Test
  void ofTwoWritersWithOneTagTheSecondIsRefused() throws Exception {
    try (KamilleProcess kamille = start()) {
      assertThat(running().content()).isEqualTo(configuration(""));
      String tag = tag();
      String next = configuration(denied());
      assertThat(put("", null, next).status()).isEqualTo(428);
      assertThat(put("", tag, "x: 1\n").status()).isEqualTo(422);
      assertThat(status(kamille.address())).isEqualTo(200);
      assertThat(put("?comment=nobody", tag, next).status()).isEqualTo(200);
      assertThat(put("", tag, next).status()).isEqualTo(412);
      assertThat(status(kamille.address())).isEqualTo(403);
      assertThat(file).hasContent(next);
      Reply back =
          api.ask(
              "POST",
              "/v1/config/rollback",
              Map.of("Content-Type", "application/json", "If-Match", tag()),
              "{\"to\":1}");
      assertThat(back.status()).isEqualTo(200);
      assertThat(status(kamille.address())).isEqualTo(200);
    }
  }

  @Test
  void ofManyWritersAtOnceOneWins() throws Exception {
    try (KamilleProcess _ = start()) {
      String tag = tag();
      List<CompletableFuture<Integer>> writers = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        String text = configuration("  - {upstream: web, path: /x" + i + "}\n");
        writers.add(CompletableFuture.supplyAsync(() -> putStatus(tag, text)));
      }
      assertThat(writers.stream().map(CompletableFuture::join))
          .containsExactlyInAnyOrder(200, 412, 412, 412, 412, 412, 412, 412);
      assertThat(running().content()).isEqualTo(Files.readString(file));
    }
  }

  private int putStatus(String tag, String text) {
    try {
      return put("", tag, text).status();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /**
   * Files can grow no more, as on a full disk: nothing changes, and who reads or asks is served.
   */
  @Test
  void onAFullDiskNothingChangesAndEverythingRuns() throws Exception {
    try (KamilleProcess kamille = start()) {
      String token = Files.readString(directory.resolve("admin-token")).strip();
      kamille.limitFileSize("0");
      assertThat(put("", tag(), configuration(denied())).content()).contains("file-unwritable");
      assertThat(running().content()).isEqualTo(configuration(""));
      assertThat(status(kamille.address())).isEqualTo(200);
      String purge = "{\"all\":true}";
      Map<String, String> json = Map.of("Content-Type", "application/json");
      assertThat(api.ask("POST", "/v1/cache/purges", json, purge).status()).isEqualTo(200);
      assertThat(purgeWith(token, kamille.awaitLine("admin on "), purge))
          .contains("/problems/audit-unwritable");
      kamille.limitFileSize("unlimited");
      assertThat(purgeWith(token, kamille.awaitLine("admin on "), purge)).contains("\"id\"");
      assertThat(put("", tag(), configuration(denied())).status()).isEqualTo(200);
      assertThat(file).hasContent(configuration(denied()));
      assertThat(AuditLog.verify(directory.resolve("audit.jsonl")).trouble()).isNull();
      assertThat(kamille.lines())
          .as("what is no fault of ours has no stack")
          .noneMatch(line -> line.contains("at io.kamille.admin.auth.AuditLog"))
          .anyMatch(line -> line.endsWith("the audit log cannot be written: File too large"));
      try (Stream<Path> left = Files.list(directory)) {
        assertThat(left).noneMatch(each -> each.toString().endsWith(".draft"));
      }
    }
  }

  private static String purgeWith(String token, String address, String content) throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("http://" + address + "/v1/cache/purges"))
              .header("Authorization", "Bearer " + token)
              .header("Content-Type", "application/json")
              .POST(HttpRequest.BodyPublishers.ofString(content))
              .build();
      return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }
  }

  @Test
  void aKillDuringATrialReturnsToTheFile() throws Exception {
    try (KamilleProcess kamille = start()) {
      assertThat(put("?confirm=1h", tag(), configuration(denied())).status()).isEqualTo(200);
      assertThat(status(kamille.address())).isEqualTo(403);
      kamille.signal("KILL");
      kamille.awaitEnd();
    }
    try (KamilleProcess again = start()) {
      assertThat(status(again.address())).isEqualTo(200);
      assertThat(file).hasContent(configuration(""));
    }
  }

  @Test
  void aChangeIsToldAndComparedInTextAndJson() throws Exception {
    try (KamilleProcess _ = start()) {
      String next = configuration("").replace("8MiB", "9MiB") + "limits: {head-size: 50KiB}\n";
      assertThat(put("?dry_run=true", null, next).content())
          .contains("+limits: {head-size: 50KiB}");
      String json = api.ask("GET", "/v1/config", Map.of(), null).fields().get("etag");
      assertThat(json).isNotEqualTo(tag()).endsWith("-json\"");
      assertThat(put("?guard=0.05", json, next).status()).isEqualTo(400);
      assertThat(put("", json, next).status()).isEqualTo(200);
      assertThat(file).hasContent(next);
      assertThat(put("", json, next).status()).isEqualTo(412);
      assertThat(api.ask("PATCH", "/v1/config", Map.of("If-Match", "*"), "{}").status())
          .isEqualTo(405);
      Reply diff =
          api.ask("GET", "/v1/config/diff?from=1&to=2", Map.of("Accept", "text/x-diff"), null);
      assertThat(diff.content()).contains("+limits: {head-size: 50KiB}\n");
      assertThat(api.ask("GET", "/v1/config/schema", Map.of(), null).content())
          .contains("\"capacity\":{\"type\":");
    }
  }

  /** Whatever the commit had come to, file and versions are whole. */
  @Test
  void aKillAmidCommitsLeavesAWholeText() throws Exception {
    for (int round = 1; round <= 3; round++) {
      int kill = round;
      try (KamilleProcess kamille = start()) {
        for (int i = 0; i < kill; i++) {
          put("", "*", configuration("  - {upstream: web, path: /x" + i + "}\n"));
        }
        CompletableFuture<Void> last =
            CompletableFuture.runAsync(() -> putLast(configuration(denied())));
        kamille.signal("KILL");
        kamille.awaitEnd();
        last.join();
      }
      try (KamilleProcess again = start()) {
        assertThat(running().content()).isEqualTo(Files.readString(file));
        assertThat(Files.readString(file))
            .isIn(
                configuration("  - {upstream: web, path: /x" + (kill - 1) + "}\n"),
                configuration(denied()));
        assertThat(again.address()).isNotNull();
      }
    }
  }

  private void putLast(String text) {
    try {
      put("", "*", text);
    } catch (IOException killed) {
      // As was to be.
    }
  }

  @Test
  void hundredRoutesAreCommittedUnderLoadAndNoRequestIsLost() throws Exception {
    StringBuilder routes = new StringBuilder();
    for (int i = 0; i < 100; i++) {
      routes.append("  - {upstream: web, path: /r").append(i).append("}\n");
    }
    try (KamilleProcess kamille = start()) {
      AtomicBoolean isOver = new AtomicBoolean();
      CompletableFuture<Integer> load =
          CompletableFuture.supplyAsync(() -> answered(kamille.address(), isOver));
      for (int i = 0; i < 10; i++) {
        String text = configuration(routes + "  - {upstream: web, path: /x" + i + "}\n");
        assertThat(put("", tag(), text).status()).isEqualTo(200);
      }
      isOver.set(true);
      assertThat(load.get()).isPositive();
    }
  }

  private static int answered(InetSocketAddress address, AtomicBoolean isOver) {
    int answers = 0;
    try (TestClient client = TestClient.connect(address)) {
      while (!isOver.get()) {
        assertThat(client.get("/a").answer().content()).isEqualTo("hello");
        answers++;
      }
    }
    return answers;
  }
}
