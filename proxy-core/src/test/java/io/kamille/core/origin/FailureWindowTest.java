package io.kamille.core.origin;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.loop.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class FailureWindowTest {

  private final ManualClock clock = ManualClock.atSeconds(0);
  private final FailureWindow window = new FailureWindow();

  @Test
  void halfOfTwentyIsTooMuch() {
    count(10, false);
    assertThat(count(9, true)).isFalse();
    assertThat(count(1, true)).isTrue();
  }

  @Test
  void fewAreNotJudged() {
    assertThat(count(19, true)).isFalse();
  }

  @Test
  void aSuccessPutsNobodyOut() {
    assertThat(count(19, true)).isFalse();
    assertThat(count(1, false)).isFalse();
  }

  @Test
  void whatIsLongerAgoCountsNoMore() {
    count(19, true);
    clock.advance(Duration.ofSeconds(10));
    assertThat(count(1, false)).isFalse();
    assertThat(count(18, true)).isFalse();
    assertThat(count(1, true)).isTrue();
  }

  @Test
  void twentyInARowAreTooMuchWhateverWasBefore() {
    count(100_000, false);
    assertThat(count(19, true)).isFalse();
    assertThat(count(1, true)).isTrue();
  }

  @Test
  void aRowLastsNoLongerThanItsWindow() {
    count(100_000, false);
    count(19, true);
    clock.advance(Duration.ofSeconds(10));
    assertThat(count(19, true)).isFalse();
    assertThat(count(1, true)).isTrue();
  }

  @Test
  void underAnotherLimitTheSameRequestsCount() {
    count(18, false);
    count(1, true);
    assertThat(window.count(true, 0.1, clock.nanos())).isTrue();
    window.clear();
    assertThat(count(19, true)).isFalse();
  }

  @Test
  void oneSuccessEndsARow() {
    count(100_000, false);
    count(19, true);
    count(1, false);
    assertThat(count(19, true)).isFalse();
  }

  @Test
  void whatIsForgottenCountsNoMore() {
    count(25, true);
    window.clear();
    assertThat(count(19, true)).isFalse();
  }

  @Test
  void theShareHoldsForMoreRequestsThanAreCounted() {
    count(1_500_000, false);
    assertThat(mostlyFailures(400_000)).isFalse();
    assertThat(mostlyFailures(4_000_000)).isTrue();
  }

  @Test
  void aLimitAboveOneIsNeverReached() {
    for (int i = 0; i < 100; i++) {
      assertThat(window.count(true, Double.MAX_VALUE, clock.nanos())).isFalse();
    }
  }

  /** A success before each three failures; whether the last one was too much. */
  private boolean mostlyFailures(int times) {
    boolean isTooMuch = false;
    for (int i = 0; i < times; i++) {
      isTooMuch = window.count(i % 4 != 0, 0.5, clock.nanos());
    }
    return isTooMuch;
  }

  /** Whether the last one was too much. */
  private boolean count(int times, boolean hasFailed) {
    boolean isTooMuch = false;
    for (int i = 0; i < times; i++) {
      isTooMuch = window.count(hasFailed, 0.5, clock.nanos());
    }
    return isTooMuch;
  }
}
