package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestClient.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The method PURGE, from the file to the wire. The clients' address is 127.0.0.1. */
class PurgeMethodIT {

  private static final String MEMORY = "cache: {memory: {capacity: 16MiB}";

  @RegisterExtension private final Journey journey = new Journey();

  @Test
  void aClientOfTheListPurges() throws Exception {
    journey.with(MEMORY + ", purge-from: [127.0.0.0/8]}");
    journey.origin().on("/a", ok("x", "Cache-Control: max-age=60"));
    journey.get("/a");
    assertThat(explained()).contains("\"decision\":\"purge\"", "stored under the key: 1");
    Answer answer = journey.ask("PURGE", "/a");
    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.content()).isEqualTo("purged: 1\n");
    assertThat(journey.ask("PURGE", "/a").content()).isEqualTo("purged: 0\n");
    assertThat(journey.get("/a").field("Cache-Status")).startsWith("kamille; fwd=uri-miss");
    assertThat(journey.origin().requests("/a")).hasSize(2);
  }

  @Test
  void anotherClientIsRefusedOnEveryRouteAndTheOriginSeesNothing() {
    journey.with(
        MEMORY + ", purge-from: [192.0.2.0/24, '::1']}",
        "routes: [{upstream: site, cache: {bypass-paths: [/my]}},"
            + " {upstream: site, path: /raw, cache: off}]");
    journey.origin().on("/a", ok("x", "Cache-Control: max-age=60"));
    journey.get("/a");
    for (String target : new String[] {"/a", "/my", "/raw"}) {
      Answer answer = journey.ask("PURGE", target);
      assertThat(answer.status()).isEqualTo(403);
      assertThat(answer.field("Proxy-Status"))
          .isEqualTo(
              "kamille; error=http_request_denied; details=\"PURGE is not for this client\"");
      assertThat(journey.origin().requests("/my")).isEmpty();
      assertThat(journey.origin().requests("/raw")).isEmpty();
    }
    assertThat(journey.get("/a").field("Cache-Status")).startsWith("kamille; hit");
  }

  @Test
  void withoutAListTheOriginDecidesAndAReloadChangesThat() {
    journey.origin().on("/a", ok("from the origin"));
    assertThat(journey.ask("PURGE", "/a").content()).isEqualTo("from the origin");
    journey.with(MEMORY + ", purge-from: [127.0.0.1]}");
    journey.appliance().reload(journey.configuration());
    assertThat(journey.ask("PURGE", "/a").content()).isEqualTo("purged: 0\n");
    assertThat(journey.origin().requests("/a")).hasSize(1);
  }

  @Test
  void whatHasNoRouteHasTheUsualAnswer() {
    journey.with(
        MEMORY + ", purge-from: [127.0.0.1]}", "routes: [{upstream: site, host: a, path: /b}]");
    assertThat(journey.ask("PURGE", "/elsewhere").status()).isEqualTo(404);
  }

  private String explained() throws Exception {
    return journey.admin("/v1/explain?url=http://a/a&method=PURGE").body();
  }
}
