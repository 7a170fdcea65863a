package io.kamille.cache.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.HttpDate;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 9111 §4.3.2 and RFC 9110 §13: preconditions received from clients. */
class PreconditionsTest {

  private static final long T = 1_800_000_000;
  private static final String MODIFIED = HttpDate.format(T - 3000);
  private static final String URI = "http://example.org/";

  @Test
  void withoutAConditionTheResponseIsSent() {
    assertThat(isNotModified(stored(200, "ETag", "\"a\""))).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"a\"                 | \"a\"",
        "\"a\"                 | W/\"a\"",
        "W/\"a\"               | \"a\"",
        "W/\"a\"               | W/\"a\"",
        "\"a\"                 | \"x\", \"a\" , \"y\"",
        "\"a\"                 | , ,\"a\"",
        "\"a\"                 | *",
        "\"\"                  | \"\"",
        "\"a,b\"               | \"x\",\"a,b\"",
      })
  void ifNoneMatchIsAWeakComparisonWithEach(String stored, String condition) {
    assertThat(isNotModified(stored(200, "ETag", stored), "If-None-Match", condition)).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"a\"                 | \"A\"",
        "\"a\"                 | a",
        "\"a\"                 | \"ab\"",
        "\"a\"                 | w/\"a\"",
        "\"a\"                 | \"b\", \"c\"",
        "\"a\"                 | x\"a\"",
        "\"a\"                 | \"a\"x",
        "\"a\"                 | \"*\"",
        "\"a\"                 | ''",
        "a                     | a",
      })
  void otherTagsDoNotMatch(String stored, String condition) {
    assertThat(isNotModified(stored(200, "ETag", stored), "If-None-Match", condition)).isFalse();
  }

  @Test
  void severalIfNoneMatchLinesAreOneList() {
    assertThat(
            isNotModified(
                stored(200, "ETag", "\"a\""), "If-None-Match", "\"x\"", "If-None-Match", "\"a\""))
        .isTrue();
  }

  @Test
  void aStarMatchesAResponseWithoutATag() {
    assertThat(isNotModified(stored(200), "If-None-Match", "*")).isTrue();
  }

  @Test
  void ifNoneMatchHidesIfModifiedSince() {
    var stored = stored(200, "ETag", "\"a\"", "Last-Modified", MODIFIED);
    assertThat(isNotModified(stored, "If-None-Match", "\"x\"", "If-Modified-Since", MODIFIED))
        .isFalse();
    String earlier = HttpDate.format(T - 5000);
    assertThat(isNotModified(stored, "If-None-Match", "\"a\"", "If-Modified-Since", earlier))
        .isTrue();
  }

  @Test
  void ifModifiedSinceComparesWithTheLastModifiedDate() {
    var stored = stored(200, "Last-Modified", MODIFIED);
    assertThat(isNotModified(stored, "If-Modified-Since", MODIFIED)).isTrue();
    assertThat(isNotModified(stored, "If-Modified-Since", HttpDate.format(T - 2999))).isTrue();
    assertThat(isNotModified(stored, "If-Modified-Since", HttpDate.format(T - 3001))).isFalse();
  }

  @Test
  void ifModifiedSinceMayBeInAnotherFormat() {
    var stored = stored(200, "Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT");
    assertThat(isNotModified(stored, "If-Modified-Since", "Sunday, 06-Nov-94 08:49:37 GMT"))
        .isTrue();
    assertThat(isNotModified(stored, "If-Modified-Since", "Sun Nov  6 08:49:37 1994")).isTrue();
  }

  @Test
  void withoutALastModifiedDateTheDateIsCompared() {
    var stored = stored(200, "Date", HttpDate.format(T - 100));
    assertThat(isNotModified(stored, "If-Modified-Since", HttpDate.format(T - 100))).isTrue();
    assertThat(isNotModified(stored, "If-Modified-Since", HttpDate.format(T - 101))).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0", "yesterday", "Sun, 06 Nov 1994 08:49:37 UTC"})
  void ifModifiedSinceThatIsNoDateIsIgnored(String condition) {
    assertThat(
            isNotModified(stored(200, "Last-Modified", MODIFIED), "If-Modified-Since", condition))
        .isFalse();
  }

  @Test
  void severalIfModifiedSinceLinesAreIgnored() {
    assertThat(
            isNotModified(
                stored(200, "Last-Modified", MODIFIED),
                "If-Modified-Since",
                MODIFIED,
                "If-Modified-Since",
                MODIFIED))
        .isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {301, 404, 410, 503})
  void conditionsCountOnlyForASuccessfulResponse(int status) {
    assertThat(isNotModified(stored(status, "ETag", "\"a\""), "If-None-Match", "\"a\"")).isFalse();
  }

  // RFC 9110 §13.1.5, §14.2

  @Test
  void aRangeOfAnOkResponseIsHonoured() {
    assertThat(allowsRange(stored(200), "Range", "bytes=0-1")).isTrue();
    assertThat(allowsRange(stored(200))).isFalse();
    assertThat(allowsRange(stored(404), "Range", "bytes=0-1")).isFalse();
  }

  @Test
  void aRangeWithAnotherMethodThanGetIsIgnored() {
    var head = RequestHead.of("HEAD", URI, "Range", "bytes=0-1");
    assertThat(Preconditions.allowsRange(head, stored(200), false)).isFalse();
  }

  @Test
  void ifRangeIsAStrongComparison() {
    assertThat(allowsRange(stored(200, "ETag", "\"a\""), "Range", "x", "If-Range", "\"a\""))
        .isTrue();
    assertThat(allowsRange(stored(200, "ETag", "\"a\""), "Range", "x", "If-Range", "\"b\""))
        .isFalse();
    assertThat(allowsRange(stored(200, "ETag", "W/\"a\""), "Range", "x", "If-Range", "W/\"a\""))
        .isFalse();
    assertThat(allowsRange(stored(200), "Range", "x", "If-Range", "\"a\"")).isFalse();
  }

  @Test
  void section8_8_2_2_aDateThatCodedFormsShareIsWeak() {
    var old = stored(200, "Last-Modified", MODIFIED, "Date", HttpDate.format(T));
    RequestHead request = RequestHead.of("GET", URI, "Range", "bytes=0-1", "If-Range", MODIFIED);
    assertThat(Preconditions.allowsRange(request, old, true)).isFalse();
    RequestHead plain = RequestHead.of("GET", URI, "Range", "bytes=0-1");
    assertThat(Preconditions.allowsRange(plain, old, true)).isTrue();
  }

  @Test
  void section12_5_3_whoExcludesContentWithoutCodingGetsNoPartWhereCodedFormsAre() {
    RequestHead request =
        RequestHead.of("GET", URI, "Range", "bytes=0-1", "Accept-Encoding", "gzip, identity;q=0");
    assertThat(Preconditions.allowsRange(request, stored(200), true)).isFalse();
    assertThat(Preconditions.allowsRange(request, stored(200), false)).isTrue();
  }

  @Test
  void anIfRangeDateMustBeTheVeryDateAndStrong() {
    var old = stored(200, "Last-Modified", MODIFIED, "Date", HttpDate.format(T));
    assertThat(allowsRange(old, "Range", "x", "If-Range", MODIFIED)).isTrue();
    assertThat(allowsRange(old, "Range", "x", "If-Range", HttpDate.format(T))).isFalse();
    String justNow = HttpDate.format(T - 59);
    var young = stored(200, "Last-Modified", justNow, "Date", HttpDate.format(T));
    assertThat(allowsRange(young, "Range", "x", "If-Range", justNow)).isFalse();
  }

  @Test
  void anIfRangeThatIsNeitherDoesNotHold() {
    assertThat(allowsRange(stored(200, "ETag", "\"a\""), "Range", "x", "If-Range", "a")).isFalse();
    assertThat(
            allowsRange(
                stored(200, "ETag", "\"a\""),
                "Range",
                "x",
                "If-Range",
                "\"a\"",
                "If-Range",
                "\"a\""))
        .isFalse();
  }

  private static boolean isNotModified(StoredFacts stored, String... namesAndValues) {
    return Preconditions.isNotModified(RequestHead.of("GET", URI, namesAndValues), stored);
  }

  private static boolean allowsRange(StoredFacts stored, String... namesAndValues) {
    return Preconditions.allowsRange(RequestHead.of("GET", URI, namesAndValues), stored, false);
  }

  private static StoredFacts stored(int status, String... namesAndValues) {
    return StoredFacts.of(ResponseHead.of(status, namesAndValues), CachePolicy.DEFAULT, T, T);
  }
}
