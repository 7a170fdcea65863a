package io.kamille.perf.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.host.MemoryUse;
import org.junit.jupiter.api.Test;

class IdleComparisonTest {

  @Test
  void objectsInTheHeapAreAddedToWhatTheProcessGrewBy() {
    var before = new MemoryUse(0, 1_000_000);
    var after = new MemoryUse(0, 3_000_000);
    var sample = IdleComparison.sample("kamille", 1, 1000, before, after, 500_000, 1_700_000);
    assertThat(sample.of(IdleComparison.OUTSIDE)).isEqualTo(2000);
    assertThat(sample.of(IdleComparison.INSIDE)).isEqualTo(1200);
    assertThat(sample.of(IdleComparison.BYTES)).isEqualTo(3200);
  }
}
