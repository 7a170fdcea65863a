package io.kamille.core.server.h1;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class DownloadPaceTest {

  private static final long GRACE = seconds(30);
  private static final long LEAST = 10;

  private final DownloadPace pace = new DownloadPace();

  @Test
  void theFirstLookOnlyBeginsAWindow() {
    assertThat(pace.isDue(seconds(5), GRACE)).isTrue();
    assertThat(look(5, 0)).isFalse();
  }

  @Test
  void withinAWindowNoLookIsDue() {
    look(0, 0);
    assertThat(pace.isDue(seconds(29), GRACE)).isFalse();
    assertThat(pace.isDue(seconds(30), GRACE)).isTrue();
  }

  @Test
  void whoTakesTheLeastRateIsInTime() {
    look(0, 1_000);
    assertThat(look(30, 1_300)).isFalse();
    assertThat(look(60, 1_600)).isFalse();
  }

  @Test
  void whoTakesLessIsTooSlow() {
    look(0, 1_000);
    assertThat(look(30, 1_299)).isTrue();
  }

  @Test
  void whatWasTakenBeforeGivesNoCredit() {
    look(0, 0);
    assertThat(look(30, 1_000_000)).isFalse();
    assertThat(look(60, 1_000_299)).isTrue();
  }

  @Test
  void lateLooksAskForNoMoreThanTimelyOnes() {
    look(0, 0);
    assertThat(look(3_600, 300)).isFalse();
  }

  private boolean look(long second, long taken) {
    return pace.isTooSlow(seconds(second), taken, GRACE, LEAST);
  }

  private static long seconds(long seconds) {
    return TimeUnit.SECONDS.toNanos(seconds);
  }
}
