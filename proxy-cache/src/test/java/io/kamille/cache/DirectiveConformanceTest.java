package io.kamille.cache;

import static io.kamille.cache.CacheFixture.NOW;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.decision.Explanation;
import io.kamille.cache.rules.Decision;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.HttpDate;
import io.kamille.core.http.RequestHead;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The directives of requests and responses (RFC 9111 §5.2), and Pragma (§5.4). */
class DirectiveConformanceTest {

  private final CacheFixture fixture = new CacheFixture();

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  private boolean isReusedWith(String control) {
    return fixture.isReused("Cache-Control", control);
  }

  // Requests

  @ParameterizedTest
  @CsvSource({
    "max-age=0, false",
    "max-age=9, false",
    "max-age=10, true",
    "max-age=11, true",
    "MAX-AGE=11, true",
    "max-age=x, false",
    "max-age, false",
  })
  void section5_2_1_1MaxAgeLimitsTheAge(String control, boolean isReused) {
    fixture.store("hello");
    fixture.advance(10);
    assertThat(isReusedWith(control)).isEqualTo(isReused);
  }

  @Test
  void section5_2_1_1WithMaxAgeNoStaleResponseIsWantedUnlessMaxStaleSaysSo() {
    fixture.fill(200, "hello", "Cache-Control", "max-age=60, stale-while-revalidate=600");
    fixture.advance(70);
    assertThat(isReusedWith("max-age=100")).isFalse();
    assertThat(isReusedWith("max-age=100, max-stale=5")).isFalse();
    RecordingReply stale = fixture.get("Cache-Control", "max-age=100, max-stale=10");
    assertThat(stale.field("Cache-Status")).contains("; hit; ttl=-10");
    fixture.origin.last().respond(200, "asked");
  }

  @ParameterizedTest
  @CsvSource({
    "max-stale, true",
    "max-stale=10, true",
    "max-stale=9, false",
    "max-stale=x, false",
    "max-stale=0, false",
    "min-fresh=0, false",
  })
  void section5_2_1_2MaxStaleAllowsAStaleResponse(String control, boolean isReused) {
    fixture.store("hello");
    fixture.advance(70);
    assertThat(isReusedWith(control)).isEqualTo(isReused);
  }

  @ParameterizedTest
  @CsvSource({
    "min-fresh=49, true",
    "min-fresh=50, true",
    "min-fresh=51, false",
    "min-fresh=x, false"
  })
  void section5_2_1_3MinFreshWantsSomeLifetimeLeft(String control, boolean isReused) {
    fixture.store("hello", "Age", "10");
    assertThat(isReusedWith(control)).isEqualTo(isReused);
  }

  @Test
  void section5_2_1_4NoCacheWantsValidation() {
    fixture.store("hello", "ETag", "\"1\"");
    RecordingReply reply = fixture.get("Cache-Control", "no-cache");
    assertThat(fixture.origin.last().field(FieldName.IF_NONE_MATCH)).isEqualTo("\"1\"");
    fixture.origin.last().respond(304, "", "ETag", "\"1\"");
    assertThat(reply.text()).isEqualTo("hello");
    assertThat(reply.field("Cache-Status")).startsWith("kamille; fwd=request; fwd-status=304");
  }

  @Test
  void section5_2_1_5NoStoreKeepsTheResponseOut() {
    fixture.get("Cache-Control", "no-store");
    fixture.origin.last().respond(200, "hello", "Cache-Control", "max-age=60");
    assertThat(fixture.cache.operations().keys()).isZero();
    assertThat(fixture.cache.operations().usedBytes()).isZero();
  }

  @Test
  void section5_2_1_7OnlyIfCachedIsAnsweredFromTheStoreOrBy504() {
    assertThat(fixture.get("Cache-Control", "only-if-cached").status()).isEqualTo(504);
    fixture.store("hello", "ETag", "\"1\"");
    assertThat(fixture.get("Cache-Control", "only-if-cached").text()).isEqualTo("hello");
    assertThat(fixture.get("Cache-Control", "only-if-cached, no-cache").status()).isEqualTo(504);
    assertThat(fixture.get("Cache-Control", "only-if-cached", "If-Match", "\"1\"").status())
        .isEqualTo(504);
    fixture.advance(60);
    assertThat(fixture.get("Cache-Control", "only-if-cached").status()).isEqualTo(504);
    assertThat(fixture.get("Cache-Control", "only-if-cached, max-stale").status()).isEqualTo(200);
    assertThat(fixture.forwarded()).isEqualTo(1);
  }

