package io.kamille.cache;

import static io.kamille.cache.CacheFixture.fields;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.StaleLimits;
import io.kamille.cache.rules.StatusLifetimes;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.StatusCode;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Lifetimes and stale use as an operator sets them for a route. */
class LifetimePolicyTest {

  private static final CachePolicy TTL =
      new CachePolicy(false, 100, StatusLifetimes.NONE, CacheControl.ABSENT, StaleLimits.NONE);

  private static final CachePolicy OF_STATUS =
      new CachePolicy(
          false,
          CacheControl.ABSENT,
          new StatusLifetimes(Map.of("404", 30, "302", 20, "5xx", 1)),
          CacheControl.ABSENT,
          StaleLimits.NONE);

  private static final CachePolicy STALE = stale(new StaleLimits(10, 60, Integer.MAX_VALUE));

  private static CachePolicy stale(StaleLimits stale) {
    return new CachePolicy(
        false, CacheControl.ABSENT, StatusLifetimes.NONE, CacheControl.ABSENT, stale);
  }

  @Test
  void aTtlOverridesTheOriginsAndSaysSo() {
    try (CacheFixture fixture = with(TTL)) {
      RecordingReply reply = fixture.fill(200, "page", "Cache-Control", "max-age=1, s-maxage=2");
      assertThat(reply.field("Cache-Status"))
          .isEqualTo("kamille; fwd=uri-miss; stored; ttl=100; detail=ttl-override");
      assertThat(reply.field("Cache-Control")).isEqualTo("max-age=1, s-maxage=2");
      fixture.advance(99);
      assertThat(fixture.get().field("Cache-Status")).isEqualTo("kamille; hit; ttl=1");
      fixture.advance(1);
      assertThat(fixture.isReused()).isFalse();
    }
  }

  static Stream<List<String>> protectedByTheOrigin() {
    return Stream.of(
        List.of("Cache-Control", "no-store, max-age=60"),
        List.of("Cache-Control", "private"),
        List.of("Cache-Control", "private, max-age=60"),
        List.of("Set-Cookie", "a=b", "Cache-Control", "max-age=60"),
        List.of("Vary", "*", "Cache-Control", "max-age=60"));
  }

  @ParameterizedTest
  @MethodSource("protectedByTheOrigin")
  void aTtlMakesNothingStorable(List<String> response) {
    try (CacheFixture fixture = with(TTL)) {
      fixture.fill(200, "mine", response.toArray(String[]::new));
      assertThat(fixture.isReused()).isFalse();
    }
  }

  @Test
  void aTtlDoesNotShareTheResponsesOfAuthorizedRequests() {
    try (CacheFixture fixture = with(TTL)) {
      fixture.fill(fields("Authorization", "Basic x"), 200, "mine", "Cache-Control", "max-age=60");
      assertThat(fixture.isReused()).isFalse();
    }
  }

  @Test
  void aTtlLeavesNoCacheItsMeaning() {
    try (CacheFixture fixture = with(TTL)) {
      fixture.fill(200, "page", "Cache-Control", "no-cache", "ETag", "\"a\"");
      assertThat(fixture.isReused()).isFalse();
    }
  }

  @Test
  void aValidatedResponseHasTheTtlAgain() {
    try (CacheFixture fixture = with(TTL)) {
      fixture.fill(200, "page", "Cache-Control", "max-age=1", "ETag", "\"a\"");
      fixture.advance(100);
      RecordingReply reply = fixture.fill(304, "", "ETag", "\"a\"");
      assertThat(reply.text()).isEqualTo("page");
      assertThat(reply.field("Cache-Status"))
          .isEqualTo("kamille; fwd=stale; fwd-status=304; ttl=100; detail=ttl-override");
    }
  }

  @Test
  void anErrorWithoutLifetimeIsKeptForThatOfItsStatusCode() {
    try (CacheFixture fixture = with(OF_STATUS)) {
      assertThat(fixture.fill(404, "none").field("Cache-Status"))
          .isEqualTo("kamille; fwd=uri-miss; stored; ttl=30; detail=status-ttl");
      fixture.advance(29);
      assertThat(fixture.isReused()).isTrue();
      fixture.advance(1);
      assertThat(fixture.isReused()).isFalse();
    }
  }

