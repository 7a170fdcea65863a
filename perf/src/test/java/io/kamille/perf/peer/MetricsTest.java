package io.kamille.perf.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class MetricsTest {

  private static final Metrics METRICS =
      Metrics.parse(
          """
          # TYPE part gauge
          part{part="leased"} 5.0
          part{part="stored"} 1.5E3
          parts 7
          """);

  @Test
  void labelsAreAddedUp() {
    assertThat(METRICS.sum("part")).isEqualTo(1505);
    assertThat(METRICS.sum("parts")).isEqualTo(7);
    assertThat(METRICS.sum("other")).isZero();
  }

  @Test
  void aMetricThatMustBeThereIsThereOrAFailure() throws Exception {
    assertThat(METRICS.required("part")).isEqualTo(1505);
    assertThatThrownBy(() -> METRICS.required("par"))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("par: ");
  }

  @Test
  void oneLabelCanBeAskedFor() {
    assertThat(METRICS.with("part", "\"leased\"")).isEqualTo(5);
  }
}
