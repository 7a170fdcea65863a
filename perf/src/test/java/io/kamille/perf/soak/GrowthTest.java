package io.kamille.perf.soak;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class GrowthTest {

  @Test
  void whatGrowsSteadilyIsTold() {
    var growth = new Growth();
    for (int second = 0; second < 400; second++) {
      growth.add(1000L * second);
    }
    assertThat(growth.isTelling()).isTrue();
    assertThat(growth.bytes()).isEqualTo(299_000);
  }

  @Test
  void theFirstQuarterDoesNotCount() {
    var growth = new Growth();
    for (int second = 0; second < 400; second++) {
      growth.add(Math.min(second, 100) * 1000L);
    }
    assertThat(growth.bytes()).isZero();
  }

  @Test
  void fewReadingsSayNothing() {
    var growth = new Growth();
    growth.add(5);
    assertThat(growth.isTelling()).isFalse();
    assertThat(growth.bytes()).isZero();
  }
}
