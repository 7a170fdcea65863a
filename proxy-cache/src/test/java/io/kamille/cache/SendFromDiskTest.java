package io.kamille.cache;

import static io.kamille.cache.CacheFixture.URI;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.settings.DiskSettings;
import io.kamille.cache.tiers.peak.PeakChoice;
import io.kamille.core.Await;
import io.kamille.core.setting.Sections;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Large responses that stay on the disk and are sent from there; the test plays the readers. */
class SendFromDiskTest {

  private static final int LENGTH = 3_000_001;
  private static final int MEMORY = 8 << 20;
  private static final String FROM_DISK = "kamille; hit; ttl=3600; detail=disk";

  private final Queue<Runnable> reads = new ArrayDeque<>();
  private final String content = content(LENGTH, 1);
  private @TempDir Path directory;
  private CacheFixture fixture;
  private boolean isQueueFull;

  @BeforeEach
  void begin() {
    fixture = open(MEMORY, 1 << 20, 1L << 30);
  }

  @AfterEach
  void end() {
    runReads();
    fixture.close();
  }

  private CacheFixture open(long memoryBytes, long sendFromBytes, long diskBytes) {
    var settings =
        Sections.copy(
                Sections.of(
                    DiskSettings.SECTION,
                    "{path: %s, capacity: %d, keep-memory: off}",
                    directory.resolve("store"),
                    diskBytes))
            .with("sendFromBytes", sendFromBytes)
            .record();
    try {
      return new CacheFixture(memoryBytes, settings, this::read);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void read(Runnable read) {
    if (isQueueFull) {
      throw new RejectedExecutionException();
    }
    reads.add(read);
  }

  private static String content(int length, int seed) {
    StringBuilder text = new StringBuilder(length);
    new Random(seed).ints(length, ' ', '~').forEach(each -> text.append((char) each));
    return text.toString();
  }

  private void restart(long memoryBytes, long sendFromBytes) {
    long before = records();
    fixture.stop();
    fixture = open(memoryBytes, sendFromBytes, 1L << 30);
    Await.until(() -> records() == before);
  }

  private long records() {
    return fixture.counted("kamille_cache_disk_records");
  }

  /** Waits until the disk's thread has done what it was given. */
  private void settle() {
    var isKept = new CountDownLatch(1);
    fixture.cache.operations().purges().whenKept(isKept::countDown);
    Await.until(() -> isKept.getCount() == 0);
  }

  /** Leaves the response to a cache with an empty memory. */
  private void leave(String... fields) {
    leave(MEMORY, 1 << 20, fields);
  }

  private void leave(long memoryBytes, long sendFromBytes, String... fields) {
    String[] fresh = {"Cache-Control", "max-age=3600"};
    fixture.fill(
        200, content, Stream.concat(Stream.of(fresh), Stream.of(fields)).toArray(String[]::new));
    fixture.get();
    Await.until(() -> records() == 1);
    restart(memoryBytes, sendFromBytes);
  }

  private void runReads() {
    while (!reads.isEmpty()) {
      reads.remove().run();
      fixture.run();
    }
  }

  /** Begins a GET by a client that takes regions. */
  private RecordingReply asked(String... request) {
    return asking("GET", request);
  }

  private RecordingReply asking(String method, String... request) {
    var reply = new RecordingReply().takingRegions();
    fixture.handler.handle(fixture.exchange(method, URI, reply, request));
    fixture.run();
    return reply;
  }

  /** Takes all that is sent. */
  private RecordingReply take(RecordingReply reply) {
    runReads();
    while (!reply.isEnded()) {
      reply.resume();
      runReads();
    }
    return reply;
  }

  private RecordingReply get(String... request) {
    return take(asked(request));
  }

  private long readings(String outcome) {
    return fixture.counted("kamille_cache_disk_reads_total", outcome);
  }

  private List<Path> segments() {
    try (Stream<Path> files = Files.list(directory.resolve("store"))) {
      return files.filter(file -> file.toString().endsWith(".segment")).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Changes an octet in the middle of the one record there is. */
  private void damage() throws IOException {
    for (Path segment : segments()) {
      try (FileChannel file =
          FileChannel.open(segment, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        if (file.size() > LENGTH) {
          ByteBuffer octet = ByteBuffer.allocate(1);
          file.read(octet, LENGTH / 2);
          octet.put(0, (byte) (octet.get(0) ^ 4));
          file.write(octet.flip(), LENGTH / 2);
        }
      }
    }
  }

  @Test
  void whatIsLargeIsSentFromItsFileAndNotTakenIntoMemory() {
    leave("ETag", "\"1\"");
    for (int i = 1; i <= 2; i++) {
      RecordingReply reply = get();
      assertThat(reply.text()).isEqualTo(content);
      assertThat(reply.isComplete()).isTrue();
      assertThat(reply.regions()).isPositive();
      assertThat(reply.field("Cache-Status")).isEqualTo(FROM_DISK);
      assertThat(reply.field("Content-Length")).isEqualTo(Integer.toString(LENGTH));
      assertThat(reply.field("ETag")).isEqualTo("\"1\"");
      assertThat(readings("sent")).isEqualTo(i);
    }
    assertThat(fixture.forwarded()).isZero();
    assertThat(fixture.counted("kamille_cache_keys")).isZero();
  }

  @Test
  void eachWindowIsReadBeforeItIsSent() {
    leave();
    RecordingReply reply = asked();
    reads.remove().run();
    fixture.run();
    assertThat(reply.content()).hasSize(2 << 20);
    reply.resume();
    assertThat(reply.content()).hasSize(2 << 20);
    assertThat(reads).hasSize(1);
    runReads();
    assertThat(reply.content()).hasSize(LENGTH);
    assertThat(reply.isEnded()).isFalse();
    reply.resume();
    assertThat(reply.isComplete()).isTrue();
  }

  @Test
  void aClientIsNotLetDownWhenTooManyReadsWait() {
    leave();
    RecordingReply reply = asked();
    runReads();
    isQueueFull = true;
    reply.resume();
    reply.resume();
    assertThat(reply.isComplete()).isTrue();
    assertThat(reply.text()).isEqualTo(content);
  }

  @Test
  void whatMemoryHasNoRoomForIsSentFromItsFileWhateverItsLength() {
    leave(2 << 20, 1 << 30);
    RecordingReply reply = get();
    assertThat(reply.text()).isEqualTo(content);
    assertThat(reply.regions()).isPositive();
    assertThat(fixture.forwarded()).isZero();
  }

  @Test
  void withoutTheSettingWhatMemoryHasNoRoomForIsAMiss() {
    leave(2 << 20, Long.MAX_VALUE);
    asked();
    runReads();
    assertThat(fixture.forwarded()).isEqualTo(1);
    fixture.origin.last().respond(200, "new", "Cache-Control", "no-store");
    fixture.run();
    assertThat(readings("no-memory")).isEqualTo(1);
  }

  @Test
  void aClientThatTakesNoRegionsIsAnsweredThroughMemory() {
    leave();
    RecordingReply reply = fixture.get();
    runReads();
    assertThat(reply.text()).isEqualTo(content);
    assertThat(reply.regions()).isZero();
    assertThat(readings("found")).isEqualTo(1);
  }

  @Test
  void ofTwoThatWaitTheOneThatTakesNoRegionsIsForwarded() {
    leave();
    RecordingReply taking = asked();
    RecordingReply other = fixture.get();
    assertThat(take(taking).text()).isEqualTo(content);
    assertThat(fixture.forwarded()).isEqualTo(1);
    fixture.origin.last().respond(200, "new", "Cache-Control", "no-store");
    fixture.run();
    assertThat(other.text()).isEqualTo("new");
  }

  @Test
  void partsComeFromTheFile() {
    leave();
    RecordingReply part = get("Range", "bytes=2500000-2999999");
    assertThat(part.status()).isEqualTo(206);
    assertThat(part.field("Content-Range")).isEqualTo("bytes 2500000-2999999/" + LENGTH);
    assertThat(part.text()).isEqualTo(content.substring(2_500_000, 3_000_000));
    RecordingReply parts = get("Range", "bytes=10-19,2900000-2900009,1000-2500000");
    assertThat(parts.status()).isEqualTo(206);
    assertThat(parts.text())
        .contains("\r\n\r\n" + content.substring(10, 20) + "\r\n--")
        .contains("\r\n\r\n" + content.substring(2_900_000, 2_900_010) + "\r\n--")
        .contains("\r\n\r\n" + content.substring(1_000, 2_500_001) + "\r\n--");
    assertThat(parts.content()).hasSize((int) parts.announcedLength());
    assertThat(get("Range", "bytes=4000000-").status()).isEqualTo(416);
    assertThat(fixture.forwarded()).isZero();
  }

  @Test
  void conditionsAndHeadsAreAnswered() {
    leave("ETag", "\"1\"");
    assertThat(get("If-None-Match", "\"1\"").status()).isEqualTo(304);
    RecordingReply head = take(asking("HEAD"));
    assertThat(head.field("Content-Length")).isEqualTo(Integer.toString(LENGTH));
    assertThat(head.content()).isEmpty();
    assertThat(get("If-Range", "\"0\"", "Range", "bytes=1-2").text()).isEqualTo(content);
    assertThat(fixture.forwarded()).isZero();
  }

  @Test
  void damagedOctetsAreNeverSent() throws IOException {
    leave();
    damage();
    RecordingReply reply = asked();
    runReads();
    assertThat(reply.isBegun()).isFalse();
    assertThat(fixture.forwarded()).isEqualTo(1);
    fixture.origin.last().respond(200, "new", "Cache-Control", "no-store");
    fixture.run();
    assertThat(reply.text()).isEqualTo("new");
    assertThat(records()).isZero();
    assertThat(readings("failed")).isEqualTo(1);
    assertThat(fixture.counted("kamille_cache_disk_damaged_total")).isEqualTo(1);
  }

  @Test
  void aRecordIsReadWholeOncePerProcess() throws IOException {
    leave();
    assertThat(get().text()).isEqualTo(content);
    damage();
    RecordingReply reply = get();
    assertThat(reply.isComplete()).isTrue();
    assertThat(reply.content()).hasSize(LENGTH);
    assertThat(fixture.forwarded()).isZero();
  }

  @Test
  void aClientThatLeavesEndsTheLease() {
    leave();
    RecordingReply first = asked();
    runReads();
    first.leave();
    RecordingReply whileRead = asked();
    runReads();
    whileRead.resume();
    assertThat(reads).hasSize(1);
    whileRead.leave();
    runReads();
    assertThat(whileRead.content()).hasSize(2 << 20);
    fixture.cache.operations().purges().clear();
    settle();
    Await.until(() -> segments().isEmpty());
  }

  @Test
  void whatIsRemovedWhileItIsSentIsSentToItsEnd() {
    leave();
    RecordingReply reply = asked();
    runReads();
    fixture.cache.operations().purges().clear();
    settle();
    assertThat(segments()).hasSize(1);
    assertThat(take(reply).text()).isEqualTo(content);
    Await.until(() -> segments().isEmpty());
    asked();
    assertThat(fixture.forwarded()).isEqualTo(1);
    fixture.origin.last().respond(200, "new", "Cache-Control", "no-store");
    fixture.run();
  }

  @Test
  void aSegmentThatIsForgottenWhileItIsReadFromIsKeptToTheEndOfTheSending() {
    String small = content.substring(0, 900_000);
    fixture.stop();
    fixture = open(MEMORY, 64 << 10, DiskSettings.CAPACITY_MINIMUM_BYTES);
    store(URI, small);
    Path first = segmentWith(small.length());
    fixture.stop();
    fixture = open(MEMORY, 64 << 10, DiskSettings.CAPACITY_MINIMUM_BYTES);
    Await.until(() -> records() == 1);
    RecordingReply reply = asked("Range", "bytes=1-");
    reads.remove().run();
    fixture.run();
    assertThat(reads).as("the part is being read").hasSize(1);
    for (int i = 0; i < 8; i++) {
      store(URI + "?" + i, small);
    }
    assertThat(fixture.counted("kamille_cache_disk_evicted_segments_total")).isPositive();
    assertThat(first).exists();
    assertThat(take(reply).text().equals(small.substring(1))).isTrue();
    Await.until(() -> Files.notExists(first));
  }

  /** Stores a response, and has it written. */
  private void store(String uri, String text) {
    fixture.send("GET", uri);
    fixture.origin.last().respond(200, text, "Cache-Control", "max-age=3600");
    fixture.send("GET", uri);
    settle();
  }

  private Path segmentWith(int length) {
    return segments().stream()
        .filter(segment -> segment.toFile().length() > length)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void whatIsPurgedBetweenReadingAndSendingIsNotSent() {
    leave("Surrogate-Key", "news");
    RecordingReply byTag = asked();
    reads.remove().run();
    fixture.cache.operations().purges().purge(PurgeTarget.tags(List.of("news")), false);
    fixture.run();
    assertThat(byTag.isBegun()).isFalse();
    assertThat(fixture.forwarded()).isEqualTo(1);
    fixture.origin.last().respond(200, "new", "Cache-Control", "no-store");
    fixture.run();
  }

  @Test
  void whatHasBecomeStaleIsAMiss() {
    leave("ETag", "\"1\"");
    fixture.clock.advance(Duration.ofSeconds(3601));
    asked();
    runReads();
    assertThat(fixture.forwarded()).isEqualTo(1);
    fixture.origin.last().respond(200, "new", "Cache-Control", "no-store");
    fixture.run();
  }

  @Test
  void whatHasBecomeStaleStandsInWhenTheOriginFails() {
    leave("ETag", "\"1\"", "Cache-Control", "stale-if-error=600");
    fixture.clock.advance(Duration.ofSeconds(3601));
    RecordingReply reply = asked();
    runReads();
    assertThat(fixture.forwarded()).isEqualTo(1);
    fixture.origin.last().respond(503, "down");
    fixture.run();
    assertThat(take(reply).text()).isEqualTo(content);
    assertThat(reply.field("Cache-Status")).contains("fwd-status=503");
  }

  /** RFC 9111 §5.2.1.7: what is in a file is not served while it is validated. */
  @Test
  void whatHasBecomeStaleIsNotFetchedForAClientThatTakesOnlyWhatIsStored() {
    leave("Cache-Control", "stale-while-revalidate=600");
    fixture.clock.advance(Duration.ofSeconds(3601));
    RecordingReply reply = asked("Cache-Control", "only-if-cached");
    runReads();
    assertThat(reply.status()).isEqualTo(504);
    assertThat(fixture.forwarded()).isZero();
  }

  @Test
  void whatWasPurgedSoftlyIsStaleAndNoMiss() {
    leave("Surrogate-Key", "news", "Cache-Control", "stale-if-error=600");
    fixture.cache.operations().purges().purge(PurgeTarget.tags(List.of("news")), true);
    RecordingReply reply = asked();
    runReads();
    assertThat(fixture.forwarded()).isEqualTo(1);
    fixture.origin.last().respond(503, "down");
    fixture.run();
    assertThat(take(reply).text()).isEqualTo(content);
  }

  @Test
  void atAPeakNothingIsSentFromTheDisk() {
    leave();
    fixture.cache.operations().peak().orElseThrow().choose(PeakChoice.FORCED);
    asked();
    assertThat(reads).isEmpty();
    assertThat(fixture.forwarded()).isEqualTo(1);
    fixture.origin.last().respond(200, "new", "Cache-Control", "no-store");
    fixture.run();
  }
}