  @Test
  void section5_2_1_7OnlyIfCachedIsNotForwardedWhereItPassesTheCacheBy() {
    fixture.store("hello");
    for (String[] passing :
        new String[][] {
          {"Content-Length", "1"},
          {"Transfer-Encoding", "chunked"},
          {"Connection", "upgrade", "Upgrade", "websocket"},
          {"Connection", "x-a", "X-A", "1"}
        }) {
      String[] fields = Arrays.copyOf(passing, passing.length + 2);
      fields[passing.length] = "Cache-Control";
      fields[passing.length + 1] = "only-if-cached";
      assertThat(fixture.get(fields).status()).as(passing[0]).isEqualTo(504);
      assertThat(fixture.handler.explain(RequestHead.of("GET", CacheFixture.URI, fields)))
          .extracting(Explanation::decision)
          .as(passing[0])
          .isEqualTo(Decision.REFUSE);
    }
    assertThat(fixture.forwarded()).isEqualTo(1);
    fixture.send("POST", CacheFixture.URI, "Cache-Control", "only-if-cached");
    assertThat(fixture.forwarded()).as("§4: it is written through").isEqualTo(2);
    fixture.origin.last().respond(204, "");
  }

  @Test
  void section5_2UnknownDirectivesAreIgnoredAndPassedOn() {
    fixture.get("Cache-Control", "nothing-to-see-here, x=\"no-store\"");
    assertThat(fixture.origin.last().field(FieldName.CACHE_CONTROL))
        .isEqualTo("nothing-to-see-here, x=\"no-store\"");
    fixture.origin.last().respond(200, "hello", "Cache-Control", "max-age=60, x=y, \"quoted\"");
    RecordingReply hit = fixture.get("Cache-Control", "community=\"UCI\"");
    assertThat(fixture.forwarded()).isEqualTo(1);
    assertThat(hit.field("Cache-Control")).isEqualTo("max-age=60, x=y, \"quoted\"");
  }

  // Responses

