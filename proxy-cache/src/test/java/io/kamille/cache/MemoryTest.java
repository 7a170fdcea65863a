package io.kamille.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the cache does with memory that is short, and with content that is long. */
class MemoryTest {

  private static final String FRESH = "max-age=60";
  private static final int CAPACITY = 1 << 20;
  private static final int LIMIT = 400_000;

  private final CacheFixture fixture = new CacheFixture(CAPACITY, TestSettings.of(LIMIT));

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  private static String uri(int number) {
    return "http://example.org/" + number;
  }

  private RecordingReply fetch(int number, String content) {
    RecordingReply reply = fixture.send("GET", uri(number));
    if (!reply.isEnded()) {
      fixture.origin.last().respond(200, content, "Cache-Control", FRESH);
      fixture.run();
    }
    return reply;
  }

  @Test
  void aResponseThatIsAnnouncedAsTooLargeIsSentAndNotStored() {
    String content = "x".repeat(LIMIT + 1);
    RecordingReply reply = fetch(1, content);
    assertThat(reply.text()).isEqualTo(content);
    assertThat(reply.field("Cache-Status")).isEqualTo("kamille; fwd=uri-miss; detail=too-large");
    assertThat(fixture.cache.operations().usedBytes()).isZero();
  }

  @Test
  void aResponseThatTurnsOutTooLargeIsSentToItsEndAndNotStored() {
    RecordingReply reply = fixture.get();
    RecordingReply follower = fixture.get();
    ScriptedOrigin.Forwarded origin = fixture.origin.last();
    origin.head(200, -1, "Cache-Control", FRESH);
    for (int i = 0; i < 10; i++) {
      origin.write("x".repeat(50_000));
      fixture.run();
    }
    origin.end();
    assertThat(reply.content()).hasSize(500_000);
    assertThat(reply.isComplete()).isTrue();
    fixture.run();
    assertThat(follower.content()).isEqualTo(reply.content());
    assertThat(follower.isComplete()).isTrue();
    assertThat(fixture.cache.operations().usedBytes()).isZero();
    assertThat(fixture.counted("kamille_cache_fills_total", "abandoned")).isEqualTo(1);
    fixture.get();
    fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(3);
    fixture.origin.requests().get(1).respond(200, "x");
    fixture.origin.requests().get(2).respond(200, "x");
  }

  @Test
  void aSlowLeaderGetsEverythingWhenItsFillIsGivenUp() {
    RecordingReply reply = fixture.get();
    ScriptedOrigin.Forwarded origin = fixture.origin.last();
    origin.head(200, -1, "Cache-Control", FRESH).write("a".repeat(1000));
    reply.pause();
    origin.write("b".repeat(300_000));
    assertThat(origin.isPaused()).isFalse();
    origin.write("c".repeat(150_000));
    assertThat(origin.isPaused()).isTrue();
    assertThat(reply.content()).hasSize(1000);
    reply.resume();
    assertThat(origin.isPaused()).isFalse();
    assertThat(reply.text())
        .isEqualTo("a".repeat(1000) + "b".repeat(300_000) + "c".repeat(150_000));
    reply.pause();
    assertThat(origin.isPaused()).isTrue();
    reply.resume();
    origin.write("d").end();
    assertThat(reply.content()).hasSize(451_001);
    assertThat(reply.isComplete()).isTrue();
  }

  @Test
  void aSlowLeaderGetsEverythingWhenTheOriginEndsBeforeItCatchesUp() {
    RecordingReply reply = fixture.get();
    ScriptedOrigin.Forwarded origin = fixture.origin.last();
    origin.head(200, -1, "Cache-Control", FRESH).write("a");
    reply.pause();
    origin.write("b".repeat(399_000)).write("c".repeat(2_000)).end();
    assertThat(reply.isEnded()).isFalse();
    reply.resume();
    assertThat(reply.content()).hasSize(401_001);
    assertThat(reply.isComplete()).isTrue();
  }

