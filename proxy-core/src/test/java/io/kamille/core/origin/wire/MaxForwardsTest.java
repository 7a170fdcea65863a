package io.kamille.core.origin.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.RequestHead;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MaxForwardsTest {

  private static int of(String method, String value) {
    RequestHead request = RequestHead.of(method, "http://h.test/");
    request.fields().add("Max-Forwards", value);
    return MaxForwards.of(request);
  }

  /** RFC 9110 §7.6.2: a longer one is passed on as it came. */
  @ParameterizedTest
  @CsvSource({"0, 0", "10, 10", "999999999, 999999999", "1000000000, -1", "-1, -1", "1x, -1"})
  void aNumberHasNineDigitsAtTheMost(String value, int number) {
    assertThat(of("OPTIONS", value)).isEqualTo(number);
    assertThat(of("OPTIONS", "9".repeat(10_000))).isEqualTo(-1);
  }

  @Test
  void itCountsForOptionsAlone() {
    assertThat(of("GET", "0")).isEqualTo(-1);
  }
}
