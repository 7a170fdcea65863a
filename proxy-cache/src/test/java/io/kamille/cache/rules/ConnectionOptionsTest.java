package io.kamille.cache.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.Fields;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 9110 §7.6.1: fields that Connection names do not reach the origin. */
class ConnectionOptionsTest {

  private static boolean hides(String connection) {
    return ConnectionOptions.hideFields(
        Fields.of("X-Device", "phone", "TE", "trailers", "Connection", connection));
  }

  @ParameterizedTest
  @ValueSource(strings = {"X-Device", "close, x-device", "close ,\tX-DEVICE ", "X-Device,close"})
  void aFieldThatIsNamedIsHidden(String connection) {
    assertThat(hides(connection)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "close",
        "Keep-Alive",
        "keep-alive, Upgrade, HTTP2-Settings",
        "TE",
        "X-Other",
        ","
      })
  void whatClientsUsuallySayHidesNothing(String connection) {
    assertThat(hides(connection)).isFalse();
  }

  @Test
  void everyLineCounts() {
    assertThat(
            ConnectionOptions.hideFields(
                Fields.of("A", "b", "Connection", "close", "Connection", "a")))
        .isTrue();
  }

  @Test
  void moreOptionsThanAnybodyNeedsAreSuspect() {
    assertThat(hides("x,".repeat(16))).isFalse();
    assertThat(hides("x,".repeat(17))).isTrue();
  }
}
