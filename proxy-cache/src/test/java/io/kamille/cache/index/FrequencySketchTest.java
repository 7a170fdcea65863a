package io.kamille.cache.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class FrequencySketchTest {

  private final FrequencySketch sketch = new FrequencySketch(1024);

  private void increment(long hash, int times) {
    for (int i = 0; i < times; i++) {
      sketch.increment(hash);
    }
  }

  @Test
  void whatWasNeverSeenIsZeroInAnEmptySketch() {
    assertThat(LongStream.range(0, 1000)).allMatch(hash -> sketch.frequency(hash) == 0);
  }

  @Test
  void countsUpToFifteen() {
    increment(1, 5);
    increment(2, 100);
    assertThat(sketch.frequency(1)).isGreaterThanOrEqualTo(5);
    assertThat(sketch.frequency(2)).isEqualTo(FrequencySketch.MAXIMUM);
  }

  @Test
  void anEstimateIsNeverTooLowBeforeAging() {
    LongStream.range(0, 1000).forEach(hash -> increment(hash, (int) (hash % 7)));
    assertThat(LongStream.range(0, 1000)).allMatch(hash -> sketch.frequency(hash) >= hash % 7);
  }

  @Test
  void fewEstimatesAreTooHigh() {
    LongStream.range(0, 1000).forEach(hash -> increment(hash, 1));
    assertThat(LongStream.range(0, 1000).filter(hash -> sketch.frequency(hash) > 1).count())
        .isLessThan(50);
  }

  @Test
  void countersAreHalvedAfterTenIncrementsPerLong() {
    increment(1, 12);
    LongStream.range(2, 10_241).forEach(hash -> increment(hash % 500, 1));
    assertThat(sketch.frequency(1)).isBetween(6, 15);
    LongStream.range(0, 60_000).forEach(hash -> increment(1000 + hash % 500, 1));
    assertThat(sketch.frequency(1)).isLessThan(3);
  }
}
