package io.kamille.cache;

import static io.kamille.cache.CacheFixture.URI;
import static io.kamille.cache.CacheFixture.fields;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.decision.Explanation;
import io.kamille.cache.rules.Decision;
import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.Reason;
import io.kamille.core.http.RequestHead;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What an explanation tells, case by case. */
class ExplainTest {

  @Test
  void aMissTellsThatNothingIsStored() {
    try (CacheFixture cache = new CacheFixture()) {
      Explanation explained = explain(cache);
      assertDecided(explained, Decision.FORWARD, ForwardReason.URI_MISS);
      assertThat(explained.key()).isEqualTo(URI);
      assertThat(step(explained, "key").so()).isEqualTo("responses stored under it: 0");
      assertThat(step(explained, "uri-miss").section()).isEqualTo("RFC 9111 §4");
      assertThat(step(explained, "collapse").found())
          .startsWith("no request for the same response");
      assertThat(step(explained, "storing").so())
          .isEqualTo("the response is stored if it allows that");
    }
  }

  @Test
  void theKeyIsTheNormalFormOfTheTargetUri() {
    try (CacheFixture cache = new CacheFixture()) {
      var request = RequestHead.of("GET", "https://Example.org:0443/A?b=%41");
      assertThat(cache.handler.explain(request).key()).isEqualTo("https://example.org/A?b=%41");
    }
  }

  @Test
  void aHitTellsLifetimeAndAge() {
    try (CacheFixture cache = new CacheFixture()) {
      cache.fill(200, "x", "Cache-Control", "max-age=60", "Age", "5");
      cache.advance(20);
      Explanation explained = explain(cache);
      assertDecided(explained, Decision.SERVE, null);
      assertThat(step(explained, "lifetime"))
          .isEqualTo(
              new Reason("lifetime", "RFC 9111 §5.2.2.1", "max-age: 60 s", "its lifetime is 60 s"));
      assertThat(step(explained, "age").found()).isEqualTo("25 s: 5 s when it came, 20 s here");
      assertThat(step(explained, "fresh"))
          .isEqualTo(
              new Reason(
                  "fresh", "RFC 9111 §4.2", "age 25 s < lifetime 60 s", "it is fresh: it is used"));
    }
  }

  @Test
  void aStaleResponseWithAValidatorIsValidated() {
    try (CacheFixture cache = new CacheFixture()) {
      cache.store("x", "ETag", "\"a\"");
      cache.advance(70);
      Explanation explained = explain(cache);
      assertDecided(explained, Decision.VALIDATE, ForwardReason.STALE);
      assertThat(step(explained, "stale").found())
          .isEqualTo("age 70 s ≥ lifetime 60 s; no stale-while-revalidate");
      assertThat(step(explained, "validators").found()).isEqualTo("ETag: \"a\"");
      assertThat(step(explained, "collapse").section()).isEqualTo("RFC 9111 §4");
    }
  }

  @Test
  void aVariantTellsWhichFieldDiffers() {
    try (CacheFixture cache = new CacheFixture()) {
      cache.fill(
          fields("Accept-Language", "de"),
          200,
          "x",
          fields("Cache-Control", "max-age=60", "Vary", "Accept-Language"));
      Explanation explained = explain(cache, "Accept-Language", "en");
      assertDecided(explained, Decision.FORWARD, ForwardReason.VARY_MISS);
      assertThat(step(explained, "variant"))
          .isEqualTo(
              new Reason(
                  "variant",
                  "RFC 9111 §4.1",
                  "accept-language was \"de\", is \"en\"",
                  "it does not match"));
      assertThat(step(explain(cache), "variant").found())
          .isEqualTo("accept-language was \"de\", is absent");
      assertThat(step(explain(cache, "Accept-Language", "de"), "variant").so())
          .isEqualTo("it matches and is selected");
    }
  }

