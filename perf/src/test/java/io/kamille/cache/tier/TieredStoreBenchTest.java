package io.kamille.cache.tier;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TieredStoreBenchTest {

  @Test
  void hitsHitAndMissesMiss() {
    var bench = new TieredStoreBench();
    bench.fill();
    for (int i = 0; i < 20_000; i++) {
      assertThat(bench.hit()).isNotNull();
      assertThat(bench.miss()).isNull();
    }
    bench.close();
  }
}
