package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.launcher.service.Inheritance;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is stored on a disk outlives the process, and what was removed does not. */
class DiskIT {

  private static final String FRESH = "Cache-Control: max-age=3600";

  @RegisterExtension private final Journey journey = new Journey();

  @BeforeEach
  void keepOnDisk() {
    keepOnDisk("off");
  }

  private void keepOnDisk(String keepMemory) {
    journey.with(
        "cache: {memory: {capacity: 16MiB}, purge-from: [127.0.0.1], disk: {path: '"
            + journey.file("store")
            + "', capacity: 64MiB, peak: off, keep-memory: "
            + keepMemory
            + "}}");
  }

  private double metric(String name) {
    return journey.appliance().metrics().read().stream()
        .filter(family -> family.descriptor().name().equals(name))
        .flatMap(family -> family.samples().stream())
        .mapToDouble(sample -> sample.value())
        .sum();
  }

  private void awaitRecords(int count) {
    Await.until(
        () -> metric("kamille_cache_disk_records") == count, count + " records are on the disk");
  }

  /** Stores a response and asks for it again, which makes it one for the disk. */
  private void store(String target, String content, String... lines) {
    String[] all = Stream.concat(Stream.of(FRESH), Stream.of(lines)).toArray(String[]::new);
    journey.origin().on(target, ok(content, all));
    journey.get(target);
    assertThat(journey.get(target).field("Cache-Status")).contains("; hit;");
  }

  private void storeAndRestart(String target, String content, String... lines) {
    store(target, content, lines);
    awaitRecords(1);
    journey.restart();
    awaitRecords(1);
  }

