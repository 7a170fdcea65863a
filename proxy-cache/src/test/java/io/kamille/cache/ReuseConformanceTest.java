package io.kamille.cache;

import static io.kamille.cache.CacheFixture.NOW;
import static io.kamille.cache.CacheFixture.URI;
import static io.kamille.cache.CacheFixture.fields;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.HttpDate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which stored response answers a request (RFC 9111 §4, §4.1). */
class ReuseConformanceTest {

  private final CacheFixture fixture = new CacheFixture();

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  /** Stores a response that lasts an hour, with the time at hand as its Date. */
  private void variant(String content, String vary, String... request) {
    fixture.fill(
        request,
        200,
        content,
        "Cache-Control",
        "max-age=3600",
        "Date",
        HttpDate.format(fixture.clock.epochSeconds()),
        "Vary",
        vary);
  }

  private String textFor(String... request) {
    int before = fixture.forwarded();
    String text = fixture.get(request).text();
    assertThat(fixture.forwarded()).as("requests at the origin").isEqualTo(before);
    return text;
  }

  @ParameterizedTest
  @CsvSource({
    "http://example.org/page, true",
    "http://EXAMPLE.org:80/page, true",
    "http://example.org/page?, false",
    "http://example.org/page?a=1, false",
    "http://example.org/Page, false",
    "http://example.org/%70age, false",
    "http://example.org:81/page, false",
    "http://www.example.org/page, false",
  })
  void section4TheTargetUriMatches(String uri, boolean isSame) {
    fixture.store("hello");
    fixture.send("GET", uri);
    assertThat(fixture.forwarded()).isEqualTo(isSame ? 1 : 2);
    if (!isSame) {
      fixture.origin.last().respond(200, "", "Cache-Control", "no-store");
    }
  }

  @ParameterizedTest
  @CsvSource({"GET, true", "HEAD, true", "POST, false", "PUT, false", "OPTIONS, false", "X, false"})
  void section4TheStoredMethodAllowsTheRequest(String method, boolean mayBeReused) {
    fixture.store("hello");
    fixture.send(method, URI);
    assertThat(fixture.forwarded()).isEqualTo(mayBeReused ? 1 : 2);
    if (!mayBeReused) {
      fixture.origin.last().respond(500, "");
    }
  }

  @Test
  void section4AnAgeIsGeneratedAndReplacesTheOneReceived() {
    fixture.store("hello", "Age", "7", "Age", "9");
    fixture.advance(3);
    RecordingReply hit = fixture.get();
    assertThat(hit.field("Age")).isEqualTo("10");
    assertThat(hit.lines()).containsOnlyOnce("Age:");
  }

  @ParameterizedTest
  @ValueSource(strings = {"POST", "PUT", "DELETE", "PATCH", "UNHEARD-OF"})
  void section4AnUnsafeMethodIsWrittenThrough(String method) {
    fixture.store("hello");
    RecordingReply reply = fixture.send(method, URI);
    assertThat(reply.isBegun()).isFalse();
    assertThat(fixture.origin.last().request().methodText()).isEqualTo(method);
    fixture.origin.last().respond(500, "from the origin");
    assertThat(reply.text()).isEqualTo("from the origin");
  }

  @Test
  void section4TheMostRecentByDateIsUsed() {
    variant("new", "A", "A", "1", "B", "1");
    fixture.fill(
        fields("A", "1", "B", "1", "Cache-Control", "no-cache"),
        200,
        "late but old",
        "Cache-Control",
        "max-age=3600",
        "Date",
        HttpDate.format(NOW - 100),
        "Vary",
        "B");
    assertThat(textFor("A", "1", "B", "1")).isEqualTo("new");
    assertThat(textFor("A", "2", "B", "1")).isEqualTo("late but old");
  }

  @Test
  void section4_1AllSelectingFieldsMustMatch() {
    variant("a", "A, B", "A", "1", "B", "2");
    assertThat(fixture.isReused("A", "1", "B", "2")).isTrue();
    assertThat(fixture.isReused("B", "2", "Other", "x", "a", "1")).isTrue();
    assertThat(fixture.isReused("A", "1", "B", "3")).isFalse();
    assertThat(fixture.isReused("A", "1")).isFalse();
    assertThat(fixture.isReused()).isFalse();
  }

