package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class LoadResultTest {

  private static final long SECOND = 1_000_000_000;

  @Test
  void aLateLastAnswerDoesNotLowerTheRate() {
    var latency = new Histogram(60 * SECOND, 3);
    latency.recordValueWithCount(SECOND / 2, 2000);
    var result =
        new LoadResult(
            2000, Map.of(), 0, 2 * SECOND, 1990, 3 * SECOND, SECOND, latency, latency, latency);
    assertThat(result.ratePerSecond()).isEqualTo(995);
  }
}
