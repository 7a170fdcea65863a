package io.kamille.cache;

import static io.kamille.cache.CacheFixture.URI;
import static io.kamille.cache.CacheFixture.fields;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.decision.Explanation;
import io.kamille.cache.key.NamePatterns;
import io.kamille.cache.key.QueryRules;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.removal.PurgeReport;
import io.kamille.cache.removal.RouteQueries;
import io.kamille.cache.rules.Decision;
import io.kamille.cache.rules.VaryBy;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.http.RequestHead;
import io.kamille.core.setting.Sections;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Which requests use the cache, and how their responses are told apart, as an operator says. */
class RequestPolicyTest {

  @Test
  void aRequestWithABypassCookieIsNeitherAnsweredFromTheStoreNorStored() {
    try (CacheFixture fixture = bypassing("session")) {
      fixture.store("page");
      RecordingReply reply =
          fixture.fill(fields("Cookie", "session=1"), 200, "mine", "Cache-Control", "max-age=60");
      assertThat(reply.text()).isEqualTo("mine");
      assertThat(reply.field("Cache-Status")).isEqualTo("kamille; fwd=bypass; detail=cookie");
      assertThat(fixture.get("Cookie", "a=b").text()).isEqualTo("page");
    }
  }

  @Test
  void aCookieThatSomeServerReadsAsABypassCookieIsOne() {
    try (CacheFixture fixture = bypassing("session")) {
      String[] cookie = {"Cookie", "a=b session=1"};
      fixture.fill(fields(cookie), 200, "mine", "Cache-Control", "max-age=60");
      assertThat(fixture.isReused(cookie)).isFalse();
      assertThat(fixture.handler.explain(RequestHead.of("GET", URI, cookie)).because())
          .extracting(step -> step.section())
          .contains("routes[].cache.bypass-cookies");
    }
  }

  @Test
  void requestsWithABypassCookieDoNotWaitForOneAnother() {
    try (CacheFixture fixture = bypassing("session")) {
      fixture.get("Cookie", "session=1");
      fixture.get("Cookie", "session=1");
      fixture.get();
      assertThat(fixture.forwarded()).isEqualTo(3);
      fixture.origin.requests().forEach(request -> request.respond(200, "x"));
    }
  }

  @Test
  void anUnsafeRequestInvalidatesWhateverCookieItHas() {
    try (CacheFixture fixture = bypassing("session")) {
      fixture.store("page");
      fixture.send("POST", URI, "Cookie", "session=1");
      fixture.origin.last().respond(200, "done");
      assertThat(fixture.isReused()).isFalse();
    }
  }

  @Test
  void aBypassedPathUsesNoStore() {
    try (CacheFixture fixture = new CacheFixture()) {
      fixture.store("page");
      ExchangeHandler bypass = fixture.handler.bypass("path");
      RecordingReply reply = new RecordingReply();
      bypass.handle(CacheFixture.exchange(fixture.loop(), RequestHead.of("GET", URI), reply));
      fixture.origin.last().respond(200, "mine", "Cache-Control", "max-age=60");
      assertThat(reply.text()).isEqualTo("mine");
      assertThat(reply.field("Cache-Status")).isEqualTo("kamille; fwd=bypass; detail=path");
      assertThat(fixture.get().text()).isEqualTo("page");
    }
  }

  @Test
  void aRoutesFieldsTellResponsesApartAndStandInVary() {
    try (CacheFixture fixture = varyingBy("X-Device")) {
      RecordingReply reply =
          fixture.fill(fields("X-Device", "phone"), 200, "small", "Cache-Control", "max-age=60");
      assertThat(reply.field("Vary")).isEqualTo("x-device");
      fixture.fill(fields("X-Device", "desk"), 200, "large", "Cache-Control", "max-age=60");
      assertThat(fixture.get("X-Device", "phone").text()).isEqualTo("small");
      assertThat(fixture.get("X-Device", "desk").text()).isEqualTo("large");
      assertThat(fixture.get("X-Device", "phone").field("Vary")).isEqualTo("x-device");
      assertThat(fixture.isReused()).isFalse();
    }
  }

  @Test
  void aPurgeTakesAllThatARoutesFieldsTellApart() {
    try (CacheFixture fixture = varyingBy("X-Device")) {
      fixture.fill(fields("X-Device", "phone"), 200, "small", "Cache-Control", "max-age=60");
      fixture.fill(fields("X-Device", "desk"), 200, "large", "Cache-Control", "max-age=60");
      assertThat(fixture.cache.operations().purge(URI)).hasValue(2);
    }
  }

  @Test
  void aValidationKeepsTellingApart() {
    try (CacheFixture fixture = varyingBy("X-Device")) {
      fixture.fill(
          fields("X-Device", "phone"),
          200,
          "small",
          "Cache-Control",
          "max-age=60",
          "Vary",
          "Accept",
          "ETag",
          "\"a\"");
      fixture.advance(60);
      fixture.fill(fields("X-Device", "phone"), 304, "", "Vary", "Accept", "ETag", "\"a\"");
      assertThat(fixture.isReused("X-Device", "phone")).isTrue();
      fixture.advance(60);
      fixture.fill(fields("X-Device", "phone"), 304, "", "ETag", "\"a\"");
      assertThat(fixture.isReused("X-Device", "phone")).isTrue();
      assertThat(fixture.isReused("X-Device", "phone", "Accept", "x")).isFalse();
      assertThat(fixture.isReused("X-Device", "desk")).isFalse();
    }
  }