  @Test
  void aNamedStatusCodeIsStoredWithoutAWordOfTheOrigins() {
    try (CacheFixture fixture = with(OF_STATUS)) {
      fixture.fill(302, "", "Location", "/elsewhere");
      assertThat(fixture.get().field("Location")).isEqualTo("/elsewhere");
      assertThat(fixture.forwarded()).isEqualTo(1);
      fixture.advance(20);
      fixture.fill(503, "busy");
      assertThat(fixture.get().status()).isEqualTo(503);
      assertThat(fixture.forwarded()).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @MethodSource("protectedByTheOrigin")
  void aNamedStatusCodeIsNotStoredAgainstTheOriginsWord(List<String> response) {
    try (CacheFixture fixture = with(OF_STATUS)) {
      fixture.fill(404, "mine", response.toArray(String[]::new));
      assertThat(fixture.isReused()).isFalse();
    }
  }

  @Test
  void anErrorForAnAuthorizedRequestIsNotShared() {
    try (CacheFixture fixture = with(OF_STATUS)) {
      fixture.fill(fields("Authorization", "Basic x"), 404, "none");
      assertThat(fixture.isReused()).isFalse();
    }
  }

  @Test
  void whatDoesNotSayServesStaleForAsLongAsTheRouteAllows() {
    try (CacheFixture fixture = with(STALE)) {
      fixture.fill(200, "page", "Cache-Control", "max-age=5");
      fixture.advance(14);
      assertThat(fixture.get().text()).isEqualTo("page");
      fixture.origin.last().respond(200, "new", "Cache-Control", "max-age=5");
      fixture.run();
      assertThat(fixture.get().text()).isEqualTo("new");
      fixture.advance(15);
      assertThat(fixture.get().isBegun()).isFalse();
      fixture.origin.last().fail(Failure.ErrorType.CONNECTION_REFUSED);
    }
  }

  @Test
  void whatDoesNotSayStandsInForErrorsAsLongAsTheRouteAllows() {
    try (CacheFixture fixture = with(STALE)) {
      fixture.fill(200, "page", "Cache-Control", "max-age=5");
      fixture.advance(64);
      assertThat(fixture.fill(503, "busy").text()).isEqualTo("page");
      fixture.advance(1);
      assertThat(fixture.fill(503, "busy").text()).isEqualTo("busy");
    }
  }

  @ParameterizedTest
  @MethodSource("protectedFromStaleUse")
  void rfc9111Section4_2_4TheRouteAllowsNothingStaleThatTheOriginProtects(String control) {
    try (CacheFixture fixture = with(STALE)) {
      fixture.fill(200, "page", "Cache-Control", control, "ETag", "\"a\"");
      fixture.advance(6);
      assertThat(fixture.fill(503, "busy").text()).isEqualTo("busy");
    }
  }

  static Stream<String> protectedFromStaleUse() {
    return Stream.of(
        "max-age=5, must-revalidate",
        "max-age=5, proxy-revalidate",
        "max-age=5, no-cache",
        "s-maxage=5",
        "max-age=0");
  }

  @Test
  void aResponseThatSaysKnowsBetterThanTheRoute() {
    try (CacheFixture fixture = with(STALE)) {
      fixture.fill(200, "page", "Cache-Control", "max-age=5, stale-if-error=0");
      fixture.advance(6);
      assertThat(fixture.get().text()).isEqualTo("page");
      fixture.origin.last().fail(Failure.ErrorType.CONNECTION_REFUSED);
      fixture.advance(9);
      assertThat(fixture.fill(503, "busy").text()).isEqualTo("busy");
    }
  }

  @Test
  void maxStaleLimitsWhatResponsesAllow() {
    try (CacheFixture fixture = with(stale(new StaleLimits(0, 0, 10)))) {
      fixture.fill(200, "page", "Cache-Control", "max-age=5, stale-if-error=3600");
      fixture.advance(14);
      assertThat(fixture.fill(503, "busy").text()).isEqualTo("page");
      fixture.advance(1);
      assertThat(fixture.fill(503, "busy").status()).isEqualTo(StatusCode.SERVICE_UNAVAILABLE);
    }
  }

  @Test
  void maxStaleLimitsWhatRequestsAllow() {
    try (CacheFixture fixture = with(stale(new StaleLimits(0, 0, 10)))) {
      fixture.fill(200, "page", "Cache-Control", "max-age=5");
      fixture.advance(14);
      assertThat(fixture.isReused("Cache-Control", "max-stale")).isTrue();
      fixture.advance(1);
      assertThat(fixture.isReused("Cache-Control", "max-stale")).isFalse();
    }
  }

  private static CacheFixture with(CachePolicy policy) {
    CacheSettings usual = TestSettings.of(1 << 20);
    return new CacheFixture(
        4 << 20, TestSettings.of(policy, usual.coding(), usual.maxObjectBytes()));
  }
}
