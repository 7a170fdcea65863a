package io.kamille.admin.tuning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kamille.core.socket.CongestionControl;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class LossModelTest {

  /** Windows that Linux 6.18 had over an emulated path (perf/log, 2026-11-22-wan). */
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
    double window = LossModel.FITTED.segments(control, p, rtt, 0.2 + rtt);
    assertThat(window / measured).isCloseTo(1, within(0.1));
  }

  /** Windows that another implementation of the formula gave for what was measured there. */
  @ParameterizedTest
  @CsvSource({
    "0.001, 0.05, 36.92",
    "0.01, 0.1, 11.26",
    "0.01, 0.01, 8.62",
    "0.04, 0.01, 2.30",
    "0.04, 0.1, 4.67",
  })
  void theModelOfPadhyeHasItsTimeouts(double p, double rtt, double expected) {
    double window = LossModel.PADHYE.segments(CongestionControl.RENO, p, rtt, 0.2 + rtt);
    assertThat(window / expected).isCloseTo(1, within(0.08));
  }

  @ParameterizedTest
  @EnumSource
  void moreLossNeverMakesAWindowLarger(LossModel model) {
    double before = Double.MAX_VALUE;
    for (double p = 1e-7; p <= 0.5; p *= 1.5) {
      double window = model.segments(CongestionControl.CUBIC, p, 0.05, 0.25);
      assertThat(window).isPositive().isLessThanOrEqualTo(before);
      before = window;
    }
  }
}
