package io.kamille.launcher.appliance;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RouteChainTest {

  @Test
  void aPlainRouteIsTheCacheAndItsUpstream() {
    assertThat(chain("")).isEqualTo("cache → overload → upstream web");
  }

  @Test
  void allStationsStandInOneOrder() {
    assertThat(
            chain(
                """
                request-id: on, error-pages: {5xx: {body: Sorry.}}, access: {deny: [192.0.2.1]},
                rate-limit: {rate: 1/s}, auth: {forward: {upstream: other}},
                split: {upstream: other, share: 0.1},
                response-headers: {set: {A: b}}, mirror: {upstream: other}"""))
        .isEqualTo(
            "request-id → error-pages → access → rate-limit → auth by upstream other → split (some"
                + " to other, past the cache) → cache → overload → headers and path → mirror (copies to other) →"
                + " upstream web");
  }

  @Test
  void aRateOfForwardedRequestsStandsBehindTheCache() {
    assertThat(chain("rate-limit: {rate: 1/s, counts: forwarded}"))
        .isEqualTo("cache → overload → rate-limit → upstream web");
  }

  @Test
  void withoutACacheEachRequestIsAskedForTheRateFirst() {
    assertThat(chain("rate-limit: {rate: 1/s, counts: forwarded}, cache: {enabled: off}"))
        .isEqualTo("rate-limit → overload → upstream web");
  }

  private static String chain(String settings) {
    String upstreams = "{web: {origins: ['http://a.test']}, other: {origins: ['http://b.test']}}";
    String routes = "[{upstream: web" + (settings.isEmpty() ? "" : ", ") + settings + "}]";
    return RouteChain.describe(
        UpstreamsTest.configuration(upstreams, routes.replace("\n", " ")).routes().getFirst());
  }
}
