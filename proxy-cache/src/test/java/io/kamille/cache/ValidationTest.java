package io.kamille.cache;

import static io.kamille.cache.CacheFixture.URI;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.http.FieldName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Stored responses that the origin is asked about (RFC 9111 §4.3, RFC 5861). */
class ValidationTest {

  private static final String TAG = "\"v1\"";

  private final CacheFixture fixture = new CacheFixture();

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  @Test
  void notModifiedFreshensTheHeadAndKeepsTheContent() {
    fixture.store("hello", "ETag", TAG, "X-Version", "1");
    long used = fixture.cache.operations().usedBytes();
    fixture.advance(100);
    RecordingReply reply = fixture.get();
    assertThat(fixture.origin.last().field(FieldName.IF_NONE_MATCH)).isEqualTo(TAG);
    assertThat(reply.isBegun()).isFalse();
    fixture
        .origin
        .last()
        .respond(304, "", "ETag", TAG, "Cache-Control", "max-age=30", "X-Version", "2");
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.text()).isEqualTo("hello");
    assertThat(reply.field("X-Version")).isEqualTo("2");
    assertThat(reply.field("Age")).isEqualTo("0");
    assertThat(reply.field("Cache-Status")).isEqualTo("kamille; fwd=stale; fwd-status=304; ttl=30");
    assertThat(fixture.cache.operations().usedBytes()).isLessThanOrEqualTo(2 * used);
    fixture.advance(10);
    RecordingReply hit = fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(2);
    assertThat(hit.text()).isEqualTo("hello");
    assertThat(hit.field("Age")).isEqualTo("10");
    assertThat(hit.field("Cache-Status")).isEqualTo("kamille; hit; ttl=20");
    assertThat(fixture.counted("kamille_cache_validations_total", "freshened")).isEqualTo(1);
  }

  @Test
  void freshenedManyTimesTheContentIsStillOne() {
    fixture.store("hello", "ETag", TAG);
    fixture.advance(100);
    fixture.get();
    fixture.origin.last().respond(304, "", "Cache-Control", "max-age=30");
    long used = fixture.cache.operations().usedBytes();
    for (int i = 0; i < 5; i++) {
      fixture.advance(100);
      fixture.get();
      fixture.origin.last().respond(304, "", "Cache-Control", "max-age=30");
    }
    assertThat(fixture.cache.operations().usedBytes()).isEqualTo(used);
    assertThat(fixture.get().text()).isEqualTo("hello");
  }

  @Test
  void anotherResponseReplacesTheStoredOne() {
    fixture.store("old", "ETag", TAG);
    fixture.advance(100);
    RecordingReply reply = fixture.get();
    fixture.origin.last().respond(200, "new", "Cache-Control", "max-age=60");
    assertThat(reply.text()).isEqualTo("new");
    assertThat(reply.field("Cache-Status")).isEqualTo("kamille; fwd=stale; stored; ttl=60");
    assertThat(fixture.get().text()).isEqualTo("new");
    assertThat(fixture.counted("kamille_cache_validations_total", "replaced")).isEqualTo(1);
  }

  @Test
  void theClientsOwnConditionIsJudgedAgainstTheFreshenedResponse() {
    fixture.store("hello", "ETag", TAG);
    fixture.advance(100);
    RecordingReply reply = fixture.get("If-None-Match", TAG);
    fixture.origin.last().respond(304, "", "ETag", TAG, "Cache-Control", "max-age=30");
    assertThat(reply.status()).isEqualTo(304);
    assertThat(reply.isComplete()).isTrue();
  }

  @Test
  void aRangeOfAStaleResponseIsServedAfterValidation() {
    fixture.store("0123456789", "ETag", TAG);
    fixture.advance(100);
    RecordingReply reply = fixture.get("Range", "bytes=2-4");
    assertThat(fixture.origin.last().field(FieldName.RANGE)).isNull();
    fixture.origin.last().respond(304, "", "ETag", TAG, "Cache-Control", "max-age=30");
    assertThat(reply.status()).isEqualTo(206);
    assertThat(reply.text()).isEqualTo("234");
  }

  @Test
  void headIsValidatedByHead() {
    fixture.store("hello", "ETag", TAG);
    fixture.advance(100);
    RecordingReply reply = fixture.send("HEAD", URI);
    assertThat(fixture.origin.last().request().methodText()).isEqualTo("HEAD");
    fixture.origin.last().respond(304, "", "ETag", TAG, "Cache-Control", "max-age=30");
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.field("Content-Length")).isEqualTo("5");
    assertThat(reply.text()).isEmpty();
    assertThat(fixture.get().text()).isEqualTo("hello");
    assertThat(fixture.forwarded()).isEqualTo(2);
  }

  @Test
  void headThatShowsAnotherResponseRemovesTheStoredOne() {
    fixture.store("hello", "ETag", TAG);
    fixture.advance(100);
    RecordingReply reply = fixture.send("HEAD", URI);
    fixture.origin.last().head(200, 7, "ETag", "\"v2\"").end();
    assertThat(reply.status()).isEqualTo(200);
    assertThat(fixture.cache.operations().keys()).isZero();
  }

  @Test
  void aNotModifiedAboutSomethingElseIsAskedAgainWithoutConditions() {
    fixture.store("old", "ETag", TAG);
    fixture.advance(100);
    RecordingReply reply = fixture.get();
    fixture.origin.last().respond(304, "", "ETag", "\"v2\"");
    assertThat(fixture.forwarded()).isEqualTo(3);
    assertThat(fixture.origin.last().field(FieldName.IF_NONE_MATCH)).isNull();
    fixture.origin.last().respond(200, "new", "ETag", "\"v2\"", "Cache-Control", "max-age=60");
    assertThat(reply.text()).isEqualTo("new");
    assertThat(fixture.get().text()).isEqualTo("new");
  }

  @Test
  void anAnswerAboutSomethingElseThatBreaksOffIsAskedAgainToo() {
    fixture.store("hello", "ETag", TAG);
    fixture.advance(100);
    RecordingReply leader = fixture.get();
    RecordingReply follower = fixture.get();
    fixture.origin.last().head(304, 0, "ETag", "\"v2\"").abort();
    fixture.run();
    assertThat(leader.isBegun()).isFalse();
    assertThat(fixture.forwarded()).isEqualTo(3);
    assertThat(fixture.origin.last().request().fields().has(FieldName.IF_NONE_MATCH)).isFalse();
    fixture.origin.last().respond(200, "hello 2", "ETag", "\"v2\"", "Cache-Control", "max-age=60");
    fixture.run();
    assertThat(leader.text()).isEqualTo("hello 2");
    assertThat(follower.text()).isEqualTo("hello 2");
  }

  @Test
  void noCacheIsValidatedOnEveryUse() {
    fixture.get();
    fixture.origin.last().respond(200, "hello", "Cache-Control", "no-cache", "ETag", TAG);
    for (int i = 2; i <= 3; i++) {
      RecordingReply reply = fixture.get();
      assertThat(fixture.forwarded()).isEqualTo(i);
      fixture.origin.last().respond(304, "", "ETag", TAG, "Cache-Control", "no-cache");
      assertThat(reply.text()).isEqualTo("hello");
    }
  }

  @Test
  void staleIfErrorServesTheStoredResponseOnAnErrorAndOnNoAnswer() {
    fixture.get();
    fixture
        .origin
        .last()
        .respond(200, "hello", "Cache-Control", "max-age=60, stale-if-error=600", "ETag", TAG);
    fixture.advance(100);
    RecordingReply onError = fixture.get();
    fixture.origin.last().respond(503, "sorry");
    assertThat(onError.status()).isEqualTo(200);
    assertThat(onError.text()).isEqualTo("hello");
    assertThat(onError.field("Cache-Status"))
        .isEqualTo("kamille; fwd=stale; fwd-status=503; ttl=-40; detail=stale-if-error");
    RecordingReply onNothing = fixture.get();
    fixture.origin.last().fail(ErrorType.CONNECTION_REFUSED);
    assertThat(onNothing.text()).isEqualTo("hello");
  }

  @Test
  void withoutStaleIfErrorTheErrorIsTheAnswer() {
    fixture.store("hello", "ETag", TAG);
    fixture.advance(100);
    RecordingReply reply = fixture.get();
    fixture.origin.last().respond(503, "sorry");
    assertThat(reply.status()).isEqualTo(503);
    assertThat(reply.text()).isEqualTo("sorry");
  }

  @Test
  void staleWhileRevalidateAnswersAtOnceAndValidatesBehind() {
    fixture.get();
    fixture
        .origin
        .last()
        .respond(
            200, "hello", "Cache-Control", "max-age=60, stale-while-revalidate=600", "ETag", TAG);
    fixture.advance(100);
    for (int i = 0; i < 3; i++) {
      RecordingReply reply = fixture.get();
      assertThat(reply.isComplete()).isTrue();
      assertThat(reply.text()).isEqualTo("hello");
      assertThat(reply.field("Cache-Status")).isEqualTo("kamille; hit; ttl=-40");
    }
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().respond(304, "", "ETag", TAG, "Cache-Control", "max-age=60");
    assertThat(fixture.get().field("Cache-Status")).isEqualTo("kamille; hit; ttl=60");
    assertThat(fixture.counted("kamille_cache_hits_total", "stale")).isEqualTo(3);
  }

  @Test
  void onlyIfCachedNeverReachesTheOrigin() {
    RecordingReply reply = fixture.get("Cache-Control", "only-if-cached");
    assertThat(reply.status()).isEqualTo(504);
    assertThat(fixture.forwarded()).isZero();
  }

  @ParameterizedTest
  @CsvSource({"Range,bytes=2-4,206", "Range,bytes=20-,416", "Cache-Control,no-store,200"})
  void whatIsPassedOnIsServedStaleInPlaceOfAnErrorToo(String name, String value, int status) {
    fixture.fill(200, "0123456789", "Cache-Control", "max-age=1, stale-if-error=600");
    fixture.advance(2);
    RecordingReply failed = fixture.get(name, value);
    fixture.origin.last().fail(ErrorType.CONNECTION_REFUSED);
    RecordingReply unavailable = fixture.get(name, value);
    fixture.origin.last().respond(503, "bad");
    RecordingReply head = fixture.send("HEAD", URI, name, value);
    fixture.origin.last().head(503, 3).end();
    assertThat(failed.status()).isEqualTo(status);
    assertThat(unavailable.status()).isEqualTo(status);
    assertThat(unavailable.field("Cache-Status")).contains("fwd-status=503");
    assertThat(head.status()).isEqualTo(200);
    assertThat(failed.text()).isEqualTo(status == 206 ? "234" : status == 200 ? "0123456789" : "");
  }

  @Test
  void whatTheOriginAloneJudgesGetsItsError() {
    fixture.fill(200, "0123456789", "Cache-Control", "max-age=1, stale-if-error=600");
    fixture.advance(2);
    RecordingReply reply = fixture.get("Range", "bytes=2-4", "If-Match", TAG);
    fixture.origin.last().respond(503, "bad");
    assertThat(reply.status()).isEqualTo(503);
  }

  @Test
  void aPartOfTheOriginPassesAndTheStaleResponseStays() {
    fixture.fill(200, "0123456789", "Cache-Control", "max-age=1, stale-if-error=600");
    fixture.advance(2);
    RecordingReply part = fixture.get("Range", "bytes=2-4");
    assertThat(fixture.origin.last().field(FieldName.RANGE)).isEqualTo("bytes=2-4");
    fixture.origin.last().respond(206, "abc", "Content-Range", "bytes 2-4/10");
    assertThat(part.text()).isEqualTo("abc");
    assertThat(part.field("Cache-Status")).isEqualTo("kamille; fwd=stale");
    assertThat(fixture.fill(503, "bad").text()).isEqualTo("0123456789");
  }

  /** It would be said of content that does not have it. */
  @Test
  void aNotModifiedWithAnotherContentCodingIsAboutSomethingElse() {
    fixture.store("plain", "ETag", TAG);
    fixture.advance(100);
    RecordingReply reply = fixture.get();
    fixture.origin.last().respond(304, "", "ETag", TAG, "Content-Encoding", "gzip");
    assertThat(fixture.origin.last().field(FieldName.IF_NONE_MATCH)).isNull();
    fixture.origin.last().respond(200, "new", "Cache-Control", "max-age=60", "ETag", TAG);
    assertThat(reply.text()).isEqualTo("new");
    fixture.advance(100);
    RecordingReply head = fixture.send("HEAD", URI);
    fixture.origin.last().head(200, 3, "ETag", TAG, "Content-Encoding", "gzip").end();
    assertThat(head.field("Content-Encoding")).isEqualTo("gzip");
    fixture.get();
    fixture.origin.last().respond(304, "", "ETag", TAG, "Cache-Control", "max-age=60");
    assertThat(fixture.get().field("Content-Encoding")).isNull();
  }

  @Test
  void aStoredChallengeIsNotForThoseWithCredentials() {
    RecordingReply first = fixture.get();
    RecordingReply follower = fixture.get();
    fixture.origin.last().respond(401, "who?", "Cache-Control", "max-age=60");
    fixture.run();
    assertThat(first.status()).isEqualTo(401);
    assertThat(follower.status()).isEqualTo(401);
    assertThat(fixture.isReused()).isTrue();
    RecordingReply reply = fixture.get("Authorization", "x");
    fixture.origin.last().respond(200, "you", "Cache-Control", "private");
    assertThat(reply.text()).isEqualTo("you");
    assertThat(fixture.isReused()).isTrue();
  }
}
