package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.disk.FaultyDisk;
import io.kamille.cache.disk.FaultyDisk.Fault;
import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whatever happens to the disk, requests are answered. */
class DiskFaultIT {

  private static final String FRESH = "Cache-Control: max-age=3600";

  private final FaultyDisk disk = new FaultyDisk();

  @RegisterExtension
  private final Journey journey =
      new Journey()
          .on(
              new Machine(
                  disk, Machine.HERE.names(), Machine.HERE.shedding(), Machine.HERE.network()));

  @BeforeEach
  void keepOnDisk() {
    keepOnDisk("64MiB");
  }

  private void keepOnDisk(String capacity) {
    journey.with(
        "cache: {memory: {capacity: 64MiB}, disk: {path: '"
            + journey.file("store")
            + "', capacity: "
            + capacity
            + ", peak: off, keep-memory: off}}");
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

  private void awaitRefusal() {
    Await.until(() -> metric("kamille_cache_disk_up") == 0, "the disk takes nothing");
  }

  /** Stores a response and asks for it again, which makes it one for the disk. */
  private void store(String target, String content) {
    journey.origin().on(target, ok(content, FRESH));
    journey.get(target);
    assertThat(journey.get(target).field("Cache-Status")).contains("; hit;");
  }

  private void storeAndRestart(String target, String content) {
    store(target, content);
    awaitRecords(1);
    journey.restart();
    awaitRecords(1);
  }

  /** Hits, misses and purges go on. */
  private void assertService() throws Exception {
    assertThat(journey.get("/a").content()).isEqualTo("a");
    store("/later", "later");
    assertThat(journey.get("/later").content()).isEqualTo("later");
    assertThat(journey.purge("http://a/a").statusCode()).isEqualTo(200);
    journey.origin().on("/a", ok("new", FRESH));
    assertThat(journey.get("/a").content()).isEqualTo("new");
    journey.origin().on("/a", ok("a", FRESH));
  }

  @ParameterizedTest
  @EnumSource(names = {"FULL", "READ_ONLY"})
  void aDiskThatTakesNothingMoreIsReadAndWrittenOnceItDoes(Fault fault) throws Exception {
    storeAndRestart("/a", "a");
    disk.fail(fault);
    store("/b", "b");
    awaitRefusal();
    assertThat(journey.get("/a").field("Cache-Status")).contains("; hit;");
    assertThat(journey.origin().requests("/a")).hasSize(1);
    assertThat(journey.get("/b").content()).isEqualTo("b");
    assertService();
    disk.fail(Fault.NONE);
    Await.until(() -> metric("kamille_cache_disk_up") == 1, "the disk is written again");
    store("/c", "c");
    Await.until(() -> metric("kamille_cache_disk_records") > 0, "it is on the disk");
  }

  @Test
  void whileAPurgeWaitsForTheDiskOthersAreAnswered() throws Exception {
    store("/a", "a");
    awaitRecords(1);
    disk.fail(Fault.HANGING);
    CompletableFuture<HttpResponse<String>> first =
        journey.sendLater(purge("{\"url\": \"http://a/a\"}"));
    Await.until(this::isPurged, "the purge holds in memory");
    for (String path :
        List.of("/metrics", "/readyz", "/healthz", "/v1/status", "/v1/tokens", "/v1/routes")) {
      assertThat(journey.admin(path).statusCode()).as(path).isEqualTo(200);
    }
    HttpResponse<String> counted =
        journey.send(purge("{\"url\": \"http://a/a\", \"dry_run\": true}"));
    assertThat(counted.statusCode()).isEqualTo(200);
    assertThat(first).isNotDone();
    disk.fail(Fault.NONE);
    assertThat(first.get().body()).contains("\"state\":\"done\",\"purged\":1}");
  }

  private boolean isPurged() {
    return !journey.appliance().routes().cache().purges().recent().isEmpty();
  }

  private HttpRequest purge(String content) throws IOException {
    return journey
        .adminRequest("/v1/cache/purges")
        .header("Content-Type", "application/json")
        .POST(BodyPublishers.ofString(content))
        .build();
  }

  @Test
  void theStoreOfADiskThatWasFullOutlivesARestart() {
    store("/a", "a");
    awaitRecords(1);
    disk.fail(Fault.FULL);
    store("/b", "b");
    awaitRefusal();
    disk.fail(Fault.NONE);
    journey.restart();
    awaitRecords(1);
    assertThat(metric("kamille_cache_disk_up")).isEqualTo(1);
    assertThat(journey.get("/a").field("Cache-Status")).contains("; hit;");
    assertThat(journey.origin().requests("/a")).hasSize(1);
  }

  @Test
  void aReadThatFailsIsAMiss() throws Exception {
    storeAndRestart("/a", "a");
    disk.fail(Fault.UNREADABLE);
    assertThat(journey.get("/a").content()).isEqualTo("a");
    assertThat(journey.origin().requests("/a")).hasSize(2);
    awaitRecords(0);
    assertThat(metric("kamille_cache_disk_up")).isEqualTo(1);
    assertService();
  }

  @Test
  void aDiskThatCannotBeReadAtStartIsAnEmptyOne() throws Exception {
    store("/a", "a");
    awaitRecords(1);
    disk.fail(Fault.UNREADABLE);
    journey.restart();
    assertThat(journey.get("/a").content()).isEqualTo("a");
    assertThat(journey.origin().requests("/a")).hasSize(2);
    assertService();
  }

  @Test
  void aResponseIsSentToItsEndThatCouldNotBeReadAhead() {
    String large = "0123456789abcdef".repeat(7 << 16);
    keepOnDisk("512MiB");
    storeAndRestart("/large", large);
    TestClient slow = journey.client(8 << 10);
    slow.get("/large").readUntil("\r\n\r\n");
    disk.fail(Fault.UNREADABLE);
    assertThat(slow.read(large.length()).equals(large)).isTrue();
    awaitRecords(0);
  }

  @Test
  void aCapacityBelowWhatIsStoredHoldsFromTheNextSegmentOn() {
    String content = "x".repeat(900_000);
    for (int i = 0; i < 12; i++) {
      store("/" + i, content);
      awaitRecords(i + 1);
    }
    keepOnDisk("4MiB");
    journey.restart();
    for (int i = 0; i < 12; i++) {
      assertThat(journey.get("/" + i).content().equals(content)).isTrue();
    }
    for (int i = 12; i < 15; i++) {
      store("/" + i, content);
    }
    Await.until(
        () ->
            metric("kamille_cache_disk_evicted_segments_total") > 0
                && metric("kamille_cache_disk_used_bytes") <= 4 << 20,
        "the files are below the capacity");
  }
}
