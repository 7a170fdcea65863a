package io.kamille.core.log;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RecordRingTest {

  private final RecordRing ring = new RecordRing(1024);

  @Test
  void aFullRingHasNoRoomUntilTheReaderReleases() {
    write(512);
    write(512);
    assertThat(ring.reserve(8)).isNegative();
    ring.peek();
    assertThat(ring.reserve(8)).isNegative();
    ring.release();
    assertThat(ring.reserve(512)).isZero();
  }

  @Test
  void aRecordNeverLiesInTwoPieces() {
    write(512);
    write(256);
    ring.peek();
    ring.release();
    assertThat(ring.reserve(300)).isZero();
    ring.commit(300);
    assertThat(ring.peek()).isEqualTo(512);
    ring.release();
    assertThat(ring.peek()).isZero();
    assertThat(ring.length(0)).isEqualTo(300);
  }

  @Test
  void capacityIsRoundedUpToAPowerOfTwo() {
    assertThat(new RecordRing(1000).octets()).hasSize(1024);
    assertThat(new RecordRing(1024).octets()).hasSize(1024);
    assertThat(new RecordRing(1025).octets()).hasSize(2048);
  }

  @Test
  void theReaderIsWokenAtHalfAndAtEachQuarterFromThen() {
    assertThat(wakes(504)).isFalse();
    assertThat(wakes(8)).isTrue();
    assertThat(wakes(200)).isFalse();
    assertThat(wakes(56)).isTrue();
  }

  @Test
  void aReaderThatKeepsUpIsNotWoken() {
    for (int i = 0; i < 100; i++) {
      assertThat(wakes(256)).isFalse();
      ring.peek();
      ring.release();
    }
  }

  private boolean wakes(int length) {
    write(length);
    return ring.isFilling();
  }

  private void write(int length) {
    assertThat(ring.reserve(length)).isNotNegative();
    ring.commit(length);
  }
}
