package io.kamille.perf.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.host.MemoryUse;
import org.junit.jupiter.api.Test;

class IdleSampleTest {

  @Test
  void objectsInTheHeapAreAddedToWhatTheProcessGrewBy() {
    var before = new MemoryUse(0, 1_000_000);
    var after = new MemoryUse(0, 3_000_000);
    var sample = new IdleSample("kamille", 1, 1000, before, after, 500_000, 1_700_000);
    assertThat(sample.nativeBytesPerConnection()).isEqualTo(2000);
    assertThat(sample.heapBytesPerConnection()).isEqualTo(1200);
    assertThat(sample.bytesPerConnection()).isEqualTo(3200);
  }
}
