package io.kamille.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.settings.DiskSettings;
import io.kamille.cache.tiers.DiskCopies.Admission;
import io.kamille.cache.tiers.peak.PeakChoice;
import io.kamille.core.Await;
import io.kamille.core.http.FieldName;
import io.kamille.core.setting.Sections;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests for what is on the disk and not in memory; the test plays the threads that read. */
class DiskCacheTest {

  private static final String[] FRESH = {"Cache-Control", "max-age=3600"};

  private final Queue<Runnable> reads = new ArrayDeque<>();
  private @TempDir Path directory;
  private CacheFixture fixture;
  private boolean isQueueFull;

  @BeforeEach
  void begin() {
    fixture = open(Admission.SECOND_REQUEST, 4 << 20);
  }

  @AfterEach
  void end() {
    fixture.close();
  }

  private CacheFixture open(Admission admission, long capacityBytes) {
    return open(admission, capacityBytes, 1L << 30);
  }

  private CacheFixture open(Admission admission, long capacityBytes, long diskBytes) {
    var settings =
        Sections.copy(
                Sections.of(
                    DiskSettings.SECTION,
                    "{path: %s, capacity: %d, keep-memory: off}",
                    directory.resolve("store"),
                    diskBytes))
            .with("admission", admission)
            .with("sendFromBytes", Long.MAX_VALUE)
            .record();
    try {
      return new CacheFixture(capacityBytes, settings, this::read);
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

  private void restart() {
    restart(4 << 20);
  }

  private void restart(long capacityBytes) {
    long before = records();
    fixture.stop();
    fixture = open(Admission.SECOND_REQUEST, capacityBytes);
    awaitRecords(before);
  }

  private long records() {
    return fixture.counted("kamille_cache_disk_records");
  }

  private void awaitRecords(long count) {
    Await.until(() -> records() == count);
  }

  /** Waits until the disk's thread has done what it was given. */
  private void settle() {
    var isKept = new CountDownLatch(1);
    fixture.cache.operations().purges().whenKept(isKept::countDown);
    Await.until(() -> isKept.getCount() == 0);
  }

  /** Stores a response, asks for it again, and leaves it to a cache with an empty memory. */
  private void leave(String content, String... fields) {
    fixture.fill(200, content, concat(FRESH, fields));
    fixture.get();
    awaitRecords(1);
    restart();
  }

  private static String[] concat(String[] one, String... other) {
    String[] all = new String[one.length + other.length];
    System.arraycopy(one, 0, all, 0, one.length);
    System.arraycopy(other, 0, all, one.length, other.length);
    return all;
  }

  private void runReads() {
    while (!reads.isEmpty()) {
      reads.remove().run();
    }
    fixture.run();
  }

  /** What a GET of the URI is told when the disk has been read; it may be forwarded. */
  private RecordingReply getFromDisk(String... request) {
    RecordingReply reply = fixture.get(request);
    runReads();
    return reply;
  }

  private long readings(String outcome) {
    return fixture.counted("kamille_cache_disk_reads_total", outcome);
  }

  @Test
  void aRequestIsHeldUntilTheDiskHasBeenRead() {
    leave("hello", "ETag", "\"1\"");
    fixture.clock.advance(Duration.ofSeconds(10));
    RecordingReply reply = fixture.get();
    assertThat(reply.isBegun()).isFalse();
    assertThat(reads).hasSize(1);
    runReads();
    assertThat(reply.text()).isEqualTo("hello");
    assertThat(reply.field("Age")).isEqualTo("10");
    assertThat(reply.field("Cache-Status")).isEqualTo("kamille; hit; ttl=3590; detail=disk");
    assertThat(fixture.get().field("Cache-Status")).isEqualTo("kamille; hit; ttl=3590");
    assertThat(fixture.forwarded()).isZero();
    assertThat(readings("found")).isEqualTo(1);
  }

  @Test
  void requestsForOneKeyWaitForOneReading() {
    leave("hello");
    RecordingReply one = fixture.get();
    RecordingReply other = fixture.get();
    RecordingReply head = fixture.send("HEAD", CacheFixture.URI);
    assertThat(reads).hasSize(1);
    runReads();
    assertThat(one.text()).isEqualTo("hello");
    assertThat(other.text()).isEqualTo("hello");
    assertThat(head.isComplete()).isTrue();
    assertThat(fixture.forwarded()).isZero();
  }

  @Test
  void aClientThatLeavesMeanwhileLeavesNothingBehind() {
    leave("hello");
    RecordingReply reply = fixture.get();
    reply.leave();
    runReads();
    assertThat(reply.isBegun()).isFalse();
    assertThat(fixture.get().field("Cache-Status")).isEqualTo("kamille; hit; ttl=3600");
  }

  @Test
  void aRequestThatFindsTooManyWaitingGoesToTheOrigin() {
    leave("hello");
    isQueueFull = true;
    assertThat(fixture.fill(200, "from the origin", FRESH).text()).isEqualTo("from the origin");
    assertThat(readings("full")).isEqualTo(1);
  }

  @Test
  void aRequestThatTheDiskKeepsWaitingGoesToTheOriginAfterASecond() {
    leave("hello");
    RecordingReply reply = fixture.get();
    fixture.advance(Duration.ofSeconds(1).minusNanos(1));
    assertThat(fixture.forwarded()).isZero();
    fixture.advance(Duration.ofNanos(1));
    assertThat(fixture.forwarded()).isEqualTo(1);
    runReads();
    fixture.origin.last().respond(200, "new", FRESH);
    assertThat(reply.text()).isEqualTo("new");
    assertThat(fixture.counted("kamille_cache_disk_late_total")).isEqualTo(1);
    assertThat(fixture.get().text()).isEqualTo("new");
  }

  @Test
  void aRequestThatTheDiskAnswersWithinASecondIsServedFromIt() {
    leave("hello");
    RecordingReply reply = fixture.get();
    fixture.advance(Duration.ofSeconds(1).minusNanos(1));
    runReads();
    fixture.advance(100);
    assertThat(reply.text()).isEqualTo("hello");
    assertThat(fixture.forwarded()).isZero();
    assertThat(fixture.counted("kamille_cache_disk_late_total")).isZero();
  }

  @Test
  void whatIsPurgedWhileItIsReadIsNotUsed() {
    leave("old");
    RecordingReply reply = fixture.get();
    assertThat(fixture.cache.operations().purge(CacheFixture.URI)).hasValue(1);
    runReads();
    fixture.origin.last().respond(200, "new", FRESH);
    assertThat(reply.text()).isEqualTo("new");
    assertThat(readings("none")).isEqualTo(1);
  }

  @Test
  void whatIsPurgedBetweenTheReadingAndTheAnswerIsNotUsed() {
    leave("old");
    RecordingReply reply = fixture.get();
    reads.remove().run();
    fixture.cache.operations().purge(CacheFixture.URI);
    fixture.run();
    fixture.origin.last().respond(200, "new", FRESH);
    assertThat(reply.text()).isEqualTo("new");
  }

  @Test
  void aStaleResponseFromTheDiskIsValidatedWithTheOrigin() {
    leave("hello", "ETag", "\"1\"");
    fixture.clock.advance(Duration.ofHours(2));
    RecordingReply reply = getFromDisk();
    assertThat(fixture.origin.last().request().fields().joined(FieldName.IF_NONE_MATCH))
        .isEqualTo("\"1\"");
    fixture.origin.last().respond(304, "", FRESH);
    assertThat(reply.text()).isEqualTo("hello");
  }

  @Test
  void onlyIfCachedIsAnsweredFromTheDisk() {
    leave("hello");
    assertThat(getFromDisk("Cache-Control", "only-if-cached").text()).isEqualTo("hello");
  }

  @Test
  void aVariantIsReadForThoseItIsSelectedByAndNoOthers() {
    String[] german = {"Accept-Language", "de"};
    fixture.fill(german, 200, "hallo", concat(FRESH, "Vary", "Accept-Language"));
    fixture.get(german);
    awaitRecords(1);
    restart();
    RecordingReply english = getFromDisk("Accept-Language", "en");
    assertThat(fixture.forwarded()).isEqualTo(1);
    fixture.origin.last().respond(200, "hello", concat(FRESH, "Vary", "Accept-Language"));
    assertThat(english.text()).isEqualTo("hello");
    assertThat(getFromDisk(german).text()).isEqualTo("hallo");
    assertThat(fixture.forwarded()).isEqualTo(1);
  }

  @Test
  void aFreshenedHeadTakesThePlaceOfTheOneOnTheDisk() {
    leave("hello", "ETag", "\"1\"", "X-Version", "1");
    getFromDisk();
    fixture.get("Cache-Control", "no-cache");
    fixture.origin.last().respond(304, "", concat(FRESH, "X-Version", "2"));
    fixture.run();
    settle();
    assertThat(records()).isZero();
    fixture.get();
    awaitRecords(1);
    restart();
    assertThat(getFromDisk().field("X-Version")).isEqualTo("2");
  }

  @Test
  void whatIsFreshForLessThanAMinuteIsNotWritten() {
    fixture.fill(200, "hello", "Cache-Control", "max-age=59");
    fixture.get();
    settle();
    assertThat(records()).isZero();
  }

  @Test
  void whatIsAskedForOnceIsWrittenOnlyWhereEverythingIs() {
    fixture.fill(200, "hello", FRESH);
    settle();
    assertThat(records()).isZero();
    fixture.close();
    fixture = open(Admission.ALWAYS, 4 << 20);
    fixture.fill(200, "hello", "Cache-Control", "max-age=5");
    awaitRecords(1);
  }

  @Test
  void whatMemoryIsStillAskedForIsWrittenAgainWhenTheDiskHasForgottenIt() {
    fixture.close();
    fixture = open(Admission.SECOND_REQUEST, 32 << 20, DiskSettings.CAPACITY_MINIMUM_BYTES);
    fixture.fill(200, "hot", FRESH);
    fixture.get();
    for (int i = 0; i < 8; i++) {
      String uri = CacheFixture.URI + "?" + i;
      fixture.send("GET", uri);
      fixture.origin.last().respond(200, "x".repeat(900 << 10), FRESH);
      fixture.send("GET", uri);
      settle();
    }
    assertThat(fixture.counted("kamille_cache_disk_evicted_segments_total")).isPositive();
    for (int hits = 2; hits <= 8; hits++) {
      fixture.get();
    }
    settle();
    long before = records();
    fixture.stop();
    fixture = open(Admission.SECOND_REQUEST, 4 << 20, DiskSettings.CAPACITY_MINIMUM_BYTES);
    awaitRecords(before);
    assertThat(getFromDisk().text()).isEqualTo("hot");
  }

  @Test
  void whatMemoryHasNoRoomForIsAMiss() {
    leave("x".repeat(2 << 20));
    restart(1 << 20);
    getFromDisk();
    assertThat(fixture.forwarded()).isEqualTo(1);
    assertThat(readings("no-memory")).isEqualTo(1);
    fixture.origin.last().respond(200, "new", "Cache-Control", "no-store");
  }

  @Test
  void aSoftPurgeByTagMakesStaleWhatIsOnTheDisk() {
    leave("old", "Surrogate-Key", "news", "ETag", "\"1\"");
    fixture.cache.operations().purges().purge(PurgeTarget.tags(List.of("news")), true);
    RecordingReply stale = getFromDisk();
    assertThat(stale.text()).isEqualTo("old");
    assertThat(fixture.forwarded()).as("validated behind it").isEqualTo(1);
    fixture.origin.last().respond(200, "new", FRESH);
    fixture.run();
    assertThat(fixture.get().text()).isEqualTo("new");
  }

  @Test
  void tenThousandPurgesOfOtherHostsLeaveWhatIsOnTheDisk() {
    leave("x", "Cache-Tag", "a");
    for (int i = 0; i < 10_000; i++) {
      PurgeTarget other = Objects.requireNonNull(PurgeTarget.host("other" + i));
      fixture.cache.operations().purges().purge(other, i % 2 == 0);
    }
    settle();
    restart();
    assertThat(getFromDisk().text()).isEqualTo("x");
    assertThat(fixture.forwarded()).isZero();
  }

  @Test
  void aPurgeOfEverythingIsOneOfTheDiskToo() {
    leave("old");
    fixture.cache.operations().purges().purge(PurgeTarget.all(), false);
    getFromDisk();
    assertThat(fixture.forwarded()).isEqualTo(1);
    fixture.origin.last().respond(200, "new", FRESH);
  }

  // At a peak

  private void choosePeak(PeakChoice choice) {
    fixture.cache.operations().peak().orElseThrow().choose(choice);
  }

  private long skipped(String kind) {
    return fixture.counted("kamille_cache_peak_skipped_total", kind);
  }

  @Test
  void atAPeakWhatIsOnTheDiskIsAMissAndNotRead() {
    leave("hello");
    choosePeak(PeakChoice.FORCED);
    fixture.fill(200, "from the origin", FRESH);
    assertThat(reads).isEmpty();
    assertThat(skipped("read")).isEqualTo(1);
    assertThat(fixture.get().text()).isEqualTo("from the origin");
  }

  @Test
  void atAPeakNothingIsWrittenAndAfterItTheNextHitIs() {
    choosePeak(PeakChoice.FORCED);
    fixture.fill(200, "hello", FRESH);
    fixture.get();
    settle();
    assertThat(records()).isZero();
    assertThat(skipped("write")).isEqualTo(1);
    choosePeak(PeakChoice.OFF);
    fixture.get();
    awaitRecords(1);
    assertThat(skipped("write")).isEqualTo(1);
  }

  @Test
  void atAPeakAPurgeRemovesFromTheDisk() {
    leave("hello");
    choosePeak(PeakChoice.FORCED);
    fixture.cache.operations().purge(CacheFixture.URI);
    awaitRecords(0);
    restart();
    choosePeak(PeakChoice.OFF);
    fixture.get();
    assertThat(reads).isEmpty();
    assertThat(fixture.forwarded()).isEqualTo(1);
  }

  @Test
  void atAPeakANewerResponseTakesThePlaceOfTheCopy() {
    leave("old");
    choosePeak(PeakChoice.FORCED);
    fixture.fill(200, "new", FRESH);
    awaitRecords(0);
  }

  @Test
  void twoVariantsAskedForAtOnceAreBothReadFromTheDisk() {
    for (String language : List.of("de", "en")) {
      String[] asked = {"Accept-Language", language};
      fixture.get(asked);
      runReads();
      fixture
          .origin
          .last()
          .respond(200, "in " + language, concat(FRESH, "Vary", "Accept-Language"));
      fixture.run();
      fixture.get(asked);
      settle();
    }
    awaitRecords(2);
    restart();
    int before = fixture.forwarded();
    RecordingReply german = fixture.get("Accept-Language", "de");
    RecordingReply english = fixture.get("Accept-Language", "en");
    RecordingReply french = fixture.get("Accept-Language", "fr");
    assertThat(reads).hasSize(1);
    runReads();
    assertThat(german.text()).isEqualTo("in de");
    runReads();
    runReads();
    assertThat(english.text()).isEqualTo("in en");
    assertThat(french.isBegun()).isFalse();
    assertThat(fixture.forwarded()).isEqualTo(before + 1);
    fixture.origin.last().respond(200, "in fr", "Cache-Control", "no-store");
    fixture.run();
  }
}
