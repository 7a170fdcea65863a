package io.kamille.core.origin.send;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.Fields;
import io.kamille.core.http.HttpDate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RetryAfterTest {

  private static final long NOW = 1_700_000_000;

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "120, 120",
    "999999999999999999999, 2147483647",
    "-5, 0",
    "1.5, 0",
    "soon, 0"
  })
  void aNumberOfSecondsOrNothing(String value, long seconds) {
    assertThat(RetryAfter.seconds(Fields.of("Retry-After", value), NOW)).isEqualTo(seconds);
  }

  @Test
  void aDateIsSoManySecondsAhead() {
    Fields fields = Fields.of("Retry-After", HttpDate.format(NOW + 90));
    assertThat(RetryAfter.seconds(fields, NOW)).isEqualTo(90);
    assertThat(RetryAfter.seconds(fields, NOW + 100)).isNegative();
  }

  @Test
  void noFieldSaysNothing() {
    assertThat(RetryAfter.seconds(Fields.of(), NOW)).isZero();
  }
}
