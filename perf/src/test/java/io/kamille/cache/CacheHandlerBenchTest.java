package io.kamille.cache;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CacheHandlerBenchTest {

  @ParameterizedTest
  @ValueSource(ints = {1024, 16384, 1048576})
  void everyMeasuredRequestIsAHitOfTheWholeContent(int size) {
    var bench = new CacheHandlerBench();
    bench.size = size;
    bench.store();
    for (int i = 0; i < 10; i++) {
      assertThat(bench.hit()).isBetween((long) size, size + 1024L);
    }
    bench.close();
  }
}
