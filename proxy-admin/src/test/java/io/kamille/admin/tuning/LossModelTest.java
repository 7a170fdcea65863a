package io.kamille.admin.tuning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kamille.core.socket.CongestionControl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LossModelTest {

  /** Mean windows of Linux 6.18 over the path emulator, 2026-11-22: the law was fitted to such. */
  @ParameterizedTest
  @CsvSource({
    "RENO, 0.001, 0.01, 41.74",
    "RENO, 0.01, 0.05, 12.98",
    "RENO, 0.04, 0.1, 5.76",
    "CUBIC, 0.001, 0.01, 38.52",
    "CUBIC, 0.01, 0.05, 11.76",
    "CUBIC, 0.04, 0.1, 5.20",
  })
  void theFittedModelIsWithinATenthOfMeasuredWindows(
      CongestionControl control, double p, double rtt, double measured) {
    double window = LossModel.segments(control, p, rtt);
    assertThat(window / measured).isCloseTo(1, within(0.1));
  }

  @Test
  void moreLossNeverMakesAWindowLarger() {
    double before = Double.MAX_VALUE;
    for (double p = 1e-7; p <= 0.5; p *= 1.5) {
      double window = LossModel.segments(CongestionControl.CUBIC, p, 0.05);
      assertThat(window).isPositive().isLessThanOrEqualTo(before);
      before = window;
    }
  }
}