  @Test
  void anIgnoredParameterIsNeitherInTheKeyNorForwarded() {
    try (CacheFixture fixture = ignoring("x")) {
      RecordingReply reply = fixture.send("GET", URI + "?x=1&a=2");
      assertThat(fixture.origin.last().request().pathAndQuery()).isEqualTo("/page?a=2");
      fixture.origin.last().respond(200, "page", "Cache-Control", "max-age=60");
      assertThat(reply.text()).isEqualTo("page");
      assertThat(fixture.send("GET", URI + "?a=2&x=3").text()).isEqualTo("page");
      assertThat(fixture.send("HEAD", URI + "?a=2").status()).isEqualTo(200);
      assertThat(fixture.forwarded()).isEqualTo(1);
    }
  }

  @Test
  void aRequestThatIsNotCachedKeepsItsQuery() {
    try (CacheFixture fixture = ignoring("x")) {
      fixture.send("POST", URI + "?x=1");
      assertThat(fixture.origin.last().request().pathAndQuery()).isEqualTo("/page?x=1");
      fixture.origin.last().respond(200, "done");
    }
  }

  @Test
  void aPurgeFindsWhatIsStoredWithoutTheIgnoredParameters() {
    try (CacheFixture fixture = ignoring("x")) {
      fixture.store("page");
      assertThat(fixture.cache.operations().purge(URI + "?x=1")).hasValue(1);
      assertThat(fixture.isReused()).isFalse();
    }
  }

  @Test
  void softPurgesAndDryRunsFindWhatIsStoredWithoutTheIgnoredParameters() {
    try (CacheFixture fixture = ignoring("x")) {
      fixture.store("page");
      PurgeTarget target = Objects.requireNonNull(PurgeTarget.url(URI + "?x=1"));
      CacheOperations operations = fixture.cache.operations();
      assertThat(operations.purges().count(target, false))
          .extracting(PurgeReport::responses)
          .isEqualTo(1L);
      assertThat(fixture.isReused()).isTrue();
      assertThat(operations.purges().purge(target, true))
          .extracting(PurgeReport::responses)
          .isEqualTo(1L);
      assertThat(fixture.isReused()).isFalse();
    }
  }

  @Test
  void whatIsStoredIsFoundByAnyUrlOfItsKey() {
    try (CacheFixture fixture = ignoring("x")) {
      fixture.store("page");
      assertThat(fixture.cache.operations().objects(URI + "?x=1").orElseThrow()).hasSize(1);
    }
  }

  @Test
  void anExplanationLooksUpWhatIsStoredWithoutTheIgnoredParameters() {
    try (CacheFixture fixture = ignoring("x")) {
      fixture.store("page");
      RequestHead request = RequestHead.of("GET", URI + "?x=1");
      Explanation explained = fixture.handler.explain(request);
      assertThat(explained.decision()).isEqualTo(Decision.SERVE);
      assertThat(explained.key()).isEqualTo(URI);
      assertThat(request.pathAndQuery()).isEqualTo("/page?x=1");
    }
  }

  @Test
  void rfc9111Section4_4AnUnsafeRequestInvalidatesWhatIsStoredWithoutTheIgnoredParameters() {
    try (CacheFixture fixture = ignoring("x")) {
      fixture.store("page");
      fixture.send("POST", URI + "?x=1");
      fixture.origin.last().respond(200, "done");
      assertThat(fixture.isReused()).isFalse();
      fixture.store("page");
      fixture.send("POST", "http://example.org/form");
      fixture.origin.last().respond(303, "", "Location", "/page?x=2");
      assertThat(fixture.isReused()).isFalse();
    }
  }

  private static CacheFixture ignoring(String parameter) {
    QueryRules rules = new QueryRules(NamePatterns.of(List.of(parameter)), false, false);
    CacheFixture fixture = with(NamePatterns.NONE, VaryBy.NONE, rules);
    fixture.cache.routes(any -> List.of(new RouteQueries.Way(rules, null)));
    return fixture;
  }

  @Test
  void aFieldThatDoesNotReachTheOriginStoresNothingForThoseWhoseDoes() {
    try (CacheFixture fixture = new CacheFixture()) {
      RecordingReply reply =
          fixture.fill(
              CacheFixture.fields("Accept-Language", "de", "Connection", "close, Accept-Language"),
              200,
              "english",
              "Cache-Control",
              "max-age=60",
              "Vary",
              "Accept-Language");
      assertThat(reply.field("Cache-Status")).isEqualTo("kamille; fwd=bypass");
      assertThat(fixture.isReused("Accept-Language", "de")).isFalse();
    }
  }

  private static CacheFixture bypassing(String cookie) {
    return with(NamePatterns.of(List.of(cookie)), VaryBy.NONE, QueryRules.NONE);
  }

  private static CacheFixture varyingBy(String field) {
    return with(NamePatterns.NONE, new VaryBy(List.of(field)), QueryRules.NONE);
  }

  private static CacheFixture with(NamePatterns bypassCookies, VaryBy varyBy, QueryRules query) {
    return new CacheFixture(
        4 << 20,
        Sections.copy(TestSettings.of(1 << 20))
            .with("bypassCookies", bypassCookies)
            .with("varyBy", varyBy)
            .with("query", query)
            .record());
  }
}
