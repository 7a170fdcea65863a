package io.kamille.cache.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.HttpDate;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 9111 §3: storing responses. */
class StorabilityTest {

  private static final long NOW = 1_800_000_000;
  private static final String URI = "http://example.org/";
  private static final RequestHead GET = RequestHead.of("GET", URI);

  @Test
  void aFreshResponseToGetIsStored() {
    assertThat(of(GET, 200, "Cache-Control", "max-age=60")).isEqualTo(Storability.STORABLE);
  }

  @ParameterizedTest
  @ValueSource(strings = {"HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND", "get"})
  void onlyResponsesToGetAreStored(String method) {
    assertThat(of(RequestHead.of(method, URI), 200, "Cache-Control", "max-age=60"))
        .isEqualTo(Storability.METHOD);
  }

  @ParameterizedTest
  @CsvSource({"Content-Length, 1", "Content-Length, 00", "Transfer-Encoding, chunked"})
  void theResponseToAGetWithContentIsNotStored(String name, String value) {
    assertThat(of(RequestHead.of("GET", URI, name, value), 200, "Cache-Control", "max-age=60"))
        .isEqualTo(Storability.REQUEST_CONTENT);
  }

  @Test
  void aGetThatSaysItHasNoContentHasNone() {
    assertThat(
            of(
                RequestHead.of("GET", URI, "Content-Length", "0"),
                200,
                "Cache-Control",
                "max-age=6"))
        .isEqualTo(Storability.STORABLE);
  }

  @Test
  void requestNoStoreForbidsStoring() {
    var request = RequestHead.of("GET", URI, "Cache-Control", "no-store");
    assertThat(of(request, 200, "Cache-Control", "max-age=60"))
        .isEqualTo(Storability.REQUEST_NO_STORE);
  }

