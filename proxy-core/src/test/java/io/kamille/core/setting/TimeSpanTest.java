package io.kamille.core.setting;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TimeSpanTest {

  @ParameterizedTest
  @CsvSource({
    "250ms, 250",
    "30s, 30000",
    "5m, 300000",
    "1h, 3600000",
    "7d, 604800000",
    "0s, 0",
    "10 S, 10000"
  })
  void aNumberAndAUnit(String text, long millis) {
    assertThat(TimeSpan.parse(text)).isEqualTo(Duration.ofMillis(millis));
  }

  @ParameterizedTest
  @CsvSource({"500us, 500", "1500us, 1500", "0us, 0", "2 US, 2"})
  void microsecondsAreWrittenUs(String text, long micros) {
    assertThat(TimeSpan.parse(text)).isEqualTo(Duration.ofNanos(1_000 * micros));
  }

  @ParameterizedTest
  @CsvSource({"500, 500us", "1500, 1500us", "2000, 2ms"})
  void printsMicrosecondsWhereMillisecondsDoNotDo(long micros, String text) {
    assertThat(TimeSpan.print(Duration.ofNanos(1_000 * micros))).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "30", "s", "-1s", "1.5s", "1h30m", "1w", "999999999999999999d"})
  void everythingElseIsRefused(String text) {
    assertThat(TimeSpan.parse(text)).isNull();
  }

  @ParameterizedTest
  @CsvSource({"0, 0s", "250, 250ms", "1500, 1500ms", "75000, 75s", "60000, 1m", "86400000, 24h"})
  void printsTheGreatestUnitThatDivides(long millis, String text) {
    assertThat(TimeSpan.print(Duration.ofMillis(millis))).isEqualTo(text);
  }

  @Test
  void whatIsPrintedIsReadBack() {
    for (long millis = 0; millis < 1L << 50; millis = millis * 3 + 1) {
      Duration duration = Duration.ofMillis(millis);
      assertThat(TimeSpan.parse(TimeSpan.print(duration))).isEqualTo(duration);
    }
  }
}
