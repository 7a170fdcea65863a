package io.kamille.admin.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BearerTokenTest {

  private static final String SECRET = "0123456789abcdefghijABCDEFGHIJ-_";

  private final BearerToken token = BearerToken.parse(SECRET);

  @ParameterizedTest
  @ValueSource(strings = {"Bearer " + SECRET, "bearer " + SECRET, "BEARER   " + SECRET + " "})
  void theSchemeIgnoresCase(String authorization) {
    assertThat(token.isIn(authorization)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "Bearer", "Bearer ", SECRET, "Basic " + SECRET, "Bearer " + SECRET + "a"})
  void anythingElseIsNotTheToken(String authorization) {
    assertThat(token.isIn(authorization)).isFalse();
  }

  @Test
  void noFieldIsNoToken() {
    assertThat(token.isIn(null)).isFalse();
  }

  @Test
  void theSecretIsNeverPrinted() {
    assertThat(token.toString()).doesNotContain(SECRET);
    assertThatThrownBy(() -> BearerToken.parse(SECRET + "!"))
        .isInstanceOf(IllegalArgumentException.class)
        .message()
        .doesNotContain(SECRET);
  }
}
