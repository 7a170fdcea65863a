package io.kamille.core.server.h1;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Content has a grace period of 20 s, and then one second for each 10 octets that came. */
class UploadPaceTest {

  private static final long GRACE = Duration.ofSeconds(20).toNanos();
  private static final long RATE = 10;

  private final UploadPace pace = new UploadPace();
  private long now = Long.MAX_VALUE - 1_000;

  @Test
  void nobodyIsSlowWithinTheGracePeriod() {
    pace.begin(now);
    pass(20);
    assertThat(isTooSlow()).isFalse();
    now++;
    assertThat(isTooSlow()).isTrue();
  }

  @Test
  void onlyOctetsBuyTime() {
    pace.begin(now);
    pace.arrived(25);
    pass(22);
    assertThat(isTooSlow()).isFalse();
    pass(1);
    assertThat(isTooSlow()).isTrue();
    pace.arrived(10);
    assertThat(isTooSlow()).isFalse();
  }

  @Test
  void timeBeforeTheClientMaySendDoesNotCount() {
    pass(100);
    assertThat(isTooSlow()).isFalse();
    pace.hold(now);
    pace.begin(now);
    pace.release(now);
    pass(20);
    pace.begin(now);
    assertThat(isTooSlow()).isFalse();
    pass(1);
    assertThat(isTooSlow()).isTrue();
  }

  @Test
  void timeInWhichWeDoNotReadDoesNotCount() {
    pace.begin(now);
    pass(15);
    pace.hold(now);
    pass(10);
    pace.hold(now);
    pass(90);
    assertThat(isTooSlow()).isFalse();
    pace.release(now);
    pace.release(now);
    pass(5);
    assertThat(isTooSlow()).isFalse();
    pass(1);
    assertThat(isTooSlow()).isTrue();
  }

  @Test
  void withoutARateNobodyIsSlow() {
    pace.begin(now);
    pass(1_000_000);
    assertThat(pace.isTooSlow(now, GRACE, 0)).isFalse();
  }

  private void pass(long seconds) {
    now += Duration.ofSeconds(seconds).toNanos();
  }

  private boolean isTooSlow() {
    return pace.isTooSlow(now, GRACE, RATE);
  }
}
