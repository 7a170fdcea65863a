package io.kamille.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ManualClockTest {

  @Test
  void standsStillUntilItIsMoved() {
    ManualClock clock = ManualClock.at(1_500L);
    assertThat(clock.epochMillis()).isEqualTo(1_500L);
    assertThat(clock.nanos()).isZero();
  }

  @Test
  void movesBothReadingsTogether() {
    ManualClock clock = ManualClock.atSeconds(10L);
    clock.advance(Duration.ofMillis(2_500L));
    assertThat(clock.epochSeconds()).isEqualTo(12L);
    assertThat(clock.epochMillis()).isEqualTo(12_500L);
    assertThat(clock.nanos()).isEqualTo(2_500_000_000L);
  }

  @Test
  void neverGoesBackwards() {
    ManualClock clock = ManualClock.at(0L);
    assertThatThrownBy(() -> clock.advance(Duration.ofNanos(-1L)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("step: PT-0.000000001S (expected: zero or more)");
  }

  @Test
  void secondsBeforeTheEpochRoundDown() {
    assertThat(ManualClock.at(-1L).epochSeconds()).isEqualTo(-1L);
  }
}
