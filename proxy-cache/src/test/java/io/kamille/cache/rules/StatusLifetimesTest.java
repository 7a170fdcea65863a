package io.kamille.cache.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StatusLifetimesTest {

  @Test
  void aCodeWinsOverItsClass() {
    var lifetimes = new StatusLifetimes(Map.of("4xx", 10, "404", 30));
    assertThat(lifetimes.secondsOf(404)).isEqualTo(30);
    assertThat(lifetimes.secondsOf(410)).isEqualTo(10);
    assertThat(lifetimes.secondsOf(500)).isEqualTo(CacheControl.ABSENT);
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 401, 403, 407, 408, 412, 413, 416, 417, 421, 429, 431})
  void aClassLeavesOutWhatOneRequestBringsAbout(int status) {
    assertThat(new StatusLifetimes(Map.of("4xx", 10)).secondsOf(status))
        .isEqualTo(CacheControl.ABSENT);
  }

  @Test
  void suchACodeMayBeNamed() {
    assertThat(new StatusLifetimes(Map.of("403", 5)).secondsOf(403)).isEqualTo(5);
  }

  @Test
  void codesOutsideTheTableHaveNone() {
    assertThat(StatusLifetimes.NONE.secondsOf(100)).isEqualTo(CacheControl.ABSENT);
    assertThat(StatusLifetimes.NONE.secondsOf(600)).isEqualTo(CacheControl.ABSENT);
  }

  @ParameterizedTest
  @ValueSource(strings = {"200", "302", "404", "418", "599", "2xx", "5xx"})
  void finalCodesAndTheirClassesCanHaveOne(String code) {
    assertThat(StatusLifetimes.isCode(code)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", "1xx", "6xx", "100", "199", "600", "206", "304", "401", "407", "412", "416", "417",
        "4XX", "40", "4040", "x04", "4x4", "٤٠٤"
      })
  void whatIsNeverStoredOrNoCodeCannot(String code) {
    assertThat(StatusLifetimes.isCode(code)).isFalse();
  }
}
