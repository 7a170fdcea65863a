package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What an operator says of caching on a route, from the file to the wire. */
class CachePolicyIT {

  @RegisterExtension private final Journey journey = new Journey();

  @Test
  void aRoutesTtlComesFromTheFile() {
    policy("{ttl: 1h}");
    journey.origin().on("/a", ok("page", "Cache-Control: max-age=1"));
    assertThat(journey.get("/a").field("Cache-Status"))
        .matches("kamille; fwd=uri-miss; stored; ttl=3[56][0-9]{2}; detail=ttl-override");
  }

  @Test
  void aBypassedPathPassesHoweverItIsSpelled() {
    policy("{bypass-paths: [/my]}");
    for (String target : new String[] {"/my/a", "//my/a", "/%6dy/a"}) {
      journey.origin().on(target, ok("mine", "Cache-Control: max-age=60"));
      for (int i = 0; i < 2; i++) {
        assertThat(journey.get(target).field("Cache-Status"))
            .isEqualTo("kamille; fwd=bypass; detail=path");
      }
    }
    journey.origin().on("/mystery", ok("page", "Cache-Control: max-age=60"));
    journey.get("/mystery");
    assertThat(journey.get("/mystery").field("Cache-Status")).startsWith("kamille; hit");
  }

  @Test
  void anIgnoredParameterReachesNoOrigin() {
    policy("{query: {ignore: [utm_*], sort: on}}");
    journey.origin().on("/a?b=1&c=2", ok("page", "Cache-Control: max-age=60"));
    assertThat(journey.get("/a?c=2&utm_x=1&b=1").content()).isEqualTo("page");
    assertThat(journey.get("/a?b=1&utm_y=1&c=2").field("Cache-Status")).startsWith("kamille; hit");
    assertThat(journey.origin().requests("/a?b=1&c=2")).hasSize(1);
  }

  private void policy(String cache) {
    journey.with("routes: [{upstream: site, cache: " + cache + "}]");
    journey.appliance().reload(journey.configuration());
  }
}
