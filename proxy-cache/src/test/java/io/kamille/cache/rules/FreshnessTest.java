package io.kamille.cache.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.rules.Freshness.Source;
import io.kamille.core.http.HttpDate;
import io.kamille.core.http.ResponseHead;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 9111 §4.2.1, §4.2.2: freshness lifetime. */
class FreshnessTest {

  private static final long NOW = 1_800_000_000;
  private static final String DATE = HttpDate.format(NOW);

  @Test
  void sMaxAgeWinsForASharedCache() {
    var freshness =
        of("Cache-Control", "max-age=60, s-maxage=5", "Expires", HttpDate.format(NOW + 9));
    assertThat(freshness).isEqualTo(new Freshness(5, Source.S_MAXAGE));
  }

  @Test
  void maxAgeWinsOverExpires() {
    var freshness =
        of("Cache-Control", "max-age=60", "Expires", HttpDate.format(NOW - 9), "Date", DATE);
    assertThat(freshness).isEqualTo(new Freshness(60, Source.MAX_AGE));
  }

  @Test
  void anInvalidMaxAgeIsStaleAndHidesExpires() {
    assertThat(of("Cache-Control", "max-age=x", "Expires", HttpDate.format(NOW + 60)))
        .isEqualTo(new Freshness(0, Source.MAX_AGE));
  }

  @Test
  void expiresCountsFromDateNotFromOurClock() {
    var freshness = of("Expires", HttpDate.format(NOW + 400), "Date", HttpDate.format(NOW + 300));
    assertThat(freshness).isEqualTo(new Freshness(100, Source.EXPIRES));
  }

  @Test
  void expiresCountsFromReceptionWithoutAUsableDate() {
    assertThat(of("Expires", HttpDate.format(NOW + 10)).lifetimeSeconds()).isEqualTo(10);
    assertThat(of("Expires", HttpDate.format(NOW + 10), "Date", "foo").lifetimeSeconds())
        .isEqualTo(10);
  }

