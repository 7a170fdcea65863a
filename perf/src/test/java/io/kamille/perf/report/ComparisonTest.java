package io.kamille.perf.report;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ComparisonTest {

  private static Comparison of(double... ratios) {
    return new Comparison(Spread.of(ratios));
  }

  @Test
  void theMedianAndTheExtremesAreToldInPerCent() {
    assertThat(of(1.11, 1.1, 1.09).text()).isEqualTo("+10.0 % (+9.0 … +11.0), beyond noise");
  }

  @Test
  void roundsThatDisagreeAreNoise() {
    assertThat(of(1.01, 0.99, 1.03).isBeyondNoise()).isFalse();
  }

  @Test
  void roundsThatAgreeBarelyAreNoise() {
    assertThat(of(1.01, 1.02, 1.3).isBeyondNoise()).isFalse();
  }

  @Test
  void oneRoundShowsNothing() {
    assertThat(of(2).isBeyondNoise()).isFalse();
  }
}
