package io.kamille.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class KeyFilterTest {

  @Test
  void hasWhatItTookAndLittleElse() {
    var random = new SplittableRandom(7);
    var filter = new KeyFilter(1 << 10);
    long[] taken = random.longs(4_000).toArray();
    for (long hash : taken) {
      filter.add(hash);
    }
    for (long hash : taken) {
      assertThat(filter.mayHave(hash)).isTrue();
    }
    long wrong = random.longs(100_000).filter(filter::mayHave).count();
    assertThat(wrong).isLessThan(700);
  }
}
