package io.kamille.core.h2;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** RFC 9218 §4: two members of a dictionary count, and what cannot be read counts as absent. */
class PriorityTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''          | 3 | false",
        "u=0         | 0 | false",
        "u=7, i      | 7 | true",
        "i           | 3 | true",
        "i=?1        | 3 | true",
        "i, i=?0     | 3 | false",
        "u=5,u=2     | 2 | false",
        "' u=1\t,\ti '| 1 | true",
        "u=8         | 3 | false",
        "u=-1        | 3 | false",
        "u=10        | 3 | false",
        "u           | 3 | false",
        "i=1         | 3 | false",
        "x=9, u=1    | 1 | false",
        "u=1;a=b, i;c| 1 | true",
        ",,          | 3 | false"
      })
  void urgencyAndIncrementalAreRead(String value, int urgency, boolean isIncremental) {
    byte[] octets = ("[" + value + "]").getBytes(StandardCharsets.US_ASCII);
    assertThat(Priority.parse(octets, 1, octets.length - 1))
        .isEqualTo(new Priority(urgency, isIncremental));
  }
}
