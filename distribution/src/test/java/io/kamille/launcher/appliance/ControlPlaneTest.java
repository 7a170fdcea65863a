package io.kamille.launcher.appliance;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.admin.api.Answer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ControlPlaneTest {

  @ParameterizedTest
  @CsvSource({
    "STARTING, 0, 503, starting",
    "READY, 0, 200, ready",
    "READY, 2, 200, 'ready\ncertificates: waiting for 2'",
    "DRAINING, 0, 503, draining"
  })
  void readinessFollowsTheState(Appliance.Phase state, long missing, int status, String text) {
    Answer answer = ControlPlane.readiness(state, missing);
    assertThat(answer.status()).isEqualTo(status);
    assertThat(new String(answer.content(), StandardCharsets.UTF_8).strip()).isEqualTo(text);
  }
}