  private void post(String content) throws IOException, InterruptedException {
    HttpResponse<String> answer =
        journey.send(
            journey
                .adminRequest("/v1/cache/purges")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(content))
                .build());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
  }

  private List<Path> segments() throws IOException {
    try (Stream<Path> files = Files.list(journey.file("store"))) {
      return files.filter(file -> file.toString().endsWith(".segment")).toList();
    }
  }

  @Test
  void afterARestartTheResponseComesFromTheDiskWithItsAge() {
    storeAndRestart("/a", "hello", "Age: 100", "ETag: \"1\"");

    Answer first = journey.get("/a");
    assertThat(first.content()).isEqualTo("hello");
    assertThat(first.field("ETag")).isEqualTo("\"1\"");
    assertThat(first.field("Cache-Status"))
        .startsWith("kamille; hit; ttl=")
        .endsWith("detail=disk");
    assertThat(Integer.parseInt(String.valueOf(first.field("Age")))).isBetween(100, 700);
    assertThat(journey.get("/a").field("Cache-Status")).contains("; hit;").doesNotContain("disk");
    assertThat(journey.origin().requests("/a")).hasSize(1);
  }

  @Test
  void atAPeakThatIsForcedThroughTheApiTheOriginAnswersWhatOnlyTheDiskHas() throws Exception {
    storeAndRestart("/a", "hello");
    String forced = putPeak("forced");
    assertThat(forced).contains("\"peak\":{\"setting\":\"forced\",\"mode\":\"peak\",");
    assertThat(journey.get("/a").field("Cache-Status")).contains("; fwd=uri-miss");
    assertThat(journey.origin().requests("/a")).hasSize(2);
    assertThat(metric("kamille_cache_tier_transitions_total")).isEqualTo(1);
    assertThat(putPeak("off")).contains("{\"setting\":\"off\",\"mode\":\"normal\",");
    assertThat(journey.admin("/v1/cache/tiers").body()).contains("\"skippedReads\":1,");
  }

  private String putPeak(String choice) throws IOException, InterruptedException {
    HttpResponse<String> answer =
        journey.send(
            journey
                .adminRequest("/v1/cache/tiers")
                .header("Content-Type", "application/json")
                .PUT(BodyPublishers.ofString("{\"peak\": \"" + choice + "\"}"))
                .build());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }

  @Test
  void partsConditionsAndHeadsAreAnsweredFromTheDisk() {
    byte[] octets = new byte[300_001];
    new Random(1).nextBytes(octets);
    String content = new String(octets, StandardCharsets.ISO_8859_1);
    String[] requests = {"Range: bytes=100000-100004", "If-None-Match: \"1\"", "X: y"};
    for (int i = 0; i < requests.length; i++) {
      String target = "/" + i;
      store(target, content, "ETag: \"1\"");
      awaitRecords(i + 1);
    }
    journey.restart();
    awaitRecords(3);
    Answer part = journey.get("/0", requests[0]);
    assertThat(part.status()).isEqualTo(206);
    assertThat(part.content()).isEqualTo(content.substring(100_000, 100_005));
    assertThat(journey.get("/1", requests[1]).status()).isEqualTo(304);
    Answer head = journey.ask("HEAD", "/2");
    assertThat(head.field("Content-Length")).isEqualTo("300001");
    assertThat(head.field("Cache-Status")).contains("detail=disk");
    assertThat(journey.get("/1").content().equals(content)).isTrue();
    assertThat(journey.origin().requests()).hasSize(3);
  }

  @Test
  void whatIsPurgedByUrlDoesNotComeBack() throws Exception {
    storeAndRestart("/a", "old");
    journey.purge("http://a/a");
    journey.restart();
    journey.origin().on("/a", ok("new", FRESH));
    assertThat(journey.get("/a").content()).isEqualTo("new");
  }

  @Test
  void whatIsPurgedByTheMethodPurgeDoesNotComeBack() {
    storeAndRestart("/a", "old");
    assertThat(journey.ask("PURGE", "/a").content()).isEqualTo("purged: 1\n");
    journey.restart();
    journey.origin().on("/a", ok("new", FRESH));
    assertThat(journey.get("/a").content()).isEqualTo("new");
  }

  @Test
  void whatIsPurgedByTagDoesNotComeBackWhetherItIsInMemoryOrNot() throws Exception {
    store("/a", "old", "Surrogate-Key: news");
    store("/b", "kept", "Surrogate-Key: sport");
    awaitRecords(2);
    journey.restart();
    awaitRecords(2);
    post("{\"tags\": [\"news\"]}");
    journey.origin().on("/a", ok("new", FRESH));
    journey.restart();
    awaitRecords(2);
    assertThat(journey.get("/a").content()).isEqualTo("new");
    assertThat(journey.get("/b").field("Cache-Status")).contains("detail=disk");
  }

  @Test
  void whatAnUnsafeRequestMadeInvalidDoesNotComeBack() {
    storeAndRestart("/a", "old");
    journey.origin().on("/a", ok("posted"));
    journey.ask("DELETE", "/a");
    journey.restart();
    journey.origin().on("/a", ok("new", FRESH));
    assertThat(journey.get("/a").content()).isEqualTo("new");
  }

  @Test
  void whatWasReplacedByANewerResponseDoesNotComeBack() {
    storeAndRestart("/a", "old");
    journey.origin().on("/a", ok("new", "Cache-Control: max-age=30"));
    assertThat(journey.get("/a", "Cache-Control: no-cache").content()).isEqualTo("new");
    journey.restart();
    journey.origin().on("/a", ok("newest", FRESH));
    assertThat(journey.get("/a").content()).isEqualTo("newest");
  }

  @Test
  void damagedOctetsAreAMissAndNeverSent() throws Exception {
    String content = "x".repeat(100_000);
    store("/a", content);
    awaitRecords(1);
    journey.restart();
    Path segment = segments().getFirst();
    byte[] octets = Files.readAllBytes(segment);
    octets[octets.length / 2] ^= 4;
    Files.write(segment, octets);
    awaitRecords(1);
    assertThat(journey.get("/a").content().equals(content)).isTrue();
    assertThat(journey.origin().requests("/a")).hasSize(2);
    assertThat(metric("kamille_cache_disk_damaged_total")).isEqualTo(1);
  }

  @Test
  void requestsGoOnWithoutTheDirectory() throws Exception {
    storeAndRestart("/a", "hello");
    try (Stream<Path> files = Files.walk(journey.file("store"))) {
      files.sorted(Comparator.reverseOrder()).forEach(DiskIT::delete);
    }
    assertThat(journey.get("/a").content()).isEqualTo("hello");
    store("/b", "y");
    Await.until(() -> metric("kamille_cache_disk_up") == 0, "the tier has stepped aside");
    store("/c", "z");
  }

  private static void delete(Path file) {
    try {
      Files.delete(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void whatMemoryWasAskedForIsInMemoryAgainAfterACleanStop() {
    keepOnDisk("on");
    store("/a", "hello");
    journey.origin().on("/brief", ok("brief", "Cache-Control: max-age=59", "ETag: \"1\""));
    journey.get("/brief");
    journey.get("/brief");
    journey.origin().on("/once", ok("asked for once", FRESH));
    journey.get("/once");
    awaitRecords(1);
    journey.restart();
    Await.until(() -> metric("kamille_cache_keys") == 2, "both are in memory");
    assertThat(metric("kamille_cache_disk_records")).isEqualTo(2);
    assertThat(journey.get("/a").field("Cache-Status")).contains("; hit;").doesNotContain("disk");
    journey.restart();
    Await.until(() -> metric("kamille_cache_keys") == 2, "both are in memory still");
    assertThat(journey.origin().requests("/a")).hasSize(1);
  }

  @Test
  void aPathThatIsNoDirectoryIsAClearFailure() throws Exception {
    Files.writeString(journey.file("store"), "a file");
    assertThatThrownBy(
            () ->
                Appliance.start(
                    journey.configuration(),
                    "test",
                    Inheritance.none(),
                    _ -> List.of(),
                    Machine.HERE))
        .isInstanceOf(StartFailure.class)
        .hasMessageStartingWith("cannot use the directory of cache.disk.path, ")
        .hasMessageContaining("store");
  }

  @Test
  void anExplanationTellsWhatIsOnTheDisk() throws Exception {
    storeAndRestart("/a", "hello");
    assertThat(journey.admin("/v1/explain?url=http://a/a").body())
        .contains("responses under the key on the disk: 1");
  }
}
