package io.kamille.core.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kamille.core.http.ByteRange.Outcome;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 9110 §14: range requests. */
class ByteRangeTest {

  @ParameterizedTest
  @CsvSource({
    "bytes=0-0,        0, 1",
    "bytes=0-99,       0, 100",
    "bytes=10-19,     10, 10",
    "bytes=99-99,     99, 1",
    "bytes=0-1000,     0, 100",
    "bytes=50-,       50, 50",
    "bytes=0-,         0, 100",
    "bytes=-1,        99, 1",
    "bytes=-100,       0, 100",
    "bytes=-1000,      0, 100",
    "BYTES=1-1,        1, 1",
    "bytes= 1-1 ,      1, 1",
    "bytes=001-002,    1, 2",
    "bytes=0-99999999999999999999999, 0, 100",
    "bytes=-99999999999999999999999,  0, 100"
  })
  void oneRangeIsHonoured(String value, long offset, long length) {
    assertThat(ByteRange.parse(value, 100))
        .isEqualTo(new ByteRange(Outcome.PART, offset, length, 100));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"bytes=100-", "bytes=100-200", "bytes=99999999999999999999999-", "bytes=-0"})
  void aRangeBeyondTheEndCannotBeSatisfied(String value) {
    assertThat(ByteRange.parse(value, 100).kind()).isEqualTo(Outcome.UNSATISFIABLE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "bytes",
        "bytes=",
        "bytes=-",
        "bytes=a-b",
        "bytes=1-a",
        "bytes=5-4",
        "bytes=1",
        "bytes=+1-2",
        "bytes=1--2",
        "bytes=--1",
        "bytes=0-0,2-3",
        "bytes=1 - 2",
        "bytes =1-2",
        "lines=1-2",
        "bytes:1-2",
        "bytes=0x1-2",
        "\u0661-\u0662"
      })
  void severalMalformedOrOtherRangesAreAnsweredByTheWhole(String value) {
    assertThat(ByteRange.parse(value, 100)).isEqualTo(new ByteRange(Outcome.WHOLE, 0, 100, 100));
  }

  @Test
  void noRangeOfNothingCanBeSatisfiedButItsEnd() {
    assertThat(ByteRange.parse("bytes=0-", 0).kind()).isEqualTo(Outcome.UNSATISFIABLE);
    assertThat(ByteRange.parse("bytes=-5", 0).kind()).isEqualTo(Outcome.WHOLE);
  }

  @Test
  void severalRangeLinesAreIgnored() {
    assertThat(ByteRange.of(Fields.of("Range", "bytes=0-1"), 9).kind()).isEqualTo(Outcome.PART);
    assertThat(ByteRange.of(Fields.of("Range", "bytes=0-1", "Range", "bytes=0-1"), 9).kind())
        .isEqualTo(Outcome.WHOLE);
    assertThat(ByteRange.of(Fields.of(), 9).kind()).isEqualTo(Outcome.WHOLE);
  }

  @Test
  void contentRangeTellsPartAndWhole() {
    assertThat(ByteRange.parse("bytes=10-19", 100).contentRange()).isEqualTo("bytes 10-19/100");
    assertThat(ByteRange.parse("bytes=100-", 100).contentRange()).isEqualTo("bytes */100");
    assertThatIllegalStateException().isThrownBy(ByteRange.parse("x", 100)::contentRange);
  }

  @Test
  void whateverIsAskedLiesInside() {
    long seed = 20261121;
    SplittableRandom random = new SplittableRandom(seed);
    String alphabet = "bytes=0123456789-, ";
    for (int round = 0; round < 100_000; round++) {
      StringBuilder value = new StringBuilder(random.nextInt(4) == 0 ? "" : "bytes=");
      for (int i = random.nextInt(12); i > 0; i--) {
        value.append(alphabet.charAt(random.nextInt(alphabet.length())));
      }
      long complete = random.nextLong(0, 200);
      ByteRange range = ByteRange.parse(value.toString(), complete);
      boolean isInside =
          range.kind() == Outcome.UNSATISFIABLE
              || (range.offset() >= 0
                  && range.offset() + range.length() <= complete
                  && (range.kind() == Outcome.WHOLE || range.length() > 0));
      assertThat(isInside).as("seed %d: '%s' of %d", seed, value, complete).isTrue();
    }
  }
}