  @ParameterizedTest
  @CsvSource({
    "100, STATUS_INTERIM",
    "101, STATUS_INTERIM",
    "103, STATUS_INTERIM",
    "206, STATUS_PARTIAL",
    "304, STATUS_NOT_UNDERSTOOD"
  })
  void interimPartialAndNotModifiedAreNotStored(int status, Storability expected) {
    assertThat(of(GET, status, "Cache-Control", "max-age=60")).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(ints = {412, 416, 417})
  void anAnswerToOneClientsConditionIsNotStoredForAll(int status) {
    assertThat(of(GET, status, "Cache-Control", "public, max-age=60"))
        .isEqualTo(Storability.STATUS_CONDITIONAL);
  }

  @ParameterizedTest
  @ValueSource(ints = {200, 201, 302, 403, 404, 500, 503, 299, 599, 999})
  void anyFinalStatusCodeMayBeStoredWithAnExplicitLifetime(int status) {
    assertThat(of(GET, status, "Cache-Control", "max-age=60")).isEqualTo(Storability.STORABLE);
    assertThat(of(GET, status, "Cache-Control", "s-maxage=60")).isEqualTo(Storability.STORABLE);
    assertThat(of(GET, status, "Expires", "Fri, 31 Dec 9999 23:59:59 GMT"))
        .isEqualTo(Storability.STORABLE);
  }

  @ParameterizedTest
  @ValueSource(ints = {201, 302, 403, 500, 503, 599})
  void othersThanHeuristicallyCacheableStatusCodesNeedADirective(int status) {
    assertThat(of(GET, status, "ETag", "\"a\"")).isEqualTo(Storability.NOT_CACHEABLE);
    assertThat(of(GET, status, "ETag", "\"a\"", "Cache-Control", "public"))
        .isEqualTo(Storability.STORABLE);
  }

  @Test
  void responseNoStoreForbidsStoring() {
    assertThat(of(GET, 200, "Cache-Control", "no-store, max-age=60"))
        .isEqualTo(Storability.NO_STORE);
  }

  @Test
  void mustUnderstandOverridesNoStoreForAStatusCodeWeUnderstand() {
    assertThat(of(GET, 200, "Cache-Control", "must-understand, no-store, max-age=60"))
        .isEqualTo(Storability.STORABLE);
    assertThat(of(GET, 599, "Cache-Control", "must-understand, no-store, max-age=60"))
        .isEqualTo(Storability.STATUS_NOT_UNDERSTOOD);
    assertThat(of(GET, 599, "Cache-Control", "must-understand, max-age=60"))
        .isEqualTo(Storability.STATUS_NOT_UNDERSTOOD);
  }

  @Test
  void privateIsNotForASharedCacheUnlessItNamesFields() {
    assertThat(of(GET, 200, "Cache-Control", "private, max-age=60")).isEqualTo(Storability.PRIVATE);
    assertThat(of(GET, 200, "Cache-Control", "private=\"X-User\", max-age=60"))
        .isEqualTo(Storability.STORABLE);
  }

  @ParameterizedTest
  @CsvSource({
    "max-age=60,                   AUTHORIZATION",
    "'max-age=60, proxy-revalidate', AUTHORIZATION",
    "'max-age=60, public',          STORABLE",
    "'max-age=60, must-revalidate', STORABLE",
    "s-maxage=60,                  STORABLE"
  })
  void theResponseToAnAuthorizedRequestNeedsADirective(String control, Storability expected) {
    var request = RequestHead.of("GET", URI, "Authorization", "Basic eDp5");
    assertThat(of(request, 200, "Cache-Control", control)).isEqualTo(expected);
  }

  @Test
  void varyStarIsNotStored() {
    assertThat(of(GET, 200, "Cache-Control", "max-age=60", "Vary", "Accept, *"))
        .isEqualTo(Storability.VARY_ALL);
  }

  @Test
  void aCookieIsStoredOnlyIfTheRouteSaysSo() {
    var policy = policy(true, CacheControl.ABSENT);
    var head = ResponseHead.of(200, "Cache-Control", "max-age=60", "Set-Cookie", "a=b");
    assertThat(of(GET, head, CachePolicy.DEFAULT)).isEqualTo(Storability.SET_COOKIE);
    assertThat(of(GET, head, policy)).isEqualTo(Storability.STORABLE);
  }

  private static CachePolicy policy(boolean storesSetCookie, int defaultSeconds) {
    return new CachePolicy(
        storesSetCookie,
        CacheControl.ABSENT,
        StatusLifetimes.NONE,
        defaultSeconds,
        StaleLimits.NONE);
  }

  @ParameterizedTest
  @ValueSource(strings = {"private=\"set-cookie\"", "no-cache=\"Set-Cookie\""})
  void aCookieThatStaysOutOfTheStoreIsNoObstacle(String control) {
    assertThat(of(GET, 200, "Cache-Control", control + ", max-age=60", "Set-Cookie", "a=b"))
        .isEqualTo(Storability.STORABLE);
  }

  @Test
  void whatIsNeverFreshAndCannotBeValidatedIsNotStored() {
    assertThat(of(GET, 200)).isEqualTo(Storability.NO_LIFETIME);
    assertThat(of(GET, 200, "Cache-Control", "max-age=0")).isEqualTo(Storability.NO_LIFETIME);
    assertThat(of(GET, 200, "Expires", "0")).isEqualTo(Storability.NO_LIFETIME);
  }

  @Test
  void aClockThatIsBehindIsNamed() {
    String[] late = {"Cache-Control", "max-age=60", "Date", HttpDate.format(NOW - 3_600)};
    assertThat(of(GET, 200, late)).isEqualTo(Storability.CLOCK);
    assertThat(Storability.CLOCK.detail()).isEqualTo("no-lifetime");
    assertThat(Storability.CLOCK.clause()).contains("clock");
  }

  @ParameterizedTest
  @CsvSource({
    "59,          max-age=60,                             STORABLE",
    "60,          max-age=60,                             NO_LIFETIME",
    "99999999999, max-age=60,                             NO_LIFETIME",
    "69,          'max-age=60, stale-while-revalidate=10', STORABLE",
    "70,          'max-age=60, stale-while-revalidate=10', NO_LIFETIME",
    "69,          'max-age=60, stale-if-error=10',         STORABLE",
    "99999999999, 'max-age=60, stale-if-error=10',         NO_LIFETIME"
  })
  void whatComesTooOldForAnyUseIsNotStored(String age, String control, Storability expected) {
    assertThat(of(GET, 200, "Cache-Control", control, "Age", age)).isEqualTo(expected);
    assertThat(of(GET, 200, "Cache-Control", control, "Age", age, "ETag", "\"a\""))
        .isEqualTo(Storability.STORABLE);
  }

  @Test
  void noCacheWithAValidatorIsStoredForValidation() {
    assertThat(of(GET, 200, "Cache-Control", "no-cache", "ETag", "\"a\""))
        .isEqualTo(Storability.STORABLE);
  }

  @Test
  void theRoutesDefaultMakesAResponseStorable() {
    var policy = policy(false, 60);
    assertThat(of(GET, ResponseHead.of(200), policy)).isEqualTo(Storability.STORABLE);
    assertThat(of(GET, ResponseHead.of(503), policy)).isEqualTo(Storability.NOT_CACHEABLE);
  }

  @ParameterizedTest
  @EnumSource(Storability.class)
  void everyRefusalHasADetailForCacheStatus(Storability storability) {
    assertThat(storability.detail().isEmpty()).isEqualTo(storability.isStorable());
    assertThat(storability.clause()).isNotBlank();
  }

  private static Storability of(RequestHead request, int status, String... namesAndValues) {
    return of(request, ResponseHead.of(status, namesAndValues), CachePolicy.DEFAULT);
  }

  private static Storability of(RequestHead request, ResponseHead head, CachePolicy policy) {
    return Storability.of(
        request,
        CacheControl.ofRequest(request.fields()),
        head,
        CacheControl.ofResponse(head.fields()),
        policy,
        NOW);
  }
}
