package io.kamille.core.gate;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.loop.ManualClock;
import io.kamille.core.setting.Sections;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

/** Ten requests a second, five at once. */
class RateLimitTest {

  private static final long INTERVAL = Duration.ofMillis(100).toNanos();

  private final ManualClock clock = ManualClock.atSeconds(0);
  private final RateLimit limit =
      new RateLimit(
          Sections.of(RateLimitSettings.SECTION, "{rate: 10/s, burst: 5}"),
          "r",
          new LongAdder(),
          AddressMask.FULL,
          clock::nanos);

  @Test
  void aBurstComesThroughAndTheNextOneWaitsForOneInterval() {
    for (int i = 0; i < 5; i++) {
      assertThat(limit.waitNanos(7)).isZero();
    }
    assertThat(limit.waitNanos(7)).isEqualTo(INTERVAL);
    clock.advance(Duration.ofMillis(99));
    assertThat(limit.waitNanos(7)).isEqualTo(INTERVAL / 100);
    clock.advance(Duration.ofMillis(1));
    assertThat(limit.waitNanos(7)).isZero();
    assertThat(limit.waitNanos(7)).isEqualTo(INTERVAL);
  }

  @Test
  void inTheLongRunTheRateComesThroughWhateverIsRefused() {
    int passed = 0;
    for (int i = 0; i < 10_000; i++) {
      passed += limit.waitNanos(7) <= 0 ? 1 : 0;
      clock.advance(Duration.ofMillis(1));
    }
    assertThat(passed).isEqualTo(100 + 4);
  }

  @Test
  void aTimeWithoutRequestsBringsBackNoMoreThanTheBurst() {
    exhaust(7);
    clock.advance(Duration.ofHours(1));
    for (int i = 0; i < 5; i++) {
      assertThat(limit.waitNanos(7)).isZero();
    }
    assertThat(limit.waitNanos(7)).isPositive();
  }

  @Test
  void keysAreCountedForThemselves() {
    exhaust(1L << 60);
    assertThat(limit.waitNanos(2L << 60)).isZero();
    assertThat(limit.waitNanos((1L << 60) + 1)).isZero();
    assertThat(limit.waitNanos(1L << 60)).isPositive();
  }

  @Test
  void noKeyIsTakenForAnEmptyPlace() {
    exhaust(0);
    assertThat(limit.waitNanos(0)).isPositive();
  }

  /** Keys of one set: the ninth takes the place of the one that is full again soonest. */
  @Test
  void aFullSetForgetsTheKeyThatCountsLeast() {
    limit.waitNanos(100);
    for (long key = 1; key < 8; key++) {
      exhaust(key);
    }
    exhaust(8);
    for (long key = 1; key <= 8; key++) {
      assertThat(limit.waitNanos(key)).as("key " + key).isPositive();
    }
    assertThat(limit.waitNanos(100)).isZero();
  }

  @Test
  void keysThatArePastMakeRoomFirst() {
    for (long key = 1; key <= 8; key++) {
      limit.waitNanos(key);
    }
    clock.advance(Duration.ofSeconds(10));
    exhaust(1);
    for (long key = 9; key < 16; key++) {
      limit.waitNanos(key);
    }
    assertThat(limit.waitNanos(1)).isPositive();
  }

  private void exhaust(long key) {
    for (int i = 0; i < 5; i++) {
      limit.waitNanos(key);
    }
  }
}
