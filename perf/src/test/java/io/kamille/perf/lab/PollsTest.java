package io.kamille.perf.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class PollsTest {

  @Test
  void pollsAndEventsStandInTheMetrics() throws Exception {
    String metrics =
        """
        # TYPE kamille_loop_polls_total counter
        kamille_loop_polls_total{loop="kamille-loop-1"} 1.25E7
        kamille_loop_events_total{loop="kamille-loop-1"} 402711.0
        """;
    assertThat(Polls.parse(metrics)).isEqualTo(new Polls(12_500_000, 402_711));
  }

  @Test
  void metricsWithoutThemAreAFailure() {
    assertThatThrownBy(() -> Polls.parse("up 1\n"))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("kamille_loop_polls_total");
  }
}
