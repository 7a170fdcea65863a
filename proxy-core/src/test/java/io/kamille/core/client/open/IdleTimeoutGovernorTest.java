package io.kamille.core.client.open;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IdleTimeoutGovernorTest {

  private static final int LIMIT = 10_000;
  private static final int THRESHOLD = 7_000;
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final long CONFIGURED = 75 * SECOND;

  private final IdleTimeoutGovernor governor = new IdleTimeoutGovernor(0.7);

  @Test
  void upToHalfTheThresholdTheConfiguredTimeoutHolds() {
    assertThat(timeout(0)).isEqualTo(CONFIGURED);
    assertThat(timeout(THRESHOLD / 2)).isEqualTo(CONFIGURED);
    assertThat(timeout(THRESHOLD / 2 + 500)).isLessThan(CONFIGURED);
  }

  @Test
  void fromTheThresholdOnTheTimeoutIsOneSecond() {
    assertThat(timeout(THRESHOLD - 1)).isGreaterThan(SECOND);
    assertThat(timeout(THRESHOLD)).isEqualTo(SECOND);
    assertThat(timeout(LIMIT)).isEqualTo(SECOND);
    assertThat(timeout(2 * LIMIT)).isEqualTo(SECOND);
  }

  @Test
  void everyConnectionMoreShortensItAndNoneByMuch() {
    for (int open = THRESHOLD / 2; open < THRESHOLD; open++) {
      long fewer = timeout(open);
      assertThat(timeout(open + 1))
          .as("with %d open", open + 1)
          .isLessThan(fewer)
          .isGreaterThan(fewer - fewer / 200);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 10, 100, 500, 1_000, 3_000, 6_900})
  void theCountSettlesAtOrBelowTheThreshold(int newIdlePerSecond) {
    int open = 0;
    while (newIdlePerSecond * (timeout(open) / (double) SECOND) > open) {
      open++;
    }
    assertThat(open).isLessThanOrEqualTo(THRESHOLD);
    if (newIdlePerSecond >= 500) {
      assertThat(open).isGreaterThan(THRESHOLD * 3 / 4);
    }
  }

  @Test
  void aShortTimeoutIsLeftAlone() {
    assertThat(governor.idleTimeoutNanos(LIMIT, LIMIT, SECOND / 10)).isEqualTo(SECOND / 10);
  }

  @Test
  void withoutAThresholdTheConfiguredTimeoutHolds() {
    assertThat(IdleTimeoutGovernor.OFF.idleTimeoutNanos(LIMIT, LIMIT, CONFIGURED))
        .isEqualTo(CONFIGURED);
  }

  @Test
  void aThresholdOfNothingIsRefused() {
    assertThatThrownBy(() -> new IdleTimeoutGovernor(0))
        .hasMessage("threshold: 0.0 (expected: more than 0)");
  }

  private long timeout(int open) {
    return governor.idleTimeoutNanos(open, LIMIT, CONFIGURED);
  }
}
