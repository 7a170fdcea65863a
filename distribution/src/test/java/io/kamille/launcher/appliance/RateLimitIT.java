package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Request rates of routes, through a whole appliance; an hour's rate, so that none comes back. */
class RateLimitIT {

  @RegisterExtension private final Journey journey = new Journey();

  @Test
  void oneTooManyIs429AndSaysWhenToComeAgain() {
    limit("{rate: 2/h, burst: 2}");
    TestClient client = journey.client();
    assertThat(client.get("/a").answer().status()).isEqualTo(200);
    assertThat(client.get("/a").answer().status()).isEqualTo(200);
    Answer refused = client.get("/a").answer();
    assertThat(refused.status()).isEqualTo(429);
    assertThat(Integer.parseInt(String.valueOf(refused.field("Retry-After")))).isBetween(1, 1800);
    assertThat(refused.field("Proxy-Status"))
        .isEqualTo(
            "kamille; error=http_request_denied; details=\"too many requests of this client\"");
    assertThat(client.get("/free").answer().status()).isEqualTo(200);
  }

  @Test
  void eachValueOfAFieldHasItsOwnRate() {
    limit("{rate: 1/h, key: 'field:X-Api-Key'}");
    TestClient client = journey.client();
    assertThat(client.get("/a", "X-Api-Key: one").answer().status()).isEqualTo(200);
    assertThat(client.get("/a", "x-api-key: one").answer().status()).isEqualTo(429);
    assertThat(client.get("/a", "X-Api-Key: two").answer().status()).isEqualTo(200);
    assertThat(client.get("/a").answer().status()).isEqualTo(200);
    assertThat(client.get("/a").answer().status()).isEqualTo(429);
  }

  @Test
  void aReloadGoesOnCountingUnlessTheLimitIsAnother() {
    limit("{rate: 1/h}");
    assertThat(journey.get("/a").status()).isEqualTo(200);
    journey.appliance().reload(journey.configuration());
    assertThat(journey.get("/a").status()).isEqualTo(429);
    limit("{rate: 1/h, burst: 2}");
    journey.appliance().reload(journey.configuration());
    assertThat(journey.get("/a").status()).isEqualTo(200);
  }

  private void limit(String limit) {
    journey
        .with("routes: [{upstream: site}, {upstream: site, path: /a, rate-limit: " + limit + "}]")
        .origin()
        .on("/a", ok("a", "Cache-Control: max-age=600"));
    journey.origin().on("/a/b", ok("b"));
    journey.origin().on("/free", ok("free"));
  }
}
