package io.kamille.core.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Several ranges in one request (RFC 9110 §14.2, §15.3.7.2). */
class ByteRangesTest {

  private static final long LENGTH = 10_000;

  private static List<ByteRange> of(String value) {
    return ByteRange.severalOf(Fields.of("Range", value), LENGTH);
  }

  private static String text(List<ByteRange> ranges) {
    return ranges.stream()
        .map(range -> range.offset() + "+" + range.length())
        .collect(Collectors.joining(" "));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "bytes=0-9,500-509 | 0+10 500+10",
        "bytes=500-509 , 0-9 | 500+10 0+10",
        "bytes=,0-9,,500-509, | 0+10 500+10",
        "BYTES=0-9,-5 | 0+10 9995+5",
        "bytes=0-9,9990- | 0+10 9990+10",
        "bytes=0-9,20000-30000 | 0+10",
        "bytes=0-9,5-19 | 0+20",
        "bytes=0-9,80-89 | 0+90",
        "bytes=0-9,91-99 | 0+10 91+9",
        "bytes=0-9,1000-1009,5-999 | 0+1010",
        "bytes=500-509,0-9,5-600 | 0+601",
      })
  void section14_2RangesAreHonouredInTheirOrderAndClosedUp(String value, String expected) {
    assertThat(text(of(value))).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "bytes=0-9",
        "bytes=0-9,x",
        "bytes=0-9,9-0",
        "bytes=0-9;500-509",
        "lines=0-9,500-509",
        "bytes 0-9,500-509",
        ",",
        "bytes=,",
      })
  void section14_2OneRangeOrWhatIsMalformedIsNoList(String value) {
    assertThat(of(value)).isEmpty();
  }

  @Test
  void section15_5_17NoneThatCanBeSatisfiedIsSaidOnce() {
    List<ByteRange> ranges = of("bytes=10000-,20000-30000");
    assertThat(ranges).hasSize(1);
    assertThat(ranges.getFirst().kind()).isEqualTo(ByteRange.Outcome.UNSATISFIABLE);
  }

  @Test
  void section17_15TooManyAreIgnored() {
    assertThat(of("bytes=" + "0-0,".repeat(16))).hasSize(1);
    assertThat(of("bytes=" + "0-0,".repeat(17))).isEmpty();
  }

  @Test
  void togetherTheyAreNeverMoreThanTheWhole() {
    Random random = new Random(1);
    for (int round = 0; round < 20_000; round++) {
      StringBuilder value = new StringBuilder("bytes=");
      for (int i = 1 + random.nextInt(16); i > 0; i--) {
        int first = random.nextInt(11_000);
        value.append(first).append('-').append(first + random.nextInt(2_000)).append(',');
      }
      List<ByteRange> ranges = of(value.toString());
      assertThat(ranges.stream().mapToLong(ByteRange::length).sum()).isLessThanOrEqualTo(LENGTH);
      assertThat(ranges)
          .as("%s", value)
          .allMatch(range -> range.offset() + range.length() <= LENGTH);
    }
  }
}
