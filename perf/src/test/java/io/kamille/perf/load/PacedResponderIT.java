package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.loop.PaceSettings;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class PacedResponderIT {

  @ParameterizedTest
  @CsvSource({"false, 0", "false, 1000000", "true, 0", "true, 1000000"})
  void theWorkloadIsAnsweredRightlyOverAnySelectorPacedOrNot(boolean isEpoll, long intervalNanos)
      throws Exception {
    try (var server = PacedResponder.open(0, isEpoll, PacedResponder.pace(intervalNanos));
        var client =
            LoadClient.open(
                LoadSettings.persistent(server.port(), 10).withTimeLimit(Duration.ofMinutes(1)))) {
      var arrivals = Arrivals.poisson(RateSchedule.steady(1000, Duration.ofMillis(200)), 1);
      LoadResult result = client.run(arrivals, new WebAxe4("a", 1 << 20, 0, 1));
      assertThat(result.failures()).isEmpty();
      assertThat(result.completed()).isPositive();
      assertThat(polls(server.port())).isPositive();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 50_000, 10_000_000})
  void whatBeginsWithAnEComesBackWhateverTheBusyWait(long spinNanos) throws Exception {
    PaceSettings spinning = PaceSettings.OFF.withSpinLimit(spinNanos);
    try (var server = PacedResponder.open(0, true, spinning);
        var ball = PingPong.open(server.port())) {
      assertThat(ball.play(20, 0, Duration.ofMinutes(2)).getTotalCount()).isEqualTo(20);
    }
  }

  private static long polls(int port) throws Exception {
    try (var in = URI.create("http://127.0.0.1:" + port + "/polls").toURL().openStream()) {
      String[] counts = new String(in.readAllBytes(), StandardCharsets.US_ASCII).split(" ", -1);
      return Long.parseLong(counts[0]);
    }
  }
}
