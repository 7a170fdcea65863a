package io.kamille.cache.tiers.peak;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.LocalTime;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PeakHoursTest {

  private static PeakHours parsed(String text) {
    return Objects.requireNonNull(PeakHours.parse(text));
  }

  @ParameterizedTest
  @CsvSource({
    "11:45-13:15, 11:44, false",
    "11:45-13:15, 11:45, true",
    "11:45-13:15, 13:14, true",
    "11:45-13:15, 13:15, false",
    "23:00-01:00, 22:59, false",
    "23:00-01:00, 23:00, true",
    "23:00-01:00, 00:59, true",
    "23:00-01:00, 01:00, false",
    "23:00-00:00, 23:59, true",
    "23:00-00:00, 00:00, false",
  })
  void theyHaveTheirFirstMomentAndNotTheirEnd(String hours, String time, boolean isIn) {
    assertThat(parsed(hours).has(LocalTime.parse(time))).isEqualTo(isIn);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "11:45",
        "11:45-",
        "-13:15",
        "11:45-11:45",
        "24:00-01:00",
        "11:60-12:00",
        "1:45-2:15",
        "11:45 - 13:15",
        "11:45-13:15 ",
        "11:45-13:15-14:00",
        "11:45:00-13:15:00"
      })
  void whatIsNoPairOfTimesIsNone(String text) {
    assertThat(PeakHours.parse(text)).isNull();
  }

  @Test
  void theyAreWrittenAsTheyAreRead() {
    assertThat(parsed("09:00-17:30").toString()).isEqualTo("09:00-17:30");
  }
}
