package io.kamille.cache.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.HttpDate;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 9111 §4: constructing responses from caches. */
class ReuseRuleTest {

  private static final long T = 1_800_000_000;
  private static final String URI = "http://example.org/";

  // §4: what may be asked of a cache at all

  @ParameterizedTest
  @ValueSource(strings = {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "PROPFIND"})
  void methodsOtherThanGetAndHeadAreWrittenThrough(String method) {
    var request = RequestHead.of(method, URI);
    assertThat(bypass(request)).isEqualTo(ForwardReason.METHOD);
  }

  @Test
  void headIsAnsweredFromTheResponseToGet() {
    assertThat(plan(RequestHead.of("HEAD", URI), stored("max-age=60"), T)).isEqualTo(Plan.SERVE);
  }

  @ParameterizedTest
  @CsvSource({"Content-Length, 3", "Transfer-Encoding, chunked", "Upgrade, websocket"})
  void aRequestThatBringsOrWantsMoreThanAResponsePassesBy(String name, String value) {
    assertThat(bypass(get(name, value))).isEqualTo(ForwardReason.BYPASS);
  }

  @ParameterizedTest
  @CsvSource({"Content-Length, 0", "Upgrade, h2c", "Cache-Control, no-cache", "Range, bytes=0-1"})
  void otherRequestsDoNotPassBy(String name, String value) {
    assertThat(ReuseRule.ofBypass(get(name, value))).isNull();
  }

  @Test
  void missesSayWhatWasMissed() {
    assertThat(planMiss(get(), false))
        .isEqualTo(new Plan(Decision.FORWARD, ForwardReason.URI_MISS));
    assertThat(planMiss(get(), true))
        .isEqualTo(new Plan(Decision.FORWARD, ForwardReason.VARY_MISS));
  }

  // §4.2: fresh and stale

  @Test
  void aFreshResponseIsServed() {
    assertThat(plan(get(), stored("max-age=60"), T + 59)).isEqualTo(Plan.SERVE);
  }

  @Test
  void aResponseIsStaleOnceItsAgeReachesItsLifetime() {
    assertThat(plan(get(), stored("max-age=60"), T + 60))
        .isEqualTo(new Plan(Decision.FORWARD, ForwardReason.STALE));
  }

  @Test
  void aStaleResponseWithAValidatorIsValidated() {
    assertThat(plan(get(), stored("max-age=60", "ETag", "\"a\""), T + 60))
        .isEqualTo(new Plan(Decision.VALIDATE, ForwardReason.STALE));
    assertThat(plan(get(), stored("max-age=60", "Last-Modified", HttpDate.format(T - 9)), T + 60))
        .isEqualTo(new Plan(Decision.VALIDATE, ForwardReason.STALE));
  }

  @Test
  void aMalformedValidatorIsNone() {
    assertThat(plan(get(), stored("max-age=60", "ETag", "a"), T + 60))
        .isEqualTo(new Plan(Decision.FORWARD, ForwardReason.STALE));
    assertThat(plan(get(), stored("max-age=60", "Last-Modified", "a"), T + 60))
        .isEqualTo(new Plan(Decision.FORWARD, ForwardReason.STALE));
  }

  @Test
  void ageOnArrivalCounts() {
    assertThat(plan(get(), stored("max-age=60", "Age", "50"), T + 9)).isEqualTo(Plan.SERVE);
    assertThat(plan(get(), stored("max-age=60", "Age", "50"), T + 10))
        .isEqualTo(new Plan(Decision.FORWARD, ForwardReason.STALE));
  }

  @Test
  void noCacheIsValidatedOnEveryUse() {
    assertThat(plan(get(), stored("max-age=60, no-cache", "ETag", "\"a\""), T))
        .isEqualTo(new Plan(Decision.VALIDATE, ForwardReason.STALE));
    assertThat(
            plan(
                get("Cache-Control", "max-stale"),
                stored("max-age=60, no-cache", "ETag", "\"a\""),
                T))
        .isEqualTo(new Plan(Decision.VALIDATE, ForwardReason.STALE));
  }

