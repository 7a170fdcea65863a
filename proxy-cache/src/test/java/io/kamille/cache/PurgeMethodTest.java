package io.kamille.cache;

import static io.kamille.cache.CacheFixture.URI;
import static io.kamille.cache.CacheFixture.fields;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.decision.Explanation;
import io.kamille.cache.key.NamePatterns;
import io.kamille.cache.key.QueryRules;
import io.kamille.cache.removal.RouteQueries;
import io.kamille.cache.rules.Decision;
import io.kamille.cache.rules.TagFields;
import io.kamille.cache.station.PurgeMethod;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.gate.AddressRanges;
import io.kamille.core.http.RequestHead;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The method PURGE, which some clients may use. */
class PurgeMethodTest {

  private static final InetSocketAddress LOCAL =
      new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 8080);

  @Test
  void whatIsStoredForTheTargetIsRemovedInAllVariants() {
    try (CacheFixture fixture = new CacheFixture()) {
      fixture.fill(
          fields("Accept-Language", "de"),
          200,
          "de",
          fields("Cache-Control", "max-age=60", "Vary", "Accept-Language"));
      fixture.fill(
          fields("Accept-Language", "en"),
          200,
          "en",
          fields("Cache-Control", "max-age=60", "Vary", "Accept-Language"));
      RecordingReply reply = purge(fixture, "10.1.2.3", URI);
      assertThat(reply.status()).isEqualTo(200);
      assertThat(reply.text()).isEqualTo("purged: 2\n");
      assertThat(reply.field("Cache-Control")).isEqualTo("no-store");
      assertThat(fixture.isReused("Accept-Language", "de")).isFalse();
      assertThat(fixture.counted("kamille_cache_purges_total", "url")).isEqualTo(1);
    }
  }

  /** HTTP/1.0 lets a request name no host. */
  @Test
  void whatIsStoredWithoutAHostIsRemoved() {
    try (CacheFixture fixture = new CacheFixture()) {
      send(fixture, method(fixture, fixture.handler), "10.1.2.3", "GET", "http:///a");
      fixture.origin.last().respond(200, "a", "Cache-Control", "max-age=60");
      fixture.run();
      assertThat(purge(fixture, "10.1.2.3", "http:///a").text()).isEqualTo("purged: 1\n");
    }
  }

  @Test
  void nothingStoredIsNoTrouble() {
    try (CacheFixture fixture = new CacheFixture()) {
      RecordingReply reply = purge(fixture, "10.1.2.3", URI);
      assertThat(reply.status()).isEqualTo(200);
      assertThat(reply.text()).isEqualTo("purged: 0\n");
      assertThat(fixture.forwarded()).isZero();
    }
  }

  @Test
  void whatIsOnItsWayIsNotStored() {
    try (CacheFixture fixture = new CacheFixture()) {
      fixture.get();
      purge(fixture, "10.1.2.3", URI);
      fixture.origin.last().respond(200, "old", "Cache-Control", "max-age=60");
      assertThat(fixture.isReused()).isFalse();
    }
  }

  @Test
  void otherClientsAreRefusedWithoutTheOrigin() {
    try (CacheFixture fixture = new CacheFixture()) {
      fixture.store("page");
      RecordingReply reply = purge(fixture, "11.1.2.3", URI);
      assertThat(reply.failure())
          .extracting(Failure::kind, Failure::status)
          .containsExactly(Failure.ErrorType.HTTP_REQUEST_DENIED, 403);
      assertThat(fixture.forwarded()).isEqualTo(1);
      assertThat(fixture.isReused()).isTrue();
      assertThat(fixture.counted("kamille_cache_purges_total", "url")).isZero();
    }
  }

  @Test
  void whereNobodyMayPurgeItIsAMethodLikeAnyOther() {
    try (CacheFixture fixture = new CacheFixture()) {
      PurgeMethod method = method(fixture, fixture.handler);
      method.allow(AddressRanges.NONE, TagFields.USUAL);
      RecordingReply reply = send(fixture, method, "10.1.2.3", "PURGE", URI);
      assertThat(fixture.origin.last().request().methodText()).isEqualTo("PURGE");
      fixture.origin.last().respond(405, "no");
      assertThat(reply.status()).isEqualTo(405);
      assertThat(method.explain(RequestHead.of("PURGE", URI))).isNull();
    }
  }

  @Test
  void methodsAreCaseSensitiveSoPurgeInLowerCaseIsAnotherOne() {
    try (CacheFixture fixture = new CacheFixture()) {
      PurgeMethod method = method(fixture, fixture.handler);
      send(fixture, method, "10.1.2.3", "purge", URI);
      assertThat(fixture.forwarded()).isEqualTo(1);
      fixture.origin.last().respond(405, "no");
    }
  }

  @Test
  void theQueryRulesOfTheRouteHold() {
    try (CacheFixture fixture = new CacheFixture()) {
      QueryRules rules = new QueryRules(NamePatterns.of(List.of("x")), false, false);
      fixture.cache.routes(any -> List.of(new RouteQueries.Way(rules, null)));
      fixture.store("page");
      assertThat(explained(fixture, URI + "?x=1").key()).isEqualTo(URI);
      assertThat(purge(fixture, "10.1.2.3", URI + "?x=1").text()).isEqualTo("purged: 1\n");
    }
  }

  @Test
  void anExplanationSaysHowMuchWouldBeRemovedAndRemovesNothing() {
    try (CacheFixture fixture = new CacheFixture()) {
      fixture.store("page");
      Explanation explained = explained(fixture, URI);
      assertThat(explained.decision()).isEqualTo(Decision.PURGE);
      assertThat(explained.because())
          .singleElement()
          .satisfies(
              step -> assertThat(step.found()).isEqualTo("responses stored under the key: 1"));
      assertThat(fixture.isReused()).isTrue();
    }
  }

  private static Explanation explained(CacheFixture fixture, String uri) {
    PurgeMethod method = method(fixture, fixture.handler);
    return Objects.requireNonNull(method.explain(RequestHead.of("PURGE", uri)));
  }

  private static PurgeMethod method(CacheFixture fixture, ExchangeHandler router) {
    PurgeMethod method = fixture.cache.purgeMethod(router, any -> true);
    method.allow(AddressRanges.parse(List.of("10.0.0.0/8")), TagFields.USUAL);
    return method;
  }

  private static RecordingReply purge(CacheFixture fixture, String client, String uri) {
    return send(fixture, method(fixture, fixture.handler), client, "PURGE", uri);
  }

  private static RecordingReply send(
      CacheFixture fixture, PurgeMethod first, String client, String method, String uri) {
    RecordingReply reply = new RecordingReply();
    first.handle(
        new Exchange(
            fixture.loop(),
            new InetSocketAddress(InetAddress.ofLiteral(client), 40_000),
            LOCAL,
            RequestHead.of(method, uri),
            RequestContent.NONE,
            reply));
    fixture.run();
    return reply;
  }
}