  @ParameterizedTest
  @ValueSource(strings = {"must-revalidate", "proxy-revalidate", "MUST-Revalidate"})
  void section5_2_2_2StaleIsNotServedWithoutValidation(String control) {
    fixture.fill(200, "hello", "Cache-Control", "max-age=60, " + control, "ETag", "\"1\"");
    assertThat(fixture.isReused()).isTrue();
    fixture.advance(60);
    assertThat(isReusedWith("max-stale")).isFalse();
    RecordingReply reply = fixture.get("Cache-Control", "max-stale");
    fixture.origin.last().fail(ErrorType.CONNECTION_REFUSED);
    assertThat(reply.status()).isGreaterThanOrEqualTo(500);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"no-cache", "No-CaChE", "no-cache=ETag", "no-cache=\"\"", "no-cache=\"a b\""})
  void section5_2_2_4NoCacheIsValidatedOnEveryUse(String control) {
    fixture.fill(200, "hello", "Cache-Control", "max-age=60, " + control, "ETag", "\"1\"");
    for (int i = 0; i < 2; i++) {
      RecordingReply reply = fixture.get();
      assertThat(fixture.origin.last().field(FieldName.IF_NONE_MATCH)).isEqualTo("\"1\"");
      fixture.origin.last().respond(304, "", "ETag", "\"1\"");
      assertThat(reply.text()).isEqualTo("hello");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"no-cache", "private"})
  void section5_2_2_4And7ListedFieldsAreLeftOutOfWhatIsReused(String directive) {
    RecordingReply first =
        fixture.fill(
            200,
            "hello",
            "Cache-Control",
            directive + "=\"A, b\"",
            "Cache-Control",
            "max-age=60",
            "A",
            "1",
            "B",
            "2",
            "C",
            "3");
    assertThat(first.field("A")).isEqualTo("1");
    RecordingReply hit = fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(1);
    assertThat(hit.field("A")).isNull();
    assertThat(hit.field("B")).isNull();
    assertThat(hit.field("C")).isEqualTo("3");
  }

  @Test
  void section5_2_2_7AListedSetCookieDoesNotKeepTheRestOut() {
    fixture.fill(
        200, "hello", "Cache-Control", "private=\"set-cookie\", max-age=60", "Set-Cookie", "a=b");
    RecordingReply hit = fixture.get();
    assertThat(hit.text()).isEqualTo("hello");
    assertThat(hit.field("Set-Cookie")).isNull();
  }

  @Test
  void section4_2_1TheMostRestrictiveOfConflictingDirectivesHolds() {
    fixture.fill(200, "hello", "Cache-Control", "max-age=60, no-cache, public", "ETag", "\"1\"");
    assertThat(fixture.isReused()).isFalse();
    fixture.fill(200, "hello", "Cache-Control", "public, private, max-age=60");
    assertThat(fixture.isReused()).isFalse();
  }

  // Pragma

  @Test
  void section5_4PragmaNoCacheCountsWhereThereIsNoCacheControl() {
    fixture.store("hello");
    assertThat(fixture.isReused("Pragma", "no-cache")).isFalse();
    assertThat(fixture.isReused("Pragma", "No-Cache")).isFalse();
    assertThat(fixture.isReused("Pragma", "foo")).isTrue();
    assertThat(fixture.isReused("Pragma", "no-cache", "Cache-Control", "max-age=60")).isTrue();
  }

  @Test
  void section5_4PragmaInAResponseMeansNothing() {
    fixture.store("hello", "Pragma", "no-cache");
    assertThat(fixture.isReused()).isTrue();
  }

  // Extensions

  @Test
  void rfc5861Section3StaleWhileRevalidateAnswersAtOnceWithinItsTime() {
    fixture.fill(200, "hello", "Cache-Control", "max-age=60, stale-while-revalidate=10");
    fixture.advance(69);
    RecordingReply reply = fixture.get();
    assertThat(reply.text()).isEqualTo("hello");
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().respond(200, "new", "Cache-Control", "no-store");
    fixture.advance(1);
    assertThat(fixture.isReused()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"500, true", "502, true", "503, true", "504, true", "501, false", "404, false"})
  void rfc5861Section4StaleIfErrorStandsInForTheseErrors(int status, boolean isServed) {
    fixture.fill(200, "hello", "Cache-Control", "max-age=60, stale-if-error=10", "ETag", "\"1\"");
    fixture.advance(69);
    RecordingReply reply = fixture.get();
    fixture.origin.last().respond(status, "");
    assertThat(reply.status()).isEqualTo(isServed ? 200 : status);
    fixture.advance(1);
    reply = fixture.get();
    fixture.origin.last().respond(status, "");
    assertThat(reply.status()).isEqualTo(status);
  }

  @Test
  void rfc5861Section4TheClientMayAllowItToo() {
    fixture.store("hello", "ETag", "\"1\"");
    fixture.advance(70);
    RecordingReply reply = fixture.get("Cache-Control", "stale-if-error=20");
    fixture.origin.last().respond(503, "");
    assertThat(reply.text()).isEqualTo("hello");
  }

  @Test
  void rfc8246Section2AFreshImmutableResponseIsNotAskedAboutForAReload() {
    fixture.fill(200, "hello", "Cache-Control", "max-age=60, immutable", "ETag", "\"1\"");
    fixture.advance(10);
    assertThat(isReusedWith("max-age=0")).isTrue();
    assertThat(fixture.get("Cache-Control", "max-age=0", "If-None-Match", "\"1\"").status())
        .isEqualTo(304);
    assertThat(isReusedWith("no-cache")).isFalse();
    fixture.advance(50);
    assertThat(fixture.isReused()).isFalse();
  }

  @Test
  void rfc9111Section4_3_2AConditionIsJudgedThoughTheResponseIsNotStored() {
    RecordingReply matching = fixture.get("If-None-Match", "\"1\"");
    fixture.origin.last().respond(200, "hello", "Cache-Control", "no-store", "ETag", "\"1\"");
    assertThat(matching.status()).isEqualTo(304);
    RecordingReply other = fixture.get("If-None-Match", "\"2\"");
    fixture.origin.last().respond(200, "hello", "Cache-Control", "no-store", "ETag", "\"1\"");
    assertThat(other.text()).isEqualTo("hello");
  }

  @Test
  void rfc9213Section2_2TheTargetedFieldDecidesAndIsPassedOn() {
    String later = HttpDate.format(NOW + 9000);
    RecordingReply first =
        fixture.fill(
            200,
            "hello",
            "CDN-Cache-Control",
            "max-age=60",
            "Cache-Control",
            "no-store",
            "Expires",
            later);
    assertThat(first.field("CDN-Cache-Control")).isEqualTo("max-age=60");
    RecordingReply hit = fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(1);
    assertThat(hit.field("CDN-Cache-Control")).isEqualTo("max-age=60");
    assertThat(hit.field("Cache-Control")).isEqualTo("no-store");
    assertThat(hit.field("Expires")).isEqualTo(later);
    fixture.advance(60);
    assertThat(fixture.isReused()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"no-store", "private", "no-cache", "max-age=0", "must-revalidate"})
  void rfc9213Section2_2TheTargetedFieldForbidsToo(String control) {
    fixture.fill(200, "hello", "CDN-Cache-Control", control, "Cache-Control", "max-age=60");
    assertThat(fixture.isReused()).isFalse();
  }

  @Test
  void rfc9211CacheStatusTellsWhatHappened() {
    RecordingReply miss =
        fixture.fill(200, "hello", "Cache-Control", "max-age=60", "Cache-Status", "near; hit");
    assertThat(miss.lines())
        .containsSubsequence(
            "Cache-Status: near; hit\r\n",
            "Cache-Status: kamille; fwd=uri-miss; stored; ttl=60\r\n");
    RecordingReply hit = fixture.get();
    assertThat(hit.field("Cache-Status")).isEqualTo("near; hit, kamille; hit; ttl=60");
  }
}