  /**
   * Of so many responses, each is stored, or was evicted, or refused because the index thread was
   * behind, as it may be on a busy machine. That thread counts a little later.
   */
  private void assertEachIsThereOrCounted(long responses) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (fixture.cache.operations().keys()
            + fixture.counted("kamille_cache_evictions_total")
            + fixture.counted("kamille_cache_index_refusals_total")
        != responses) {
      assertThat(System.nanoTime() - deadline).isNegative();
      Thread.onSpinWait();
    }
  }

  @Test
  void whenMemoryIsShortOthersMakeRoom() {
    String content = "x".repeat(10_000);
    for (int i = 0; i < 500; i++) {
      assertThat(fetch(i, content).text()).isEqualTo(content);
      assertThat(fixture.cache.operations().usedBytes()).isLessThanOrEqualTo(CAPACITY);
    }
    assertThat(fixture.cache.operations().keys())
        .isBetween(50L, (long) CAPACITY / content.length());
    assertEachIsThereOrCounted(500);
    assertThat(fixture.counted("kamille_cache_evictions_total")).isPositive();
    assertThat(fixture.counted("kamille_cache_memory_shortages_total")).isZero();
  }

  @Test
  void aLargeResponseMakesRoomForItselfWhenItIsAskedForAgainAndAgain() {
    for (int i = 0; i < 100; i++) {
      fetch(i, "x".repeat(10_000));
    }
    assertThat(fetch(1000, "y".repeat(LIMIT - 1000)).field("Cache-Status"))
        .isEqualTo("kamille; fwd=uri-miss; detail=not-admitted");
    assertThat(fixture.counted("kamille_cache_memory_shortages_total")).isZero();
    assertThat(isStoredWithinTenRequests(1000, "y".repeat(LIMIT - 1000))).isTrue();
  }

  private static boolean isNotAdmitted(RecordingReply reply) {
    return "kamille; fwd=uri-miss; detail=not-admitted".equals(reply.field("Cache-Status"));
  }

  private boolean isStoredWithinTenRequests(int number, String content) {
    for (int i = 0; i < 10; i++) {
      String status = fetch(number, content).field("Cache-Status");
      if (status != null && status.contains("stored")) {
        return true;
      }
    }
    return false;
  }

  @Test
  void whatReadersHoldIsNotTakenFromThem() {
    String content = "x".repeat(350_000);
    List<RecordingReply> slow = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      fetch(i, content);
      RecordingReply reader = new RecordingReply();
      reader.whenWritten(reader::pause);
      fixture.handler.handle(fixture.exchange("GET", uri(i), reader));
      assertThat(reader.isEnded()).isFalse();
      slow.add(reader);
    }
    RecordingReply uncached = fetch(3, content);
    for (int i = 0; i < 10 && isNotAdmitted(uncached); i++) {
      uncached = fetch(3, content);
    }
    assertThat(uncached.text()).isEqualTo(content);
    assertThat(uncached.field("Cache-Status")).isEqualTo("kamille; fwd=uri-miss; detail=no-memory");
    assertThat(fixture.counted("kamille_cache_memory_shortages_total")).isEqualTo(1);
    for (RecordingReply reader : slow) {
      reader.whenWritten(() -> {});
      reader.resume();
      assertThat(reader.text()).isEqualTo(content);
      assertThat(reader.isComplete()).isTrue();
    }
    assertThat(isStoredWithinTenRequests(4, content)).isTrue();
  }

  @Test
  void aLongResponseIsServedInWindowsAtTheClientsPace() {
    String content = "0123456789".repeat(39_000);
    fetch(1, content);
    RecordingReply reader = new RecordingReply();
    reader.whenWritten(reader::pause);
    fixture.handler.handle(fixture.exchange("GET", uri(1), reader));
    assertThat(reader.field("Content-Length")).isEqualTo("390000");
    assertThat(reader.content().length).isBetween(1, 262_144);
    fixture.cache.operations().purge(uri(1));
    while (!reader.isEnded()) {
      reader.resume();
    }
    assertThat(reader.text()).isEqualTo(content);
    assertThat(reader.isComplete()).isTrue();
  }

  @Test
  void contentInManyPiecesIsServedWhole() {
    fillWithHoles();
    String content = "0123456789".repeat(20_000);
    assertThat(fetch(1000, content).field("Cache-Status")).contains("stored");
    RecordingReply hit = fixture.send("GET", uri(1000));
    assertThat(hit.field("Cache-Status")).startsWith("kamille; hit");
    assertThat(hit.isWholeAtOnce()).isFalse();
    assertThat(hit.field("Content-Length")).isEqualTo("200000");
    assertThat(hit.text()).isEqualTo(content);
    assertThat(fixture.send("GET", uri(1000), "Range", "bytes=4-199990").text())
        .isEqualTo(content.substring(4, 199_991));
  }

  /** Leaves free memory only between small stored responses. */
  private void fillWithHoles() {
    for (int i = 0; i < 90; i++) {
      fetch(i, "x".repeat(10_000));
    }
    for (int i = 0; i < 90; i += 2) {
      fixture.cache.operations().purge(uri(i));
    }
  }

  @Test
  void aClientThatLeavesInTheMiddleEndsItsLease() {
    fetch(1, "x".repeat(390_000));
    RecordingReply reader = new RecordingReply();
    reader.whenWritten(reader::leave);
    fixture.handler.handle(fixture.exchange("GET", uri(1), reader));
    fixture.cache.operations().purge(uri(1));
    assertThat(fixture.cache.operations().usedBytes()).isZero();
  }

  @Test
  void aClientThatIsResumedAfterItHasLeftEndsNoLeaseTwice() {
    fetch(1, "x".repeat(390_000));
    RecordingReply reader = new RecordingReply();
    reader.whenWritten(reader::pause);
    fixture.handler.handle(fixture.exchange("GET", uri(1), reader));
    reader.leave();
    reader.resume();
    assertThat(fixture.send("GET", uri(1)).content()).hasSize(390_000);
  }

  @Test
  void aChunkThatCannotBeCopiedIsReleasedAndEndsTheResponse() {
    RecordingReply reply = fixture.get();
    ScriptedOrigin.Forwarded origin = fixture.origin.last();
    origin.head(200, -1, "Cache-Control", FRESH).write("a");
    ByteBuf chunk = new Unreadable();
    assertThatThrownBy(() -> origin.write(chunk)).isInstanceOf(UnsupportedOperationException.class);
    assertThat(chunk.refCnt()).isZero();
    origin.abort();
    assertThat(reply.text()).isEqualTo("a");
    assertThat(reply.isAborted()).isTrue();
  }

  /** A chunk that refuses to be copied. */
  private static final class Unreadable extends UnpooledDirectByteBuf {

    Unreadable() {
      super(UnpooledByteBufAllocator.DEFAULT, 8, 8);
      writeLong(1);
    }

    @Override
    public ByteBuf getBytes(int index, ByteBuffer target) {
      throw new UnsupportedOperationException("unreadable");
    }
  }

  @Test
  void variantsUnderOneKeyAreBounded() {
    for (int i = 0; i < 40; i++) {
      fixture.get("X-Any", Integer.toString(i));
      fixture.origin.last().respond(200, "x", "Cache-Control", FRESH, "Vary", "X-Any");
      fixture.run();
    }
    assertThat(fixture.forwarded()).isEqualTo(40);
    assertThat(fixture.cache.operations().purge(CacheFixture.URI)).hasValue(16);
  }

  @Test
  void whenTheClientLeavesAndMuchIsToComeNothingIsFilled() {
    try (CacheFixture large = new CacheFixture(16 << 20, TestSettings.of(8 << 20))) {
      RecordingReply reply = large.get();
      large.origin.last().head(200, 4 << 20, "Cache-Control", FRESH).write("x");
      reply.leave();
      assertThat(large.origin.last().isCancelled()).isTrue();
      assertThat(large.cache.operations().usedBytes()).isZero();
    }
  }
}
