package io.kamille.launcher.chain;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.launcher.configuration.Configuration;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class RouteStationsTest {

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
                response-headers: {set: {A: b}}, mirror: {upstream: other}\
                """))
        .isEqualTo(
            "request-id → error-pages → access → rate-limit → auth by upstream other → split (some"
                + " to other, past the cache) → cache → overload → headers and path → mirror"
                + " (copies to other) → upstream web");
  }

  /** What the page of settings has is what a route may have. */
  @Test
  void eachStationHasAPlace() throws IOException {
    assertThat(
            RouteStations.PLACES.stream().map(place -> place.station().getSimpleName()).distinct())
        .containsExactlyInAnyOrderElementsOf(StationNames.all());
    assertThat(StationNames.table())
        .contains("\n| `mirror` | `MirrorStation` | |\n")
        .contains(
            "\n"
                + "| `request-content` | `ContentLimitStation` | 413 `http_request_error`: raise"
                + " the limit |\n");
  }

  private static String chain(String settings) {
    Configuration configuration = configuration(settings);
    return RouteStations.describe(configuration.routes().getFirst(), configuration);
  }

  private static Configuration configuration(String settings) {
    return RequestTestsTest.configuration(
        """
        listeners: [{address: '127.0.0.1:0'}]
        upstreams: {web: {origins: ['http://a.test']}, other: {origins: ['http://b.test']}}
        routes: [{upstream: web%s}]
        """
            .replace("%s", (settings.isEmpty() ? "" : ", ") + settings.replace("\n", " ")));
  }
}
