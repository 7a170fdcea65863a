package io.kamille.core.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 9110 §9. */
class MethodTest {

  @ParameterizedTest
  @CsvSource({
    "GET, true, true", "HEAD, true, true", "OPTIONS, true, true", "TRACE, true, true",
    "PUT, false, true", "DELETE, false, true", "POST, false, false", "CONNECT, false, false",
    "PATCH, false, false"
  })
  void safeAndIdempotentAreAsRegistered(String text, boolean isSafe, boolean isIdempotent) {
    Method method = of(text);
    assertThat(method.name()).isEqualTo(text);
    assertThat(method.isSafe()).isEqualTo(isSafe);
    assertThat(method.isIdempotent()).isEqualTo(isIdempotent);
  }

  @ParameterizedTest
  @ValueSource(strings = {"get", "GETS", "GE", "PROPFIND", "OTHER", "M-SEARCH", ""})
  void methodsAreCaseSensitiveAndUnknownOnesAreNeither(String text) {
    assertThat(of(text)).isEqualTo(Method.OTHER);
    assertThat(Method.OTHER.isSafe()).isFalse();
    assertThat(Method.OTHER.isIdempotent()).isFalse();
  }

  @Test
  void onlyTheGivenOctetsCount() {
    byte[] octets = Fields.octetsOf("xGETx");
    assertThat(Method.of(octets, 1, 4)).isEqualTo(Method.GET);
  }

  private static Method of(String text) {
    byte[] octets = Fields.octetsOf(text);
    return Method.of(octets, 0, octets.length);
  }
}
