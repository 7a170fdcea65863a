package io.kamille.cache;

import static io.kamille.cache.CacheFixture.URI;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Large content that is asked for often goes as regions of a file, to clients that take them. */
class SendfileHitTest {

  private static final int FROM = 200_000;
  private static final int SENDINGS_COPIED = 3;

  private final CacheFixture fixture = new CacheFixture(8 << 20, FROM, TestSettings.of(4 << 20));

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  @Test
  void theEighthAndLaterHitsGoByRegion() {
    String content = content(500_000);
    fixture.store(content);
    for (int i = 0; i < SENDINGS_COPIED; i++) {
      RecordingReply copied = hit();
      assertThat(copied.regions()).isZero();
      assertThat(copied.isComplete()).isTrue();
    }
    for (int i = 0; i < 3; i++) {
      RecordingReply sent = hit();
      sent.resume();
      assertThat(sent.isComplete()).isTrue();
      assertThat(sent.regions()).isPositive();
      assertThat(sent.text()).isEqualTo(content);
      assertThat(sent.field("Content-Length")).isEqualTo("500000");
      assertThat(sent.announcedLength()).isEqualTo(500_000);
    }
    assertThat(fixture.forwarded()).isEqualTo(1);
  }

  @Test
  void octetsThatLeaveAsRegionsAreCounted() {
    fixture.store(content(500_000));
    warm();
    assertThat(fixture.counted("kamille_cache_region_bytes_total")).isZero();
    hit().resume();
    assertThat(fixture.counted("kamille_cache_region_bytes_total")).isBetween(450_000L, 458_752L);
  }

  @Test
  void theReplyEndsWhenTheClientHasTakenTheRegions() {
    fixture.store(content(500_000));
    warm();
    RecordingReply reply = hit();
    assertThat(reply.content()).hasSize(500_000);
    assertThat(reply.isEnded()).isFalse();
    reply.resume();
    assertThat(reply.isComplete()).isTrue();
  }

  @Test
  void contentLongerThanAWindowGoesOnWhenTheClientHasTakenTheWindow() {
    String content = content(3_000_000);
    fixture.store(content);
    warm();
    RecordingReply reply = hit();
    assertThat(reply.content()).hasSizeBetween(1_500_000, 2_500_000);
    reply.resume();
    assertThat(reply.isEnded()).isFalse();
    reply.resume();
    assertThat(reply.isComplete()).isTrue();
    assertThat(reply.text()).isEqualTo(content);
  }

  @Test
  void aClientThatLeavesEndsTheLease() {
    fixture.store(content(3_000_000));
    warm();
    RecordingReply inTheMiddle = hit();
    assertThat(inTheMiddle.regions()).isPositive();
    assertThat(inTheMiddle.isEnded()).isFalse();
    RecordingReply atTheEnd = hit();
    atTheEnd.resume();
    assertThat(atTheEnd.isEnded()).isFalse();
    fixture.cache.operations().purges().clear();
    assertThat(leasedBytes()).isPositive();
    inTheMiddle.leave();
    assertThat(leasedBytes()).isPositive();
    atTheEnd.leave();
    assertThat(leasedBytes()).isZero();
  }

  /** What is not stored any more and still read. */
  private long leasedBytes() {
    return fixture.cache.operations().memory().leasedBytes();
  }

  @Test
  void aClientThatTakesNoRegionsGetsCopies() {
    fixture.store(content(220_000));
    warm();
    RecordingReply reply = fixture.get();
    assertThat(reply.isComplete()).isTrue();
    assertThat(reply.regions()).isZero();
  }

  @Test
  void lessThanTheSettingIsCopied() {
    fixture.store(content(FROM - 1));
    warm();
    RecordingReply reply = hit();
    assertThat(reply.isComplete()).isTrue();
    assertThat(reply.regions()).isZero();
  }

  @Test
  void aLargeRangeGoesByRegionAndASmallOneDoesNot() {
    String content = content(1_000_000);
    fixture.store(content);
    warm();
    RecordingReply large = hit("Range", "bytes=300001-600000");
    large.resume();
    assertThat(large.status()).isEqualTo(206);
    assertThat(large.regions()).isPositive();
    assertThat(large.text()).isEqualTo(content.substring(300_001, 600_001));
    RecordingReply small = hit("Range", "bytes=300001-400000");
    assertThat(small.status()).isEqualTo(206);
    assertThat(small.regions()).isZero();
    assertThat(small.text()).isEqualTo(content.substring(300_001, 400_001));
  }

  @Test
  void aHeadHasNoContentAndCountsForNothing() {
    fixture.store(content(500_000));
    for (int i = 0; i < 10; i++) {
      var reply = new RecordingReply().takingRegions();
      fixture.handler.handle(fixture.exchange("HEAD", URI, reply));
      assertThat(reply.isComplete()).isTrue();
      assertThat(reply.field("Content-Length")).isEqualTo("500000");
      assertThat(reply.text()).isEmpty();
    }
    assertThat(hit().regions()).isZero();
  }

  /** Sends it as often as is copied anyway. */
  private void warm() {
    for (int i = 0; i < SENDINGS_COPIED; i++) {
      assertThat(hit().isComplete()).isTrue();
    }
  }

  private RecordingReply hit(String... fields) {
    var reply = new RecordingReply().takingRegions();
    fixture.handler.handle(fixture.exchange("GET", URI, reply, fields));
    fixture.run();
    return reply;
  }

  private static String content(int length) {
    return "0123456789abcdef-".repeat(length / 17 + 1).substring(0, length);
  }
}