  @Test
  void whatOthersProveThemselvesByIsNotShown() {
    try (CacheFixture cache = new CacheFixture()) {
      cache.fill(
          fields("Cookie", "session=secret"),
          200,
          "x",
          fields("Cache-Control", "max-age=60", "Vary", "Cookie"));
      assertThat(step(explain(cache), "variant").found())
          .isEqualTo("cookie was \"(hidden)\", is absent");
      assertThat(cache.cache.operations().objects(URI).toString())
          .contains("(hidden)")
          .doesNotContain("secret");
    }
  }

  @Test
  void whatIsNeverAHitTellsWhyTheLastAnswerWasNotStored() {
    try (CacheFixture cache = new CacheFixture()) {
      cache.fill(200, "x", "Cache-Control", "no-store");
      cache.advance(4);
      Explanation explained = explain(cache);
      assertDecided(explained, Decision.FORWARD, ForwardReason.URI_MISS);
      assertThat(step(explained, "uncachable").found())
          .isEqualTo("for 6 s more: the last response could not be shared");
      assertThat(step(explained, "no-store"))
          .isEqualTo(
              new Reason(
                  "no-store",
                  "RFC 9111 §5.2.2.5",
                  "200, 4 s ago",
                  "the last response was not stored: the response says no-store"));
      cache.advance(10);
      assertThat(step(explain(cache), "no-store").found()).isEqualTo("200, 14 s ago");
      assertThat(step(explain(cache), "collapse").so()).startsWith("it is forwarded");
    }
  }

  @Test
  void aCookieThatIsSetKeepsAnAnswerOutUntilOneIsStored() {
    try (CacheFixture cache = new CacheFixture()) {
      cache.fill(200, "x", "Cache-Control", "max-age=60", "Set-Cookie", "a=b");
      assertThat(step(explain(cache), "set-cookie").so()).contains("it sets a cookie");
      cache.fill(200, "x", "Cache-Control", "max-age=1");
      cache.advance(2);
      assertThat(explain(cache).because()).noneMatch(step -> step.rule().equals("set-cookie"));
    }
  }

  @Test
  void whatIsTooLargeTellsSo() {
    try (CacheFixture cache = new CacheFixture(4 << 20, TestSettings.of(1_000))) {
      cache.fill(200, "x".repeat(2_000), "Cache-Control", "max-age=60");
      assertThat(step(explain(cache), "too-large").so())
          .endsWith("larger than max-object-size allows");
    }
  }

  @Test
  void contentOfUnknownLengthThatOutgrowsTheLimitIsRememberedToo() {
    try (CacheFixture cache = new CacheFixture(4 << 20, TestSettings.of(1_000))) {
      cache.get();
      var forwarded = cache.origin.last().head(200, -1, "Cache-Control", "max-age=60");
      forwarded.write("x".repeat(2_000)).end();
      cache.run();
      assertThat(step(explain(cache), "too-large").found()).isEqualTo("200, 0 s ago");
    }
  }

  @Test
  void anAuthorizedRequestGoesAloneAndIsStoredOnlyWithPermission() {
    try (CacheFixture cache = new CacheFixture()) {
      Explanation explained = explain(cache, "Authorization", "Basic YTpi");
      assertDecided(explained, Decision.FORWARD, ForwardReason.URI_MISS);
      assertThat(step(explained, "alone").found()).isEqualTo("fwd=uri-miss; Authorization");
      assertThat(step(explained, "storing").section()).isEqualTo("RFC 9111 §3.5");
      assertThat(explained.toString()).doesNotContain("YTpi");
    }
  }