  @Test
  void expiresBeforeDateIsStale() {
    assertThat(of("Expires", HttpDate.format(NOW - 10), "Date", DATE).lifetimeSeconds()).isZero();
    assertThat(of("Expires", DATE, "Date", DATE).lifetimeSeconds()).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "-1",
        "",
        "never",
        "Thu, 18 Aug 2050 02:01:18 UTC",
        "Thu, 18 Aug 50 02:01:18 GMT",
        "Thu 18 Aug 2050 02:01:18 GMT",
        "Thu, 18  Aug  2050 02:01:18 GMT",
        "Thu, 18-Aug-2050 02:01:18 GMT",
        "Thu, 18 Aug 2050 02.01.18 GMT",
        "Thu, 18 Aug 2050 2:01:18 GMT",
        "Thu, 32 Aug 2050 02:01:18 GMT"
      })
  void anInvalidExpiresIsInThePast(String expires) {
    assertThat(of("Expires", expires, "Date", DATE, "Last-Modified", HttpDate.format(NOW - 1000)))
        .isEqualTo(new Freshness(0, Source.EXPIRES));
  }

  @Test
  void duplicateExpiresCountsOnlyIfEqual() {
    String soon = HttpDate.format(NOW + 60);
    String later = HttpDate.format(NOW + 600);
    assertThat(of("Expires", soon, "Expires", soon).lifetimeSeconds()).isEqualTo(60);
    assertThat(of("Expires", soon, "Expires", later).lifetimeSeconds()).isZero();
  }

  @Test
  void farExpiresSaturates() {
    assertThat(of("Expires", "Fri, 31 Dec 9999 23:59:59 GMT").lifetimeSeconds())
        .isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void aGuessIsATenthOfTheTimeSinceLastModification() {
    assertThat(of("Date", DATE, "Last-Modified", HttpDate.format(NOW - 1000)))
        .isEqualTo(new Freshness(100, Source.HEURISTIC));
  }

  @Test
  void aGuessIsAtMostADay() {
    assertThat(of("Date", DATE, "Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT").lifetimeSeconds())
        .isEqualTo(86_400);
  }

  @Test
  void nothingIsGuessedFromTheFutureOrFromNoDate() {
    assertThat(of("Date", DATE, "Last-Modified", HttpDate.format(NOW + 1000)).lifetimeSeconds())
        .isZero();
    assertThat(of("Date", DATE, "Last-Modified", "yesterday").lifetimeSeconds()).isZero();
    assertThat(of("Date", DATE)).isEqualTo(new Freshness(0, Source.NONE));
  }

  @ParameterizedTest
  @ValueSource(ints = {200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501})
  void heuristicallyCacheableStatusCodesMayBeGuessed(int status) {
    assertThat(withLastModified(status, "x").source()).isEqualTo(Source.HEURISTIC);
  }

  @ParameterizedTest
  @ValueSource(ints = {201, 202, 302, 303, 307, 403, 500, 502, 503, 504, 599})
  void otherStatusCodesAreGuessedOnlyIfPublic(int status) {
    assertThat(withLastModified(status, "x").source()).isEqualTo(Source.NONE);
    assertThat(withLastModified(status, "public").source()).isEqualTo(Source.HEURISTIC);
  }

  @Test
  void guessingCanBeTurnedOff() {
    var policy = lifetimes(CacheControl.ABSENT, StatusLifetimes.NONE, 0);
    var head = ResponseHead.of(200, "Last-Modified", HttpDate.format(NOW - 1000));
    assertThat(Freshness.of(head, CacheControl.NONE, policy, NOW))
        .isEqualTo(new Freshness(0, Source.DEFAULT));
  }

  @Test
  void theRoutesDefaultReplacesAGuessButNothingExplicit() {
    var policy = lifetimes(CacheControl.ABSENT, StatusLifetimes.NONE, 30);
    var guessed = ResponseHead.of(200, "Last-Modified", HttpDate.format(NOW - 1000));
    assertThat(Freshness.of(guessed, CacheControl.NONE, policy, NOW))
        .isEqualTo(new Freshness(30, Source.DEFAULT));
    assertThat(Freshness.of(guessed, CacheControl.parse("max-age=5"), policy, NOW))
        .isEqualTo(new Freshness(5, Source.MAX_AGE));
  }

  @Test
  void aRoutesTtlStandsInPlaceOfAllThatTheOriginSays() {
    var policy = lifetimes(7, StatusLifetimes.NONE, 30);
    for (String said : List.of("max-age=60", "s-maxage=60", "max-age=0", "max-age=x", "public")) {
      assertThat(of(policy, 200, "Cache-Control", said))
          .isEqualTo(new Freshness(7, Source.OVERRIDE));
    }
    assertThat(of(policy, 200, "Expires", "0")).isEqualTo(new Freshness(7, Source.OVERRIDE));
    assertThat(of(policy, 200)).isEqualTo(new Freshness(7, Source.OVERRIDE));
  }

  @Test
  void aRoutesTtlHoldsForNoError() {
    var policy = lifetimes(7, StatusLifetimes.NONE, CacheControl.ABSENT);
    assertThat(of(policy, 503, "Cache-Control", "max-age=1"))
        .isEqualTo(new Freshness(1, Source.MAX_AGE));
    assertThat(of(policy, 404).source()).isEqualTo(Source.NONE);
  }

  @Test
  void theLifetimeOfAStatusCodeIsForResponsesThatCarryNone() {
    var ofStatus = new StatusLifetimes(Map.of("5xx", 1, "503", 2, "404", 30));
    var policy = lifetimes(CacheControl.ABSENT, ofStatus, 60);
    assertThat(of(policy, 404)).isEqualTo(new Freshness(30, Source.STATUS));
    assertThat(of(policy, 500)).isEqualTo(new Freshness(1, Source.STATUS));
    assertThat(of(policy, 503)).isEqualTo(new Freshness(2, Source.STATUS));
    assertThat(of(policy, 200)).isEqualTo(new Freshness(60, Source.DEFAULT));
    assertThat(of(policy, 404, "Cache-Control", "max-age=5"))
        .isEqualTo(new Freshness(5, Source.MAX_AGE));
  }

  private static CachePolicy lifetimes(int ttl, StatusLifetimes ofStatus, int unsaid) {
    return new CachePolicy(false, ttl, ofStatus, unsaid, StaleLimits.NONE);
  }

  private static Freshness of(CachePolicy policy, int status, String... namesAndValues) {
    var head = ResponseHead.of(status, namesAndValues);
    return Freshness.of(head, CacheControl.ofResponse(head.fields()), policy, NOW);
  }

  private static Freshness withLastModified(int status, String control) {
    return of(status, "Cache-Control", control, "Last-Modified", HttpDate.format(NOW - 1000));
  }

  private static Freshness of(String... namesAndValues) {
    return of(200, namesAndValues);
  }

  private static Freshness of(int status, String... namesAndValues) {
    var head = ResponseHead.of(status, namesAndValues);
    return Freshness.of(head, CacheControl.ofResponse(head.fields()), CachePolicy.DEFAULT, NOW);
  }
}
