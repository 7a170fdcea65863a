package io.kamille.cache.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.Fields;
import io.kamille.core.http.HttpDate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** RFC 9111 §4.2.3 and §5.1: age. */
class CurrentAgeTest {

  private static final long NOW = 1_800_000_000;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "7200       | 7200",
        "007        | 7",
        "7200,0     | 7200",
        "7200 , 0   | 7200",
        "0,7200     | 0",
        "abc        | 0",
        "-7200      | 0",
        "+7200      | 0",
        "7200.0     | 0",
        "7200x      | 0",
        "72 00      | 0",
        "\"7200\"   | 0",
        "''         | 0",
        "',7200'    | 0",
        "99999999999999999999 | 2147483647",
      })
  void theFirstMemberOfAgeCountsIfItIsANumber(String age, int expected) {
    assertThat(CurrentAge.ageValue(Fields.of("Age", age))).isEqualTo(expected);
  }

  @Test
  void theFirstAgeLineCounts() {
    assertThat(CurrentAge.ageValue(Fields.of("Age", "5", "Age", "7"))).isEqualTo(5);
    assertThat(CurrentAge.ageValue(Fields.of("Age", "x", "Age", "7"))).isZero();
  }

  @Test
  void initialAgeIsTheGreaterOfApparentAgeAndAge() {
    assertThat(initial("Date", HttpDate.format(NOW - 30), "Age", "10")).isEqualTo(30);
    assertThat(initial("Date", HttpDate.format(NOW - 30), "Age", "100")).isEqualTo(100);
  }

  @Test
  void aDateAheadOfOurClockIsNoNegativeAge() {
    assertThat(initial("Date", HttpDate.format(NOW + 30))).isZero();
  }

  @Test
  void theTimeTheResponseTookIsAdded() {
    var fields = Fields.of("Date", HttpDate.format(NOW), "Age", "10");
    assertThat(CurrentAge.correctedInitialAge(fields, NOW - 4, NOW)).isEqualTo(14);
  }

  @Test
  void aClockSetBackBetweenRequestAndResponseTakesNothingAway() {
    assertThat(CurrentAge.correctedInitialAge(Fields.of("Age", "10"), NOW + 4, NOW)).isEqualTo(10);
  }

  @Test
  void anAbsentOrInvalidDateIsTheTimeOfReception() {
    assertThat(initial("Date", "x")).isZero();
    assertThat(initial()).isZero();
  }

  @Test
  void ageSaturates() {
    assertThat(initial("Age", "2147483647")).isEqualTo(Integer.MAX_VALUE);
    assertThat(CurrentAge.at(NOW + 100, Integer.MAX_VALUE, NOW)).isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void residentTimeIsAdded() {
    assertThat(CurrentAge.at(NOW + 7, 3, NOW)).isEqualTo(10);
  }

  @Test
  void ageIsNeverNegative() {
    assertThat(CurrentAge.at(NOW - 100, 3, NOW)).isEqualTo(3);
  }

  private static int initial(String... namesAndValues) {
    return CurrentAge.correctedInitialAge(Fields.of(namesAndValues), NOW, NOW);
  }
}
