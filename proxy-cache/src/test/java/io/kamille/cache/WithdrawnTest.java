package io.kamille.cache;

import static io.kamille.cache.CacheFixture.URI;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.CompressionRules;
import io.kamille.cache.rules.StaleLimits;
import io.kamille.cache.rules.StatusLifetimes;
import io.kamille.cache.settings.CacheSettings;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What an answer that is not stored means for the response it was asked about (RFC 9111 §4.3.3).
 */
class WithdrawnTest {

  private static final String TAG = "\"v1\"";
  private static final String STALE = "max-age=1, stale-while-revalidate=600, stale-if-error=600";

  private final CacheFixture fixture = new CacheFixture();

  private static final CacheSettings STATUS_TTL =
      TestSettings.of(
          new CachePolicy(
              false,
              CacheControl.ABSENT,
              new StatusLifetimes(Map.of("5xx", 10, "404", 10, "400", 10, "403", 10, "429", 10)),
              CacheControl.ABSENT,
              new StaleLimits(3600, 0, Integer.MAX_VALUE)),
          CompressionRules.OFF,
          1 << 20);

  /** One stale hit, whose validation in the background is answered so. */
  private void validated(int status, String... fields) {
    fixture.fill(200, "old page", "Cache-Control", STALE, "ETag", TAG);
    fixture.advance(2);
    assertThat(fixture.get().text()).isEqualTo("old page");
    fixture.origin.last().respond(status, "gone", fields);
    fixture.advance(2);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "404|Cache-Control|no-store",
        "410|X|y",
        "451|Cache-Control|no-store",
        "302|Location|/login",
        "200|Cache-Control|private",
        "200|Set-Cookie|a=b",
        "200|Vary|*",
        "200|Cache-Control|no-store"
      })
  void anAnswerThatIsNotStoredRemovesTheStaleResponse(int status, String name, String value) {
    validated(status, name, value);
    assertThat(fixture.isReused()).isFalse();
    fixture.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 401, 403, 408, 412, 416, 429, 500, 501, 502, 503, 504, 507, 206, 304})
  void whatTellsOfOneRequestOrOfTroubleKeepsIt(int status) {
    fixture.fill(200, "old page", "Cache-Control", STALE);
    fixture.advance(2);
    fixture.get();
    fixture.origin.last().respond(status, "", "Cache-Control", "no-store");
    fixture.advance(2);
    assertThat(fixture.get().text()).isEqualTo("old page");
    fixture.origin.last().respond(500, "");
    fixture.close();
  }

  /** The answer broke off: it may be anything. */
  @Test
  void anIncompleteAnswerKeepsIt() {
    fixture.fill(200, "old page", "Cache-Control", STALE);
    fixture.advance(2);
    fixture.get();
    fixture.origin.last().head(404, 100, "Cache-Control", "no-store").write("go").abort();
    fixture.advance(2);
    assertThat(fixture.get().text()).isEqualTo("old page");
    fixture.origin.last().respond(500, "");
    fixture.close();
  }

  @Test
  void oneClientRemovesNothingFresh() {
    fixture.fill(200, "old page", "Cache-Control", "max-age=60", "ETag", TAG);
    RecordingReply reply = fixture.get("Cache-Control", "no-cache", "Cookie", "a=b");
    fixture.origin.last().respond(404, "gone", "Cache-Control", "no-store");
    assertThat(reply.status()).isEqualTo(404);
    assertThat(fixture.isReused()).isTrue();
    fixture.close();
  }

  @Test
  void anAuthorizedClientsOwnPageLeavesThatOfAll() {
    fixture.fill(200, "old page", "Cache-Control", STALE, "ETag", TAG);
    fixture.advance(2);
    fixture.get("Authorization", "x");
    fixture.origin.last().respond(200, "mine", "Cache-Control", "private");
    fixture.advance(2);
    assertThat(fixture.get().text()).isEqualTo("old page");
    fixture.origin.last().respond(500, "");
    fixture.close();
  }

  @Test
  void onlyTheVariantThatWasAskedAboutGoes() {
    String[] varies = {"Cache-Control", STALE, "Vary", "Accept-Language"};
    fixture.fill(CacheFixture.fields("Accept-Language", "de"), 200, "deutsch", varies);
    fixture.fill(CacheFixture.fields("Accept-Language", "fr"), 200, "français", varies);
    fixture.advance(2);
    fixture.get("Accept-Language", "de");
    fixture.origin.last().respond(404, "weg", "Cache-Control", "no-store");
    fixture.advance(2);
    assertThat(fixture.isReused("Accept-Language", "de")).isFalse();
    assertThat(fixture.get("Accept-Language", "fr").text()).isEqualTo("français");
    fixture.origin.last().respond(500, "");
    fixture.close();
  }

  /** The new response varies otherwise and so does not take the place of the old one. */
  @Test
  void whatIsStoredWithAnotherVaryRemovesTheOldOne() {
    fixture.fill(200, "old page", "Cache-Control", STALE);
    fixture.advance(2);
    fixture.get("Accept-Language", "de");
    fixture.origin.last().respond(200, "neu", "Cache-Control", STALE, "Vary", "Accept-Language");
    assertThat(fixture.isReused("Accept-Language", "de")).isTrue();
    assertThat(fixture.isReused("Accept-Language", "fr")).isFalse();
    fixture.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {404, 410, 301, 200})
  void aHeadThatShowsAnotherResponseRemovesTheStaleOne(int status) {
    fixture.fill(200, "old page", "Cache-Control", STALE, "ETag", TAG);
    fixture.advance(2);
    fixture.send("HEAD", URI, "Cache-Control", "no-cache");
    fixture.origin.last().head(status, 9, "Cache-Control", "no-store").end();
    fixture.advance(2);
    assertThat(fixture.isReused()).isFalse();
    fixture.close();
  }

  /** What could not be shared lately is asked for by each request alone. */
  @Test
  void aRequestThatGoesAloneIsToldNoErrorAndRemovesItToo() {
    String[] old = {"Cache-Control", "max-age=1, stale-if-error=60", "Vary", "A"};
    fixture.fill(200, "old page", old);
    fixture.fill(CacheFixture.fields("A", "1"), 200, "mine", "Cache-Control", "private");
    fixture.advance(2);
    assertThat(fixture.fill(503, "bad").text()).isEqualTo("old page");
    fixture.fill(404, "gone", "Cache-Control", "no-store");
    assertThat(fixture.fill(503, "bad").text()).isEqualTo("bad");
    fixture.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {500, 501, 503, 507, 400, 403, 429})
  void anErrorOfStatusTtlIsStoredOnlyWhereNothingGoodIs(int status) {
    try (var fixture = new CacheFixture(4 << 20, STATUS_TTL)) {
      fixture.fill(200, "good", "Cache-Control", "max-age=1", "ETag", TAG);
      fixture.advance(2);
      assertThat(fixture.get().text()).isEqualTo("good");
      fixture.origin.last().respond(status, "bad");
      assertThat(fixture.get().text()).isEqualTo("good");
      fixture.fill(CacheFixture.fields("Cache-Control", "no-cache"), status, "bad");
      assertThat(fixture.get().text()).isEqualTo("good");
      fixture.advance(7_200);
      fixture.fill(status, "bad");
      assertThat(fixture.isReused()).isTrue();
    }
  }

  /** It would answer all, having no Vary. */
  @Test
  void anErrorOfStatusTtlDoesNotHideOtherVariants() {
    try (var fixture = new CacheFixture(4 << 20, STATUS_TTL)) {
      String[] german = {"Accept-Language", "de"};
      fixture.fill(german, 200, "gut", "Cache-Control", "max-age=60", "Vary", "Accept-Language");
      fixture.fill(CacheFixture.fields("Accept-Language", "fr"), 503, "bad");
      assertThat(fixture.get(german).text()).isEqualTo("gut");
    }
  }

  @Test
  void aMissingPageOfStatusTtlTakesItsPlace() {
    try (var fixture = new CacheFixture(4 << 20, STATUS_TTL)) {
      fixture.fill(200, "good", "Cache-Control", "max-age=1", "ETag", TAG);
      fixture.advance(2);
      fixture.get();
      fixture.origin.last().respond(404, "gone");
      assertThat(fixture.get().status()).isEqualTo(404);
    }
  }

  @Test
  void anErrorWithALifetimeIsTheOriginsWord() {
    try (var fixture = new CacheFixture(4 << 20, STATUS_TTL)) {
      fixture.fill(200, "good", "Cache-Control", "max-age=1", "ETag", TAG);
      fixture.advance(2);
      fixture.get();
      fixture.origin.last().respond(503, "bad", "Cache-Control", "max-age=5");
      assertThat(fixture.get().status()).isEqualTo(503);
    }
  }
}
