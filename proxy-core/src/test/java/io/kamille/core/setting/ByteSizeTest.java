package io.kamille.core.setting;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ByteSizeTest {

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "512, 512",
    "512B, 512",
    "64KiB, 65536",
    "64kib, 65536",
    "1MB, 1000000",
    "256MiB, 268435456",
    "8 GiB, 8589934592",
    "2TiB, 2199023255552"
  })
  void unitsArePowersOf1024Or1000(String text, long bytes) {
    assertThat(ByteSize.parse(text)).hasValue(bytes);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "MiB", "-1", "1.5GiB", "8G", "8 GiB ", "1  KiB", "9999999999TiB", "1e3", "٣"})
  void everythingElseIsRefused(String text) {
    assertThat(ByteSize.parse(text)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "1, 1",
    "1000, 1KB",
    "1024, 1KiB",
    "1025, 1025",
    "1000000, 1MB",
    "268435456, 256MiB",
    "1536, 1536",
    "1572864, 1536KiB"
  })
  void printsTheGreatestUnitThatDivides(long bytes, String text) {
    assertThat(ByteSize.print(bytes)).isEqualTo(text);
  }

  @Test
  void whatIsPrintedIsReadBack() {
    for (long bytes = 0; bytes < 1L << 50; bytes = bytes * 3 + 1) {
      assertThat(ByteSize.parse(ByteSize.print(bytes))).hasValue(bytes);
      assertThat(ByteSize.parse(ByteSize.print(bytes * 4))).hasValue(bytes * 4);
    }
  }
}
