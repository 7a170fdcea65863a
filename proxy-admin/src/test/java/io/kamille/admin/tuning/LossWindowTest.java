package io.kamille.admin.tuning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class LossWindowTest {

  private final LossWindow window = new LossWindow();

  @Test
  void withoutLossesTheRateFallsWithWhatWasSent() {
    window.add(10_000, 0, 0, 1, 20);
    assertThat(window.eventRate(0.005)).isCloseTo(1 / 10_200.0, within(1e-5));
  }

  @Test
  void beforeAnythingWasSentTheGroupsRateHolds() {
    assertThat(window.eventRate(0.02)).isCloseTo(0.02, within(1e-9));
  }

  @Test
  void theRateOfManyLooksIsThatOfThePath() {
    var random = new SplittableRandom(11);
    for (int i = 0; i < 300; i++) {
      long lost = 0;
      for (int segment = 0; segment < 200; segment++) {
        lost += random.nextDouble() < 0.005 ? 1 : 0;
      }
      window.add(200, lost, 0, 1, 20);
    }
    assertThat(window.eventRate(0.005)).isCloseTo(0.005, within(0.003));
  }

  @Test
  void aBurstOfLossesInOneRoundTripIsOneEvent() {
    for (int i = 0; i < 40; i++) {
      window.add(1000, i % 4 == 0 ? 30 : 0, 0, 1, 1);
    }
    assertThat(window.events()).isLessThan(14);
  }

  @Test
  void aGroupThatHardlyLosesDoesNotOutweighLosses() {
    for (int i = 0; i < 60; i++) {
      window.add(200, 2, 0, 1, 20);
    }
    assertThat(window.eventRate(1e-9)).isBetween(0.005, 0.01);
    assertThat(window.eventRate(0)).isBetween(0.005, 0.01);
  }

  @Test
  void anotherPathStartsAfresh() {
    window.add(100, 50, 0, 1, 100);
    window.clear();
    assertThat(window.eventRate(0.001)).isCloseTo(0.001, within(1e-9));
  }
}
