package io.kamille.core.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** 10 octets a second in each 30 s: 300 octets in each window. */
class LeastRateTest {

  private static final long GRACE = Duration.ofSeconds(30).toNanos();
  private static final long LEAST = 10;

  private long now = Long.MAX_VALUE - 1_000;
  private final LeastRate rate = new LeastRate(now, 1_000);

  @Test
  void nobodyIsSlowWithinTheGracePeriod() {
    pass(29);
    assertThat(rate.isDue(now, GRACE)).isFalse();
    assertThat(isTooSlow(1_000)).isFalse();
    pass(1);
    assertThat(rate.isDue(now, GRACE)).isTrue();
    assertThat(isTooSlow(1_000)).isTrue();
  }

  @Test
  void theLeastRateIsEnough() {
    pass(30);
    assertThat(isTooSlow(1_300)).isFalse();
    pass(30);
    assertThat(isTooSlow(1_600)).isFalse();
    pass(30);
    assertThat(isTooSlow(1_899)).isTrue();
  }

  @Test
  void whatMovedBeforeGivesNoCredit() {
    pass(30);
    assertThat(isTooSlow(1_000_000)).isFalse();
    pass(30);
    assertThat(isTooSlow(1_000_299)).isTrue();
  }

  @Test
  void lateLooksAskForNoMoreThanTimelyOnes() {
    pass(3_600);
    assertThat(isTooSlow(1_300)).isFalse();
  }

  @Test
  void timeInWhichNothingCanMoveDoesNotCount() {
    pass(15);
    rate.hold(now);
    pass(10);
    rate.hold(now);
    pass(90);
    assertThat(isTooSlow(1_000)).isFalse();
    rate.release(now);
    rate.release(now);
    pass(14);
    assertThat(isTooSlow(1_000)).isFalse();
    pass(1);
    assertThat(isTooSlow(1_000)).isTrue();
  }

  @Test
  void withoutARateNobodyIsSlow() {
    pass(1_000_000);
    assertThat(rate.isTooSlow(now, 1_000, GRACE, 0)).isFalse();
  }

  private void pass(long seconds) {
    now += Duration.ofSeconds(seconds).toNanos();
  }

  private boolean isTooSlow(long moved) {
    return rate.isTooSlow(now, moved, GRACE, LEAST);
  }
}
