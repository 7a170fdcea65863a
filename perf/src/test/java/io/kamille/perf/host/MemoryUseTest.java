package io.kamille.perf.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class MemoryUseTest {

  @Test
  void theRollupIsInKibibytes() {
    var rollup =
        List.of(
            "55d0c0a00000-7ffd1a3f9000 ---p 00000000 00:00 0    [rollup]",
            "Rss:               10240 kB",
            "Pss:                8192 kB",
            "Pss_Dirty:          4096 kB");
    assertThat(MemoryUse.parse(rollup)).isEqualTo(new MemoryUse(10 << 20, 8 << 20));
  }
}
