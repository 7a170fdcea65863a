package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestClient.Answer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Routes of one URL, and what limits and adorns a route, through a whole appliance. */
class RouteMatchIT {

  private static final String FRESH = "Cache-Control: max-age=600";

  @RegisterExtension private final Journey journey = new Journey();

  @BeforeEach
  void routes() {
    journey.with(
        """
        routes:
          - {upstream: site, cache: {query: {ignore: [utm]}}}
          - {upstream: site, path-rewrite: /beta, match: {fields: {X-Beta: "1"}}}
          - {upstream: site, path-rewrite: /mine, match: {cookies: {who: present}, query: {own: "y*"}}}
          - {path: /form, upstream: site, security-headers: on, request-content: 5}
          - {path: /form, respond: 405, match: {methods: [DELETE]}, security-headers: on}
          - path: /rate
            upstream: site
            cache: off
            rate-limit:
              - {rate: 1/h, burst: 3}
              - {rate: 1/h, key: "cookie:who"}
              - {rate: 1/h, dry-run: on}
          - {path: /late, upstream: site, head-timeout: 50ms, security-headers: on}
        """);
    journey.origin().on("/a", ok("plain", FRESH));
    journey.origin().on("/beta/a", ok("beta", FRESH));
    journey.origin().on("/mine/a?own=yes", ok("mine", FRESH));
    journey.origin().on("/form", ok("form", FRESH, "X-Frame-Options: DENY"));
    journey.origin().on("/rate", ok("rate"));
  }

  @Test
  void routesOfOneUrlShareNothingAndAPurgeOfItReachesAll() throws Exception {
    for (int i = 0; i < 2; i++) {
      assertThat(journey.get("/a").content()).isEqualTo("plain");
      assertThat(journey.get("/a", "x-beta: 1").content()).isEqualTo("beta");
      assertThat(journey.get("/a", "x-beta: 2").content()).isEqualTo("plain");
      assertThat(journey.get("/a?own=yes", "Cookie: who=me").content()).isEqualTo("mine");
    }
    assertThat(journey.origin().requests()).hasSize(3);
    String url = "http://a/a?utm=1";
    assertThat(journey.admin("/v1/explain?url=http://a/a&field=X-Beta:1").body())
        .contains("to upstream site; the name of the route is a part of the key", "\"serve\"");
    assertThat(journey.purge(url).body()).contains("\"purged\":1");
    assertThat(journey.purge("http://a/a").body()).contains("\"purged\":1");
    journey.get("/a");
    journey.get("/a", "x-beta: 1");
    assertThat(journey.origin().requests()).hasSize(5);
    assertThat(journey.purge("http://a/a").body()).contains("\"purged\":2");
    journey.get("/a");
    journey.get("/a", "x-beta: 1");
    journey.ask("POST", "/a", "Content-Length: 0");
    assertThat(journey.get("/a", "x-beta: 1").field("Cache-Status")).contains("fwd=uri-miss");
    assertThat(journey.get("/a").field("Cache-Status")).contains("fwd=uri-miss");
  }

  @Test
  void contentOverTheLimitOfItsRouteIs413() {
    journey.origin().on("/form", ok("form"));
    assertThat(journey.ask("POST", "/form", "Content-Length: 6").status()).isEqualTo(413);
    String chunked = "POST /form HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    assertThat(journey.say(chunked + "6\r\nabcdef\r\n0\r\n\r\n").status()).isEqualTo(413);
    assertThat(journey.say(chunked + "5\r\nabcde\r\n0\r\n\r\n").status()).isEqualTo(200);
  }

  @Test
  void securityFieldsAreOnResponsesThatLackThemAndOnErrors() {
    Answer first = journey.get("/form");
    Answer hit = journey.get("/form");
    for (Answer answer : new Answer[] {first, hit}) {
      assertThat(answer.field("X-Frame-Options")).isEqualTo("DENY");
      assertThat(answer.field("X-Content-Type-Options")).isEqualTo("nosniff");
      assertThat(answer.field("Referrer-Policy")).isEqualTo("strict-origin-when-cross-origin");
      assertThat(answer.field("Strict-Transport-Security")).isNull();
    }
    assertThat(hit.field("Cache-Status")).contains("hit");
    for (Answer error :
        new Answer[] {
          journey.ask("POST", "/form", "Content-Length: 6"), journey.ask("DELETE", "/form")
        }) {
      assertThat(error.status()).isIn(413, 405);
      assertThat(error.field("X-Frame-Options")).isEqualTo("SAMEORIGIN");
    }
    journey.origin().on("/late", visit -> {});
    Answer late = journey.get("/late");
    assertThat(late.status()).isEqualTo(504);
    assertThat(late.field("X-Content-Type-Options")).isEqualTo("nosniff");
  }

  @Test
  void severalRatesHoldTogetherAndADryRunRefusesNothing() throws Exception {
    assertThat(journey.get("/rate", "Cookie: a=1; who=me").status()).isEqualTo(200);
    assertThat(journey.get("/rate", "Cookie: who=you").status()).isEqualTo(200);
    assertThat(journey.get("/rate", "Cookie: who=me").status()).isEqualTo(429);
    assertThat(journey.get("/rate", "Cookie: who=she").status()).isEqualTo(429);
    assertThat(journey.admin("/metrics").body())
        .contains("kamille_requests_refused_total{reason=\"rate\"} 2")
        .contains("kamille_requests_over_rate_total 1");
  }
}