  @Test
  void aReloadTellsWhatTheClientDemanded() {
    try (CacheFixture cache = new CacheFixture()) {
      cache.store("x", "ETag", "\"a\"");
      cache.advance(1);
      Explanation reload = explain(cache, "Cache-Control", "no-cache");
      assertDecided(reload, Decision.VALIDATE, ForwardReason.REQUEST);
      assertThat(step(reload, "request-no-cache").found()).isEqualTo("Cache-Control: no-cache");
      Explanation young = explain(cache, "Cache-Control", "max-age=0");
      assertThat(step(young, "request-max-age").found())
          .isEqualTo("age 1 s; Cache-Control: max-age=0");
      Explanation only = explain(cache, "Cache-Control", "no-cache, only-if-cached");
      assertDecided(only, Decision.REFUSE, null);
      assertThat(step(only, "only-if-cached").so())
          .isEqualTo("the response is 504 (Gateway Timeout)");
    }
  }

  @Test
  void staleWhileRevalidateTellsThatTheOriginIsAskedBehindIt() {
    try (CacheFixture cache = new CacheFixture()) {
      cache.fill(200, "x", "Cache-Control", "max-age=60, stale-while-revalidate=30");
      cache.advance(70);
      Explanation explained = explain(cache);
      assertDecided(explained, Decision.SERVE_STALE, null);
      assertThat(step(explained, "stale-while-revalidate").found())
          .isEqualTo("stale for 10 s; stale-while-revalidate=30");
      assertThat(step(explained, "background").so())
          .isEqualTo("the origin is asked in the background");
      cache.get();
      assertThat(step(explain(cache), "background").so()).contains("not asked");
      cache.origin.last().respond(200, "y", "Cache-Control", "no-store");
    }
  }

  @Test
  void anUnsafeMethodTellsWhatItsAnswerRemoves() {
    try (CacheFixture cache = new CacheFixture()) {
      cache.store("x");
      Explanation explained = cache.handler.explain(RequestHead.of("POST", URI));
      assertDecided(explained, Decision.PASS, ForwardReason.METHOD);
      assertThat(step(explained, "method").section()).isEqualTo("RFC 9111 §4");
      assertThat(step(explained, "invalidation").found())
          .isEqualTo("responses stored under the key: 1");
    }
  }

  @Test
  void aRequestOnItsWayIsFollowed() {
    try (CacheFixture cache = new CacheFixture()) {
      cache.get();
      assertThat(step(explain(cache), "collapse").so()).isEqualTo("it waits for that response");
      cache.origin.last().respond(200, "x", "Cache-Control", "no-store");
    }
  }

  @Test
  void aConditionOfTheClientIsAnsweredFromTheStore() {
    try (CacheFixture cache = new CacheFixture()) {
      cache.store("x", "ETag", "\"a\"");
      Explanation explained = explain(cache, "If-None-Match", "\"a\"");
      assertDecided(explained, Decision.SERVE, null);
      assertThat(step(explained, "not-modified").section()).isEqualTo("RFC 9110 §13.1.2");
      assertThat(step(explain(cache, "Range", "bytes=0-0"), "range").found())
          .isEqualTo("Range: bytes=0-0");
    }
  }

  @Test
  void askingChangesNothing() {
    try (CacheFixture cache = new CacheFixture()) {
      cache.store("x");
      explain(cache);
      explain(cache, "Cache-Control", "no-cache");
      assertThat(cache.forwarded()).isEqualTo(1);
      assertThat(cache.cache.operations().inFlight()).isZero();
      assertThat(cache.cache.operations().objects(URI).orElseThrow().getFirst().hits()).isZero();
    }
  }

  private static Explanation explain(CacheFixture cache, String... fields) {
    return cache.handler.explain(RequestHead.of("GET", URI, fields));
  }

  private static void assertDecided(
      Explanation explained, Decision decision, @Nullable ForwardReason reason) {
    assertThat(explained.decision()).as(explained.toString()).isEqualTo(decision);
    assertThat(explained.forward()).isEqualTo(reason);
  }

  /** The only step by that rule. */
  private static Reason step(Explanation explained, String rule) {
    var steps = explained.because().stream().filter(step -> step.rule().equals(rule)).toList();
    assertThat(steps).as(rule + " in " + explained.because()).hasSize(1);
    return steps.getFirst();
  }
}
