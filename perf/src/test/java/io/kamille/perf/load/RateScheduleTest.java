package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RateScheduleTest {

  private static final Duration SECOND = Duration.ofSeconds(1);

  private final RateSchedule upAndDown =
      RateSchedule.steady(1000, SECOND)
          .step(60_000, SECOND.multipliedBy(2))
          .ramp(0, SECOND)
          .ramp(2000, SECOND);

  @Test
  void stepsJumpAndRampsGoStraight() {
    assertThat(upAndDown.ratePerSecond(999_999_999)).isEqualTo(1000);
    assertThat(upAndDown.ratePerSecond(1_000_000_000)).isEqualTo(60_000);
    assertThat(upAndDown.ratePerSecond(3_500_000_000L)).isEqualTo(30_000);
    assertThat(upAndDown.ratePerSecond(4_500_000_000L)).isEqualTo(1000);
    assertThat(upAndDown.ratePerSecond(upAndDown.durationNanos())).isZero();
  }

  @Test
  void theExpectedCountIsTheAreaUnderTheRate() {
    assertThat(upAndDown.durationNanos()).isEqualTo(5_000_000_000L);
    assertThat(upAndDown.expectedCount()).isEqualTo(1000 + 120_000 + 30_000 + 1000);
  }

  @Test
  void aCountIsReachedWhenThatMuchAreaIsBehind() {
    assertThat(upAndDown.nanosAtCount(0)).isZero();
    assertThat(upAndDown.nanosAtCount(500)).isEqualTo(500_000_000);
    assertThat(upAndDown.nanosAtCount(1000)).isEqualTo(1_000_000_000);
    assertThat(upAndDown.nanosAtCount(61_000)).isEqualTo(2_000_000_000);
    // Three quarters of the falling ramp's area lie in its first half.
    assertThat(upAndDown.nanosAtCount(121_000 + 22_500)).isEqualTo(3_500_000_000L);
    assertThat(upAndDown.nanosAtCount(151_000 + 250)).isEqualTo(4_500_000_000L);
    assertThat(upAndDown.nanosAtCount(152_000)).isEqualTo(RateSchedule.NEVER);
  }

  @Test
  void countsAreReachedInOrder() {
    long before = 0;
    for (double count = 0; count < upAndDown.expectedCount(); count += 7.3) {
      long nanos = upAndDown.nanosAtCount(count);
      assertThat(nanos).isBetween(before, upAndDown.durationNanos());
      before = nanos;
    }
  }

  @Test
  void nothingArrivesAtRateZero() {
    var pause = RateSchedule.steady(0, SECOND).step(10, SECOND);
    assertThat(pause.nanosAtCount(0)).isEqualTo(1_000_000_000);
    assertThat(pause.nanosAtCount(1)).isCloseTo(1_100_000_000, within(1L));
    assertThat(RateSchedule.steady(0, SECOND).nanosAtCount(0)).isEqualTo(RateSchedule.NEVER);
  }

  @Test
  void whatNoScheduleCanBeIsRefused() {
    assertThatThrownBy(() -> RateSchedule.steady(-1, SECOND)).hasMessageStartingWith("rate: -1");
    assertThatThrownBy(() -> RateSchedule.steady(1, Duration.ZERO))
        .hasMessageStartingWith("duration: PT0S");
  }
}
