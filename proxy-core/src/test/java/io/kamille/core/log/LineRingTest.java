package io.kamille.core.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.metric.MetricRegistry;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class LineRingTest {

  private final LineRing ring =
      new LineRing(1024, new MetricRegistry().counter(LogWriter.DROPPED, "buffer-full"));
  private final ByteBuffer batch = ByteBuffer.allocate(1024);

  @Test
  void aFullRingDropsWholeLinesUntilTheWriterHasDrained() {
    write(512);
    write(500);
    write(13);
    assertThat(ring.dropped()).isEqualTo(1);
    write(12);
    assertThat(ring.dropped()).isEqualTo(1);
    assertThat(drained()).isEqualTo(1024);
    write(1024);
    assertThat(ring.dropped()).isEqualTo(1);
    assertThat(drained()).isEqualTo(1024);
    assertThat(drained()).isZero();
  }

  @Test
  void theWriterIsWokenAtHalfAndAtEachQuarterFromThen() {
    assertThat(wakes(504)).isFalse();
    assertThat(wakes(8)).isTrue();
    assertThat(wakes(200)).isFalse();
    assertThat(wakes(56)).isTrue();
  }

  @Test
  void aWriterThatKeepsUpIsNotWoken() {
    for (int i = 0; i < 100; i++) {
      assertThat(wakes(256)).isFalse();
      drained();
    }
  }

  private boolean wakes(int length) {
    write(length);
    return ring.isFilling();
  }

  private void write(int length) {
    ring.add(new byte[length], length);
  }

  private int drained() {
    ring.drainTo(batch.clear());
    return batch.position();
  }
}