  @Test
  void aClockSetBackMakesNothingOlderOrYounger() {
    assertThat(plan(get(), stored("max-age=60"), T - 5000)).isEqualTo(Plan.SERVE);
    assertThat(plan(get(), stored("max-age=60", "Age", "60"), T - 5000))
        .isEqualTo(new Plan(Decision.FORWARD, ForwardReason.STALE));
  }

  // RFC 5861

  @Test
  void aStaleResponseIsServedWhileItIsRevalidated() {
    var stored = stored("max-age=60, stale-while-revalidate=30");
    assertThat(plan(get(), stored, T + 60)).isEqualTo(Plan.SERVE_STALE);
    assertThat(plan(get(), stored, T + 89)).isEqualTo(Plan.SERVE_STALE);
    assertThat(plan(get(), stored, T + 90))
        .isEqualTo(new Plan(Decision.FORWARD, ForwardReason.STALE));
  }

  @ParameterizedTest
  @ValueSource(strings = {"must-revalidate", "proxy-revalidate", "no-cache"})
  void whatForbidsStaleUseWinsOverStaleWhileRevalidate(String directive) {
    var stored = stored("max-age=60, stale-while-revalidate=30, stale-if-error=30, " + directive);
    assertThat(plan(get(), stored, T + 61))
        .isEqualTo(new Plan(Decision.FORWARD, ForwardReason.STALE));
    assertThat(stored.mayServeOnError(CacheControl.NONE, T + 61)).isFalse();
  }

  @Test
  void anExplicitExtensionWinsOverWhatSMaxAgeImplies() {
    var stored = stored("s-maxage=60, stale-while-revalidate=30, stale-if-error=40");
    assertThat(plan(get(), stored, T + 61)).isEqualTo(Plan.SERVE_STALE);
    assertThat(stored.mayServeOnError(CacheControl.NONE, T + 95)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"max-age=70", "min-fresh=1", "no-cache", "no-store"})
  void staleWhileRevalidateIsNotForClientsThatWantItFresh(String control) {
    var stored = stored("max-age=60, stale-while-revalidate=30");
    assertThat(plan(get("Cache-Control", control), stored, T + 61))
        .isNotEqualTo(Plan.SERVE_STALE)
        .isNotEqualTo(Plan.SERVE);
  }

  @Test
  void staleIfErrorLastsAsLongAsItSays() {
    var stored = stored("max-age=60, stale-if-error=30");
    assertThat(stored.mayServeOnError(CacheControl.NONE, T + 89)).isTrue();
    assertThat(stored.mayServeOnError(CacheControl.NONE, T + 90)).isFalse();
    assertThat(stored("max-age=60").mayServeOnError(CacheControl.NONE, T)).isFalse();
  }

  @Test
  void aClientMayAskForStaleIfErrorButNotAgainstSMaxAge() {
    var request = CacheControl.parse("stale-if-error=30");
    assertThat(stored("max-age=60").mayServeOnError(request, T + 61)).isTrue();
    assertThat(stored("s-maxage=60").mayServeOnError(request, T + 61)).isFalse();
  }

  // §5.2.1: what the client asks for

  @ParameterizedTest
  @CsvSource({"Cache-Control, no-cache", "Pragma, no-cache", "Cache-Control, max-age=4"})
  void aClientThatWantsItFresherGetsItValidated(String name, String value) {
    assertThat(plan(get(name, value), stored("max-age=60", "ETag", "\"a\""), T + 5))
        .isEqualTo(new Plan(Decision.VALIDATE, ForwardReason.REQUEST));
    assertThat(plan(get(name, value), stored("max-age=60"), T + 5))
        .isEqualTo(new Plan(Decision.FORWARD, ForwardReason.REQUEST));
  }

  @Test
  void aResponseYoungEnoughForTheClientIsServed() {
    assertThat(plan(get("Cache-Control", "max-age=5"), stored("max-age=60"), T + 5))
        .isEqualTo(Plan.SERVE);
  }

  @Test
  void minFreshWantsLifetimeLeft() {
    var stored = stored("max-age=60", "ETag", "\"a\"");
    assertThat(plan(get("Cache-Control", "min-fresh=10"), stored, T + 50)).isEqualTo(Plan.SERVE);
    assertThat(plan(get("Cache-Control", "min-fresh=11"), stored, T + 50))
        .isEqualTo(new Plan(Decision.VALIDATE, ForwardReason.REQUEST));
  }

