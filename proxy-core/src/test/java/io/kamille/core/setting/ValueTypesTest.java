package io.kamille.core.setting;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is printed can be read. */
class ValueTypesTest {

  @ParameterizedTest
  @CsvSource({
    "1, 1.0",
    "0, 0.0",
    "0.25, 0.25",
    ".5, 0.5",
    "0.001, 0.001",
    "0.0005, 0.0005",
    "0.000100, 0.0001",
    "0.000000001, 0.000000001"
  })
  void aRatioIsPrintedAsItIsWritten(String text, String printed) {
    ValueType<Double> type = ValueTypes.ratio();
    assertThat(type.print(Objects.requireNonNull(type.parse(text)))).isEqualTo(printed);
    assertThat(type.parse(printed)).isEqualTo(type.parse(text));
  }
}
