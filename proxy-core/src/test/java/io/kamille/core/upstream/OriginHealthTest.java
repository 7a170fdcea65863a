package io.kamille.core.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.time.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class OriginHealthTest {

  private final ManualClock clock = ManualClock.atSeconds(0);
  private final OriginHealth health = new OriginHealth(3, Duration.ofSeconds(10).toNanos());

  @Test
  void onlyFailuresInARowPutAnOriginOut() {
    fail(2);
    health.succeeded();
    fail(2);
    assertThat(health.isIn()).isTrue();
    fail(1);
    assertThat(health.isIn()).isFalse();
  }

  @Test
  void nobodyProbesBeforeTheWhileIsOver() {
    fail(3);
    clock.advance(Duration.ofMillis(9_999));
    assertThat(health.claimProbe(clock.nanos())).isFalse();
  }

  @Test
  void oneRequestProbesAndNoOtherUntilItHasEnded() {
    fail(3);
    clock.advance(Duration.ofSeconds(10));
    assertThat(health.claimProbe(clock.nanos())).isTrue();
    assertThat(health.claimProbe(clock.nanos())).isFalse();
    health.succeeded();
    assertThat(health.isIn()).isTrue();
  }

  @Test
  void aFailedProbeLeavesItOutForAnotherWhile() {
    fail(3);
    clock.advance(Duration.ofSeconds(12));
    assertThat(health.claimProbe(clock.nanos())).isTrue();
    fail(1);
    clock.advance(Duration.ofSeconds(9));
    assertThat(health.claimProbe(clock.nanos())).isFalse();
    clock.advance(Duration.ofSeconds(1));
    assertThat(health.claimProbe(clock.nanos())).isTrue();
  }

  private void fail(int times) {
    for (int i = 0; i < times; i++) {
      health.failed(clock.nanos());
    }
  }
}