  @Test
  void maxStaleAcceptsAStaleResponse() {
    var stored = stored("max-age=60");
    assertThat(plan(get("Cache-Control", "max-stale=10"), stored, T + 70)).isEqualTo(Plan.SERVE);
    assertThat(plan(get("Cache-Control", "max-stale=10"), stored, T + 71))
        .isEqualTo(new Plan(Decision.FORWARD, ForwardReason.STALE));
    assertThat(plan(get("Cache-Control", "max-stale"), stored, T + 99_999)).isEqualTo(Plan.SERVE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"max-age=60, must-revalidate", "max-age=60, proxy-revalidate", "s-maxage=60"})
  void maxStaleGivesWayToTheOrigin(String control) {
    assertThat(plan(get("Cache-Control", "max-stale"), stored(control), T + 61))
        .isEqualTo(new Plan(Decision.FORWARD, ForwardReason.STALE));
  }

  @Test
  void requestNoStoreGoesToTheOriginUnconditionally() {
    assertThat(plan(get("Cache-Control", "no-store"), stored("max-age=60", "ETag", "\"a\""), T))
        .isEqualTo(new Plan(Decision.FORWARD, ForwardReason.REQUEST));
  }

  @Test
  void onlyIfCachedIsAnsweredFromTheStoreOrRefused() {
    var request = get("Cache-Control", "only-if-cached");
    assertThat(plan(request, stored("max-age=60"), T)).isEqualTo(Plan.SERVE);
    assertThat(plan(request, stored("max-age=60"), T + 60)).isEqualTo(Plan.REFUSE);
    assertThat(planMiss(request, false)).isEqualTo(Plan.REFUSE);
    assertThat(planMiss(request, true)).isEqualTo(Plan.REFUSE);
  }

  @ParameterizedTest
  @ValueSource(strings = {"If-Match", "If-Unmodified-Since"})
  void preconditionsForTheOriginAreForwarded(String name) {
    assertThat(plan(get(name, "x"), stored("max-age=60"), T))
        .isEqualTo(new Plan(Decision.FORWARD, ForwardReason.REQUEST));
  }

  private static RequestHead get(String... namesAndValues) {
    return RequestHead.of("GET", URI, namesAndValues);
  }

  private static StoredFacts stored(String control, String... namesAndValues) {
    var head = ResponseHead.of(200, namesAndValues);
    head.fields().add("Cache-Control", control);
    return StoredFacts.of(head, CachePolicy.DEFAULT, T, T);
  }

  /** What is done with a request, and why it goes toward the origin if it does. */
  private record Plan(Decision decision, @Nullable ForwardReason reason) {

    static final Plan SERVE = new Plan(Decision.SERVE, null);
    static final Plan SERVE_STALE = new Plan(Decision.SERVE_STALE, null);
    static final Plan REFUSE = new Plan(Decision.REFUSE, null);
  }

  private static ForwardReason bypass(RequestHead request) {
    return Objects.requireNonNull(ReuseRule.ofBypass(request)).forward(false);
  }

  private static Plan plan(RequestHead request, StoredFacts stored, long now) {
    CacheControl demands = CacheControl.ofRequest(request.fields());
    ReuseRule rule = ReuseRule.of(request, demands, stored, now);
    return plan(rule, rule.decision(demands, stored), stored.isFresh(now));
  }

  private static Plan planMiss(RequestHead request, boolean isVariantMiss) {
    ReuseRule rule = isVariantMiss ? ReuseRule.NO_VARIANT : ReuseRule.NOTHING_STORED;
    return plan(rule, rule.decision(CacheControl.ofRequest(request.fields()), null), false);
  }

  private static Plan plan(ReuseRule rule, Decision decision, boolean isFresh) {
    boolean isAsked = decision == Decision.FORWARD || decision == Decision.VALIDATE;
    return new Plan(decision, isAsked ? rule.forward(isFresh) : null);
  }
}
