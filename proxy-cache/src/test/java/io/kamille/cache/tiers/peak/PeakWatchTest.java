package io.kamille.cache.tiers.peak;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.loop.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Requests tell the watch what the disk does, and ask it; the clock is moved by hand. */
class PeakWatchTest {

  /** 2027-01-15, eight in the morning. */
  private static final long NOW = 1_800_000_000;

  private final ManualClock clock = ManualClock.atSeconds(NOW);
  private final PeakWatch watch = new PeakWatch(PeakChoice.AUTO, () -> 0, clock);

  private void pass(long millis) {
    clock.advance(Duration.ofMillis(millis));
  }

  /** A second with ten reads, of which each takes so long. */
  private void second(long serviceMillis) {
    for (int i = 0; i < 10; i++) {
      if (watch.mayRead()) {
        long begin = watch.begin();
        long run = watch.run();
        pass(serviceMillis);
        watch.end(begin, run);
        pass(100 - serviceMillis);
      } else {
        pass(100);
      }
    }
  }

  private void enter() {
    watch.originAnswered(10_000_000);
    second(2);
    for (int i = 0; i < 3; i++) {
      second(90);
    }
    assertThat(watch.mayRead()).isFalse();
    assertThat(watch.mode()).isEqualTo(TierMode.PEAK);
  }

  @Test
  void atAPeakNothingIsReadOrWrittenAndThatIsCounted() {
    enter();
    assertThat(watch.mayWrite()).isFalse();
    PeakSnapshot snapshot = watch.snapshot();
    assertThat(snapshot.mode()).isEqualTo(TierMode.PEAK);
    assertThat(snapshot.skippedReads()).isEqualTo(1);
    assertThat(snapshot.skippedWrites()).isEqualTo(1);
    assertThat(snapshot.readNanos()).isEqualTo(90e6);
    assertThat(snapshot.quietReadNanos()).isEqualTo(2e6);
    assertThat(snapshot.originNanos()).isEqualTo(10e6);
    assertThat(snapshot.sinceEpochSeconds()).isEqualTo(NOW + 4);
  }

  @Test
  void theTrialLetsAsManyReadsThroughAsItSaysAndNoWrites() {
    enter();
    for (int i = 0; i < 10; i++) {
      pass(1000);
      watch.snapshot();
    }
    assertThat(watch.snapshot().trialReads()).isEqualTo(4);
    for (int i = 0; i < 4; i++) {
      assertThat(watch.mayRead()).isTrue();
    }
    assertThat(watch.mayRead()).isFalse();
    assertThat(watch.mayWrite()).isFalse();
  }

  @Test
  void aDiskThatIsQuickAgainIsUsedAgain() {
    enter();
    for (int i = 0; i < 20 && watch.mode() == TierMode.PEAK; i++) {
      second(2);
    }
    assertThat(watch.mode()).isEqualTo(TierMode.NORMAL);
    assertThat(watch.mayRead()).isTrue();
    assertThat(watch.mayWrite()).isTrue();
  }

  @Test
  void theOperatorsWordHoldsAtOnce() {
    watch.choose(PeakChoice.FORCED);
    assertThat(watch.mayRead()).isFalse();
    watch.choose(PeakChoice.OFF);
    assertThat(watch.mayRead()).isTrue();
    assertThat(watch.mayWrite()).isTrue();
  }

  @Test
  void readsThatWereRefusedAreNotUnderWay() {
    for (int i = 0; i < 100; i++) {
      watch.begin();
      watch.refuse();
    }
    for (int i = 0; i < 10; i++) {
      pass(1000);
      assertThat(watch.mayRead()).isTrue();
    }
  }
}
