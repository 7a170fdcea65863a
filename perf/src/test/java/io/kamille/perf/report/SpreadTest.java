package io.kamille.perf.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class SpreadTest {

  @Test
  void oneOddRoundDoesNotMoveTheMedian() {
    assertThat(Spread.of(7.1, 90, 7.3, 7.0, 7.2)).isEqualTo(new Spread(7.0, 7.2, 90));
  }

  @Test
  void theMedianOfAnEvenNumberLiesBetweenTheTwoInTheMiddle() {
    assertThat(Spread.of(4, 1, 3, 2).median()).isEqualTo(2.5);
  }

  @Test
  void theExtremesFollowInParentheses() {
    assertThat(Spread.of(1, 2, 3.25).text(1)).isEqualTo("2.0 (1.0–3.3)");
  }

  @Test
  void nothingHasNoMiddle() {
    assertThatThrownBy(Spread::of).isInstanceOf(IllegalArgumentException.class);
  }
}
