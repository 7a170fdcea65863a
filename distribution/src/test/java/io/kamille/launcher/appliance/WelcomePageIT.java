package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestClient.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a fresh installation answers, until its routes name an upstream. */
class WelcomePageIT {

  @RegisterExtension private final Journey journey = new Journey();

  @Test
  void aFreshInstallationSaysHowToGoOn() {
    journey.origin().on("/a", ok("from the origin"));
    journey.with("routes: [{upstream: welcome}]");
    Answer answer = journey.get("/a");
    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.content()).contains("Kamille works").contains("/etc/kamille/kamille.yaml");
    assertThat(answer.field("Cache-Control")).isEqualTo("no-store");
    assertThat(journey.ask("HEAD", "/a").content()).isEmpty();
    assertThat(journey.origin().requests("/a")).isEmpty();
  }

  @Test
  void aReloadPutsTheOriginInItsPlace() {
    journey.origin().on("/a", ok("from the origin"));
    journey.with("routes: [{upstream: welcome}]");
    assertThat(journey.get("/a").content()).contains("Kamille works");
    journey.with("routes: [{upstream: site}]");
    journey.appliance().reload(journey.configuration());
    assertThat(journey.get("/a").content()).isEqualTo("from the origin");
  }
}
