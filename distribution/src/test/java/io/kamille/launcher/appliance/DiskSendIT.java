package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Large responses go from their segment to the socket, whatever happens to them meanwhile. */
class DiskSendIT {

  private static final String FRESH = "Cache-Control: max-age=3600";
  private static final int LENGTH = 4_000_001;
  private static final int SMALL_BUFFER_BYTES = 8 << 10;

  private final String content = content();

  @RegisterExtension private final Journey journey = new Journey();

  @BeforeEach
  void keepOnDisk() {
    journey.with(
        "cache: {memory: {capacity: 64MiB}, purge-from: [127.0.0.1], disk: {path: '"
            + journey.file("store")
            + "', capacity: 512MiB, peak: off, keep-memory: off}}");
  }

  private static String content() {
    byte[] octets = new byte[LENGTH];
    new Random(7).nextBytes(octets);
    return new String(octets, StandardCharsets.ISO_8859_1);
  }

  private double metric(String name, String... labels) {
    return journey.appliance().metrics().read().stream()
        .filter(family -> family.descriptor().name().equals(name))
        .flatMap(family -> family.samples().stream())
        .filter(sample -> labels.length == 0 || sample.labelValues().equals(List.of(labels)))
        .mapToDouble(sample -> sample.value())
        .sum();
  }

  private double sent() {
    return metric("kamille_cache_disk_reads_total", "sent");
  }

  private void awaitRecord() {
    Await.until(() -> metric("kamille_cache_disk_records") == 1, "the record is on the disk");
  }

  /** Leaves the response to a process that has it on the disk only. */
  private void leave() {
    journey.origin().on("/a", ok(content, FRESH, "ETag: \"1\""));
    journey.get("/a");
    assertThat(journey.get("/a").field("Cache-Status")).contains("; hit;");
    awaitRecord();
    journey.restart();
    awaitRecord();
  }

  private List<Path> segments() {
    try (Stream<Path> files = Files.list(journey.file("store"))) {
      return files.filter(file -> file.toString().endsWith(".segment")).toList();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private void assertWhole(String received) {
    assertThat(received.equals(content)).as("every octet is right").isTrue();
  }

  @Test
  void theWholeItsPartsAndItsHeadComeFromTheDiskByEachRequest() {
    leave();
    for (int i = 1; i <= 3; i++) {
      Answer whole = journey.get("/a");
      assertWhole(whole.content());
      assertThat(whole.field("Cache-Status"))
          .startsWith("kamille; hit; ttl=")
          .endsWith("detail=disk");
      assertThat(sent()).isEqualTo(i);
    }
    Answer part = journey.get("/a", "Range: bytes=3000000-3999999");
    assertThat(part.status()).isEqualTo(206);
    assertThat(part.content().equals(content.substring(3_000_000, 4_000_000))).isTrue();
    assertThat(journey.get("/a", "If-None-Match: \"1\"").status()).isEqualTo(304);
    assertThat(journey.ask("HEAD", "/a").field("Content-Length")).isEqualTo("" + LENGTH);
    assertThat(sent()).isEqualTo(6);
    assertThat(metric("kamille_cache_keys")).isZero();
    assertThat(journey.origin().requests("/a")).hasSize(1);
  }

  @Test
  void requestsInOneSegmentOfTheConnectionAreAnsweredInOrder() {
    leave();
    TestClient client = journey.client();
    client.get("/a").get("/a", "Range: bytes=0-99").get("/a");
    assertWhole(client.answer().content());
    assertThat(client.answer().content()).isEqualTo(content.substring(0, 100));
    assertWhole(client.answer().content());
  }

  @Test
  void aSlowClientGetsEveryOctetOfWhatIsPurgedMeanwhile() throws Exception {
    leave();
    TestClient slow = journey.client(SMALL_BUFFER_BYTES);
    String head = slow.get("/a").readUntil("\r\n\r\n");
    assertThat(head).contains("detail=disk");
    String first = slow.read(1000);
    assertThat(journey.purge("http://a/a").statusCode()).isEqualTo(200);
    journey.origin().on("/a", ok("new", FRESH));
    assertThat(journey.get("/a").content()).isEqualTo("new");
    assertWhole(first + slow.read(LENGTH - 1000));
  }

  @Test
  void aSlowClientGetsEveryOctetOfWhatAllIsRemovedWith() {
    leave();
    TestClient slow = journey.client(SMALL_BUFFER_BYTES);
    slow.get("/a").readUntil("\r\n\r\n");
    String first = slow.read(1000);
    journey.appliance().routes().cache().purges().clear();
    Await.until(() -> metric("kamille_cache_disk_records") == 0, "nothing is found any more");
    assertWhole(first + slow.read(LENGTH - 1000));
    Await.until(() -> segments().isEmpty(), "the segment is deleted when it is not read any more");
  }

  @Test
  void clientsThatLeaveInTheMiddleLeaveNothingBehind() {
    leave();
    for (int i = 0; i < 5; i++) {
      TestClient client = journey.client(SMALL_BUFFER_BYTES);
      client.get("/a").readUntil("\r\n\r\n");
      client.read(1000);
      client.reset();
    }
    journey.awaitNoConnections();
    assertWhole(journey.get("/a").content());
    journey.appliance().routes().cache().purges().clear();
    Await.until(() -> segments().isEmpty(), "no lease is left on the segment");
  }

  @Test
  void aDamagedRecordIsAMissBeforeItsFirstOctet() throws Exception {
    leave();
    for (Path segment : segments()) {
      if (Files.size(segment) > LENGTH) {
        try (RandomAccessFile file = new RandomAccessFile(segment.toFile(), "rw")) {
          file.seek(LENGTH - 1000);
          int before = file.read();
          file.seek(LENGTH - 1000);
          file.write(before ^ 16);
        }
      }
    }
    assertWhole(journey.get("/a").content());
    assertThat(journey.origin().requests("/a")).hasSize(2);
    assertThat(metric("kamille_cache_disk_damaged_total")).isEqualTo(1);
    assertThat(sent()).isZero();
  }

  @Test
  void aFileThatIsCutOffWhileItIsSentEndsTheConnection() throws Exception {
    leave();
    assertWhole(journey.get("/a").content());
    TestClient client = journey.client(SMALL_BUFFER_BYTES);
    client.get("/a").readUntil("\r\n\r\n");
    for (Path segment : segments()) {
      try (RandomAccessFile file = new RandomAccessFile(segment.toFile(), "rw")) {
        file.setLength(Math.min(file.length(), LENGTH / 2));
      }
    }
    assertThat(client.rest().length()).isLessThan(LENGTH);
    journey.origin().on("/b", ok("hello", FRESH));
    assertThat(journey.get("/b").content()).isEqualTo("hello");
  }

  @Test
  void anExplanationTellsHowItWouldBeSent() throws Exception {
    leave();
    assertThat(journey.admin("/v1/explain?url=http://a/a").body())
        .contains("sent from the disk by sendfile if they are large");
  }
}
