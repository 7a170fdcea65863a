package io.kamille.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SpindleTest {

  private static final long SEEK = 8_000_000;
  private static final long BYTES_PER_SECOND = 100_000_000;
  private static final int BYTES = 10_000;
  private static final long TRANSFER = 100_000;

  private final Spindle spindle = new Spindle(SEEK, BYTES_PER_SECOND, 1);

  @Test
  void whoComesWhileItIsBusyWaitsForItsEnd() {
    long first = spindle.read("a", 0, BYTES, 0);
    long second = spindle.read("b", 0, BYTES, 1);
    assertThat(first).isBetween(SEEK / 2 + TRANSFER, SEEK * 3 / 2 + TRANSFER);
    assertThat(second - first).isBetween(SEEK / 2 + TRANSFER, SEEK * 3 / 2 + TRANSFER);
  }

  @Test
  void whatGoesOnWhereTheLastReadEndedNeedsNoSeek() {
    long first = spindle.read("a", 0, BYTES, 0);
    assertThat(spindle.read("a", BYTES, BYTES, first)).isEqualTo(first + TRANSFER);
  }

  @Test
  void aWriteCostsASeekForEachMebibyte() {
    long transfer = (1 << 20) * 10L;
    assertThat(spindle.write(1 << 20, 0)).isBetween(SEEK + transfer - 1, SEEK + transfer + 1);
  }

  @Test
  void aSeekTakesItsTimeOnAverage() {
    long end = 0;
    for (int i = 0; i < 1000; i++) {
      end = spindle.read(i, 0, 0, end);
    }
    assertThat(end / 1000).isBetween(SEEK * 95 / 100, SEEK * 105 / 100);
  }
}
