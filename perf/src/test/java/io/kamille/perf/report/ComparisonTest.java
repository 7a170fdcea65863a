package io.kamille.perf.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ComparisonTest {

  @Test
  void roundsAreComparedWithEachOther() {
    var comparison = Comparison.of(new double[] {100, 200, 400}, new double[] {111, 220, 436});
    assertThat(comparison.text()).isEqualTo("+10.0 % (+9.0 … +11.0), beyond noise");
  }

  @Test
  void roundsThatDisagreeAreNoise() {
    var comparison = Comparison.of(new double[] {100, 100, 100}, new double[] {101, 99, 103});
    assertThat(comparison.isBeyondNoise()).isFalse();
  }

  @Test
  void roundsThatAgreeBarelyAreNoise() {
    var comparison = Comparison.of(new double[] {100, 100, 100}, new double[] {101, 102, 130});
    assertThat(comparison.isBeyondNoise()).isFalse();
  }

  @Test
  void oneRoundShowsNothing() {
    assertThat(Comparison.of(new double[] {100}, new double[] {200}).isBeyondNoise()).isFalse();
  }

  @Test
  void thereAreAsManyRoundsOfBoth() {
    assertThatThrownBy(() -> Comparison.of(new double[2], new double[1]))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Comparison.of(new double[0], new double[0]))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
