package io.kamille.cache;

import static io.kamille.cache.CacheFixture.URI;
import static io.kamille.cache.CacheFixture.fields;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.HttpDate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is stored, and what of it (RFC 9111 §3). */
class StoringConformanceTest {

  private final CacheFixture fixture = new CacheFixture();

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  private boolean isStored() {
    return fixture.cache.operations().keys() > 0;
  }

  @ParameterizedTest
  @ValueSource(strings = {"HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PROPFIND", "QUERY"})
  void section3OnlyAMethodThatIsUnderstoodIsStored(String method) {
    fixture.send(method, URI);
    fixture.origin.last().respond(200, "", "Cache-Control", "max-age=60");
    assertThat(isStored()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET", "POST"})
  void anInterimResponseHasNeitherTagsNorOurOwnCacheStatusForTheClient(String method) {
    RecordingReply reply = fixture.send(method, URI);
    fixture
        .origin
        .last()
        .interim(
            103,
            fields(
                "Surrogate-Key",
                "a",
                "Cache-Tag",
                "b",
                "Cache-Status",
                "kamille; hit, behind; hit",
                "Link",
                "</style.css>"))
        .respond(200, "x", "Cache-Control", "no-store");
    Fields interim = reply.interim().fields();
    assertThat(interim.has(FieldName.SURROGATE_KEY)).isFalse();
    assertThat(interim.has(FieldName.CACHE_TAG)).isFalse();
    assertThat(interim.first(FieldName.CACHE_STATUS)).isEqualTo("behind; hit");
    assertThat(interim.all("Link")).containsExactly("</style.css>");
  }

  @Test
  void section3AnInterimResponsePassesAndIsNotStored() {
    RecordingReply reply = fixture.get();
    fixture.origin.last().interim(103).interim(102);
    fixture.origin.last().respond(200, "final", "Cache-Control", "max-age=60");
    assertThat(reply.interims()).containsExactly(103, 102);
    assertThat(reply.text()).isEqualTo("final");
    RecordingReply hit = fixture.get();
    assertThat(hit.interims()).isEmpty();
    assertThat(hit.text()).isEqualTo("final");
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        200, 201, 202, 203, 204, 205, 299, 300, 301, 302, 303, 307, 308, 399, 400, 401, 403, 404,
        405, 410, 414, 421, 451, 499, 500, 501, 502, 503, 504, 599
      })
  void section3AnyFinalStatusCodeIsStoredWithExplicitFreshness(int status) {
    fixture.fill(status, "", "Cache-Control", "max-age=60");
    RecordingReply hit = fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(1);
    assertThat(hit.status()).isEqualTo(status);
    fixture.advance(60);
    assertThat(fixture.isReused()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {299, 399, 499, 599})
  void section5_2_2_3MustUnderstandKeepsAnUnknownStatusCodeOut(int status) {
    fixture.fill(status, "", "Cache-Control", "max-age=60, must-understand");
    assertThat(isStored()).isFalse();
  }

  @Test
  void section5_2_2_3MustUnderstandOverridesNoStoreForAKnownStatusCode() {
    fixture.fill(200, "hello", "Cache-Control", "max-age=60, must-understand, no-store");
    assertThat(fixture.isReused()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "no-store",
        "max-age=60, No-StOrE",
        "no-store=\"Set-Cookie\", max-age=60",
        "max-age=60;no-store",
        "private, max-age=60",
        "PRIVATE, s-maxage=60",
        "private=Set-Cookie, max-age=60",
        "max-age=60, x=\"no end"
      })
  void section3ADirectiveThatForbidsStoringIsObeyed(String control) {
    fixture.fill(200, "hello", "Cache-Control", control, "ETag", "\"1\"");
    assertThat(isStored()).isFalse();
  }

  @Test
  void section3WithoutAnythingThatAllowsItAnUnknownStatusCodeIsNotStored() {
    fixture.fill(499, "", "ETag", "\"1\"");
    assertThat(isStored()).isFalse();
    fixture.fill(499, "", "ETag", "\"1\"", "Cache-Control", "public");
    assertThat(isStored()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"max-age=60", "max-age=60, stale-while-revalidate=60", "must-understand"})
  void section3_5AResponseToAnAuthorizedRequestIsForThatClient(String control) {
    String[] request = fields("Authorization", "Basic eA==");
    fixture.fill(request, 200, "mine", "Cache-Control", control, "ETag", "\"1\"");
    assertThat(isStored()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"max-age=60, public", "max-age=60, must-revalidate", "s-maxage=60"})
  void section3_5UnlessADirectiveAllowsToShareIt(String control) {
    String[] request = fields("Authorization", "Basic eA==");
    fixture.fill(request, 200, "ours", "Cache-Control", control);
    assertThat(fixture.isReused()).isTrue();
    fixture.advance(60);
    assertThat(fixture.isReused()).isFalse();
  }

  @Test
  void section3_1UnknownFieldsAreStored() {
    fixture.store("hello", "X-New", "1", "X-New", "2", "Content-Foo", "bar", "Warning", "199 a b");
    RecordingReply hit = fixture.get();
    assertThat(hit.lines())
        .contains("X-New: 1\r\nX-New: 2\r\n", "Content-Foo: bar", "Warning: 199 a b");
  }

  @Test
  void section3_1ConnectionAndTheFieldsItNamesAreNotStored() {
    fixture.store("hello", "Connection", "a, B", "Connection", "c", "A", "1", "b", "2", "C", "3");
    RecordingReply hit = fixture.get();
    assertThat(hit.field("Connection")).isNull();
    assertThat(hit.field("A")).isNull();
    assertThat(hit.field("B")).isNull();
    assertThat(hit.field("C")).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Keep-Alive",
        "Proxy-Authenticate",
        "Proxy-Authentication-Info",
        "Proxy-Authorization",
        "Proxy-Connection",
        "TE",
        "Trailer",
        "Upgrade"
      })
  void section3_1FieldsOfOneConnectionOrProxyAreNotStored(String name) {
    fixture.store("hello", name, "x");
    assertThat(fixture.get().field(name)).isNull();
  }

  @Test
  void section3_1ConnectionCannotTakeAwayWhatReuseIsDecidedBy() {
    fixture.fill(
        fields("Accept", "a"),
        200,
        "a",
        "Cache-Control",
        "max-age=60",
        "Vary",
        "Accept",
        "ETag",
        "\"a\"",
        "Connection",
        "cache-control, vary, etag, date");
    fixture.advance(60);
    fixture.get("Accept", "a");
    fixture.origin.last().respond(304, "", "ETag", "\"a\"", "Cache-Control", "max-age=60");
    assertThat(fixture.isReused("Accept", "a")).isTrue();
    assertThat(fixture.isReused("Accept", "b")).isFalse();
  }

  @Test
  void section3_1TrailerFieldsAreNotMixedIntoTheHeader() {
    RecordingReply first = fixture.get();
    var forwarded = fixture.origin.last();
    forwarded.head(200, -1, "Cache-Control", "max-age=60", "ETag", "\"1\"");
    forwarded.write("hello").endWith("ETag", "\"2\"", "X-Late", "1");
    assertThat(first.text()).isEqualTo("hello");
    RecordingReply hit = fixture.get();
    assertThat(hit.field("ETag")).isEqualTo("\"1\"");
    assertThat(hit.field("X-Late")).isNull();
  }

  @Test
  void section3_2ANotModifiedReplacesEveryLineOfAFieldAndKeepsTheOthers() {
    fixture.store("hello", "ETag", "\"1\"", "A", "1", "A", "2", "B", "1", "Content-Type", "text/a");
    fixture.advance(60);
    RecordingReply reply = fixture.get();
    fixture
        .origin
        .last()
        .respond(304, "", "ETag", "\"1\"", "A", "3", "C", "1", "Content-Type", "text/b");
    assertThat(reply.lines()).doesNotContain("A: 1").doesNotContain("A: 2");
    assertThat(reply.field("A")).isEqualTo("3");
    assertThat(reply.field("B")).isEqualTo("1");
    assertThat(reply.field("C")).isEqualTo("1");
    assertThat(reply.field("Content-Type")).isEqualTo("text/b");
  }

  @Test
  void section3_2ContentLengthAndConnectionFieldsAreNeverUpdated() {
    fixture.store("hello", "ETag", "\"1\"");
    fixture.advance(60);
    RecordingReply reply = fixture.get();
    fixture
        .origin
        .last()
        .respond(
            304,
            "",
            "ETag",
            "\"1\"",
            "Content-Length",
            "99",
            "Content-Range",
            "bytes 0-1/2",
            "Connection",
            "X-Hop",
            "X-Hop",
            "1",
            "Proxy-Authenticate",
            "Basic");
    assertThat(reply.field("Content-Length")).isEqualTo("5");
    assertThat(reply.field("Content-Range")).isNull();
    assertThat(reply.field("X-Hop")).isNull();
    assertThat(reply.field("Proxy-Authenticate")).isNull();
    assertThat(reply.text()).isEqualTo("hello");
  }

  @Test
  void section3_3AnIncompleteResponseIsNotStored() {
    RecordingReply reply = fixture.get();
    var forwarded = fixture.origin.last();
    forwarded.head(200, 10, "Cache-Control", "max-age=60").write("01234").abort();
    assertThat(reply.isAborted()).isTrue();
    assertThat(isStored()).isFalse();
    reply = fixture.get();
    fixture.origin.last().head(200, -1, "Cache-Control", "max-age=60").write("01234").abort();
    assertThat(reply.isAborted()).isTrue();
    assertThat(isStored()).isFalse();
  }

  @Test
  void section3_3LessContentThanAnnouncedIsIncomplete() {
    RecordingReply reply = fixture.get();
    fixture.origin.last().head(200, 10, "Cache-Control", "max-age=60").write("01234").end();
    assertThat(reply.isAborted()).isTrue();
    assertThat(isStored()).isFalse();
  }

  @Test
  void section3_3APartialResponseIsPassedOnMarkedAndNotStored() {
    RecordingReply reply = fixture.get("Range", "bytes=0-4");
    fixture
        .origin
        .last()
        .respond(206, "01234", "Content-Range", "bytes 0-4/10", "Cache-Control", "max-age=60");
    assertThat(reply.status()).isEqualTo(206);
    assertThat(isStored()).isFalse();
  }

  @Test
  void section3ADateIsAddedWhereTheOriginSentNone() {
    fixture.fill(200, "hello", "Cache-Control", "max-age=60");
    fixture.advance(10);
    assertThat(fixture.get().field("Date")).isEqualTo(HttpDate.format(CacheFixture.NOW));
  }

  @Test
  void section3ADateThatTheOriginSentStays() {
    String date = HttpDate.format(CacheFixture.NOW - 5);
    fixture.fill(200, "hello", "Cache-Control", "max-age=60", "Date", date);
    fixture.advance(10);
    RecordingReply hit = fixture.get();
    assertThat(hit.field("Date")).isEqualTo(date);
    assertThat(hit.field("Age")).isEqualTo("15");
  }
}
