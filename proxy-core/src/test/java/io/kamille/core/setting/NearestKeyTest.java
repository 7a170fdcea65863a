package io.kamille.core.setting;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which key was meant. */
class NearestKeyTest {

  @ParameterizedTest
  @CsvSource({"39, true", "40, true", "41, false", "1000000, false"})
  void aKeyOfMoreThan40LettersIsNoSlipOfTheHand(int length, boolean isGuessed) {
    String key = "x".repeat(Math.min(length, 100));
    Setting<Boolean> known = Setting.of(key, ValueTypes.onOff(), "One.").defaultsTo(false);
    assertThat(NearestKey.of("y" + "x".repeat(length - 1), List.of(known)))
        .isEqualTo(isGuessed ? key : null);
  }
}
