package io.kamille.cache;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When the content of a response that no client waits for is still read to its end. */
class UnwantedContentTest {

  private static final int DROPPED = 64 << 10;
  private static final int FINISHED = 1 << 20;
  private static final long UNKNOWN = -1;
  private static final String[] FRESH = {"Cache-Control", "max-age=60"};

  private final CacheFixture fixture = new CacheFixture(8 << 20, TestSettings.of(4 << 20));

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  /** The connection to the origin is worth that much. */
  @Test
  void theContentOfAnErrorInWhosePlaceAStoredResponseIsServedIsDroppedUpTo64Kibibytes() {
    fixture.store("old", "Cache-Control", "stale-if-error=86400");
    fixture.advance(100);
    for (long length : new long[] {0, DROPPED - 1, DROPPED}) {
      ScriptedOrigin.Forwarded forwarded = answeredInPlaceOfAnError(length);
      assertThat(forwarded.isCancelled()).as("%d octets", length).isFalse();
      forwarded.write(new byte[(int) length]).end();
    }
    for (long length : new long[] {DROPPED + 1, Long.MAX_VALUE, UNKNOWN}) {
      assertThat(answeredInPlaceOfAnError(length).isCancelled()).as("%d octets", length).isTrue();
    }
    assertThat(answeredInPlaceOfAnError(0).end().isCancelled()).isFalse();
  }

  private ScriptedOrigin.Forwarded answeredInPlaceOfAnError(long length) {
    fixture.advance(100);
    RecordingReply reply = fixture.get();
    fixture.origin.last().head(500, length);
    fixture.run();
    assertThat(reply.text()).isEqualTo("old");
    return fixture.origin.last();
  }

  /** Their length is that of the selected representation (RFC 9110 §6.4.1, §8.6). */
  @ParameterizedTest
  @ValueSource(longs = {UNKNOWN, 0, 10L << 20})
  void a304CostsNoConnection(long length) {
    fixture.store("old", "ETag", "\"v1\"");
    fixture.advance(100);
    RecordingReply get = fixture.get();
    ScriptedOrigin.Forwarded asked = fixture.origin.last().head(304, length, "ETag", "\"v1\"");
    assertThat(asked.isCancelled()).isFalse();
    asked.end();
    assertThat(get.text()).isEqualTo("old");
  }

  @Test
  void aResponseToHeadThatConfirmsWhatIsStoredCostsNoConnection() {
    fixture.store("old", "ETag", "\"v1\"");
    fixture.advance(100);
    RecordingReply head = fixture.send("HEAD", CacheFixture.URI);
    ScriptedOrigin.Forwarded asked =
        fixture.origin.last().head(200, UNKNOWN, "ETag", "\"v1\"", "Cache-Control", "max-age=60");
    assertThat(head.field("Cache-Status")).contains("fwd-status=200");
    assertThat(asked.isCancelled()).isFalse();
    asked.end();
  }

  @Test
  void aResponseWithoutContentThatNobodyWaitsForCostsNoConnection() {
    RecordingReply leader = fixture.get();
    RecordingReply follower = fixture.get();
    ScriptedOrigin.Forwarded asked = fixture.origin.last();
    leader.leave();
    asked.head(204, UNKNOWN, "Cache-Control", "no-store");
    fixture.run();
    assertThat(asked.isCancelled()).isFalse();
    asked.end();
    fixture.origin.last().respond(200, "own", "Cache-Control", "no-store");
    assertThat(follower.text()).isEqualTo("own");
  }

  @Test
  void aResponseWhoseClientHasLeftIsStoredIfAtMostAMebibyteIsToCome() {
    ScriptedOrigin.Forwarded near = leftAfter(10, 10L + FINISHED);
    assertThat(near.isCancelled()).isFalse();
    near.write(new byte[FINISHED]).end();
    fixture.run();
    assertThat(fixture.isReused()).isTrue();
    for (long length : new long[] {11L + FINISHED, 3L << 20}) {
      fixture.cache.operations().purges().clear();
      assertThat(leftAfter(10, length).isCancelled()).as("%d octets", length).isTrue();
      assertThat(fixture.isReused()).isFalse();
    }
  }

  @Test
  void aResponseOfUnknownLengthIsReadOnUntilItHasMoreThanAMebibyte() {
    ScriptedOrigin.Forwarded small = leftAfter(10, UNKNOWN);
    small.write(new byte[FINISHED - 10]);
    assertThat(small.isCancelled()).isFalse();
    small.end();
    fixture.run();
    assertThat(fixture.isReused()).isTrue();
    fixture.cache.operations().purges().clear();
    ScriptedOrigin.Forwarded large = leftAfter(10, UNKNOWN);
    large.write(new byte[FINISHED - 10]);
    assertThat(large.isCancelled()).isFalse();
    large.write(new byte[1]);
    assertThat(large.isCancelled()).isTrue();
    assertThat(leftAfter(FINISHED + 1, UNKNOWN).isCancelled()).isTrue();
    assertThat(fixture.isReused()).isFalse();
  }

  private ScriptedOrigin.Forwarded leftAfter(int octets, long length) {
    RecordingReply reply = fixture.get();
    fixture.origin.last().head(200, length, FRESH).write(new byte[octets]);
    fixture.run();
    reply.leave();
    fixture.run();
    return fixture.origin.last();
  }
}