  @Test
  void section4_1AnAbsentFieldMatchesOnlyAnAbsentOne() {
    variant("none", "A, B", "A", "1");
    assertThat(fixture.isReused("A", "1")).isTrue();
    assertThat(fixture.isReused("A", "1", "B", "")).isFalse();
    assertThat(fixture.isReused("A", "1", "B", "2")).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"*", "*, *", ", *", "*, A", "A, *", " * "})
  void section4_1AStarNeverMatches(String vary) {
    fixture.fill(fields("A", "1"), 200, "", "Cache-Control", "max-age=60", "Vary", vary);
    assertThat(fixture.isReused("A", "1")).isFalse();
  }

  @Test
  void section4_1AStarOnASecondLineNeverMatches() {
    fixture.fill(200, "", "Cache-Control", "max-age=60", "Vary", "", "Vary", "*");
    assertThat(fixture.isReused()).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "Accept-Encoding | gzip, br;q=0.5 | br;q=0.50,x-gzip | true",
        "Accept-Encoding | gzip | GZIP ;q=1.0 | true",
        "Accept-Encoding | gzip, br | gzip | false",
        "Accept-Encoding | gzip;q=0 | gzip | false",
        "Accept-Language | en, de | eN ,   De | true",
        "Accept-Language | en, de | de, en | false",
        "Accept | text/html , a/b | text/html,a/b | true",
        "Accept | text/html | text/plain | false",
        "X-Unknown | a, b | a,b | false",
        "X-Unknown | a | A | false",
      })
  void section4_1ValuesMatchAsFarAsTheirDefinitionMakesThemEqual(
      String name, String stored, String presented, boolean isMatch) {
    variant("hello", name, name, stored);
    assertThat(fixture.isReused(name, presented)).isEqualTo(isMatch);
  }

  @Test
  void section4_1LinesOfOneFieldAreCombined() {
    variant("hello", "X-List", "X-List", "1, 2");
    assertThat(fixture.isReused("X-List", "1", "X-List", "2")).isTrue();
    assertThat(fixture.isReused("X-List", "2", "X-List", "1")).isFalse();
  }

  @Test
  void section4_1SeveralVariantsAreKept() {
    variant("one", "A", "A", "1");
    variant("two", "A", "A", "2");
    variant("none", "A");
    assertThat(textFor("A", "1")).isEqualTo("one");
    assertThat(textFor("A", "2")).isEqualTo("two");
    assertThat(textFor()).isEqualTo("none");
  }

  @Test
  void section4_1AResponseThatForgotVaryStepsBackBehindAFreshOneThatHasIt() {
    variant("german", "Accept-Language", "Accept-Language", "de");
    fixture.advance(10);
    variant("default", "");
    assertThat(textFor("Accept-Language", "de")).isEqualTo("german");
    assertThat(textFor("Accept-Language", "fr")).isEqualTo("default");
    assertThat(textFor()).isEqualTo("default");
    fixture.advance(3595);
    assertThat(textFor("Accept-Language", "de")).isEqualTo("default");
  }

  @Test
  void section4_1AMissOfTheVariantSaysSo() {
    variant("one", "A", "A", "1");
    RecordingReply reply = fixture.get("A", "2");
    fixture.origin.last().respond(200, "", "Cache-Control", "no-store");
    assertThat(reply.field("Cache-Status")).startsWith("kamille; fwd=vary-miss");
  }

  @Test
  void section4_1TheOldestVariantMakesRoomNotTheOneJustStored() {
    for (int i = 0; i < 16; i++) {
      variant("v" + i, "A", "A", "v" + i);
      fixture.advance(1);
    }
    fixture.fill(
        fields("A", "old"),
        200,
        "old",
        "Cache-Control",
        "max-age=3600",
        "Date",
        HttpDate.format(NOW - 100),
        "Vary",
        "A");
    assertThat(fixture.isReused("A", "old")).isTrue();
    assertThat(fixture.isReused("A", "v15")).isTrue();
    assertThat(fixture.isReused("A", "v0")).isFalse();
  }
}
