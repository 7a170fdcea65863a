package io.kamille.core.setting;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SecretTextTest {

  private static boolean isSecret(String field, String written) {
    return new SecretText(written, "", null).isSecretOf(field);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"${file:x}", "Bearer ${file:x}", "session=${file:x}", "Basic ${file:a}${file:b}"})
  void whatStandsInAFileIsNoSecretOfTheText(String written) {
    assertThat(isSecret("Authorization", written)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "s3cret",
        "Bearer s3cret",
        "s3cret${file:x}",
        "${file:x}s3cret",
        "Bearer s3cret${file:x}",
        "session=s3cret; other=${file:x}",
        "${file:x"
      })
  void whatStandsBesideAFileIsOne(String written) {
    assertThat(isSecret("Cookie", written)).isTrue();
    assertThat(isSecret("X-Shop", written)).isFalse();
  }
}
