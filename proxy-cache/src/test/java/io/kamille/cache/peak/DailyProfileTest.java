package io.kamille.cache.peak;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.Test;

class DailyProfileTest {

  private final DailyProfile profile = new DailyProfile();
  private LocalDateTime now = LocalDateTime.of(2026, 11, 22, 0, 0);

  /** Lets time pass, minute by minute, with so many requests in each. */
  private void pass(int hours, ToIntFunction<LocalTime> requestsPerMinute) {
    for (int minute = 0; minute < hours * 60; minute++) {
      now = now.plusMinutes(1);
      profile.learn(now, 60, requestsPerMinute.applyAsInt(now.toLocalTime()));
    }
  }

  private static int noonRush(LocalTime time) {
    return time.isAfter(LocalTime.of(11, 30)) && time.isBefore(LocalTime.of(13, 0)) ? 4000 : 1000;
  }

  @Test
  void namesTheHoursThatHaveFarMoreThanTheMean() {
    pass(25, DailyProfileTest::noonRush);
    assertThat(profile.busyHours())
        .containsExactly(new PeakHours(LocalTime.of(11, 30), LocalTime.of(13, 0)));
  }

  @Test
  void saysNothingBeforeMostOfADayIsKnown() {
    pass(17, DailyProfileTest::noonRush);
    assertThat(profile.busyHours()).isEmpty();
    pass(2, DailyProfileTest::noonRush);
    assertThat(profile.busyHours()).isNotEmpty();
  }

  @Test
  void anEvenDayHasNoPeak() {
    pass(48, time -> 1000);
    assertThat(profile.busyHours()).isEmpty();
  }

  @Test
  void oneOddDayDoesNotMakeAPeakOfAWeek() {
    pass(7 * 24, time -> 1000);
    pass(24, time -> time.getHour() == 3 ? 3000 : 1000);
    assertThat(profile.busyHours()).isEmpty();
  }

  @Test
  void aPeakThatHasMovedIsFoundWithinAWeek() {
    pass(7 * 24, DailyProfileTest::noonRush);
    pass(7 * 24, time -> time.getHour() == 18 ? 4000 : 1000);
    assertThat(profile.busyHours())
        .contains(new PeakHours(LocalTime.of(18, 0), LocalTime.of(19, 0)));
  }

  @Test
  void nightsEndAtMidnight() {
    pass(49, time -> time.getHour() == 23 ? 9000 : 1000);
    assertThat(profile.busyHours())
        .containsExactly(new PeakHours(LocalTime.of(23, 0), LocalTime.MIDNIGHT));
  }
}
