package io.kamille.cache.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SlabTest {

  private final long[] map = new long[3 * Slab.WORDS];
  private final int at = Slab.WORDS;

  @Test
  void aFreshSlabIsOneRun() {
    Arrays.fill(map, -1L);
    assertThat(Slab.longestRun(map, at)).isEqualTo(Slab.GRANULES);
    assertThat(Slab.bestFit(map, at, Slab.GRANULES)).isZero();
  }

  @Test
  void aUsedSlabHasNoRun() {
    assertThat(Slab.longestRun(map, at)).isZero();
  }

  @Test
  void theShortestRunThatFitsIsChosen() {
    Slab.give(map, at, 0, 100);
    Slab.give(map, at, 120, 70);
    Slab.give(map, at, 400, 80);
    assertThat(Slab.bestFit(map, at, 60)).isEqualTo(120);
    assertThat(Slab.bestFit(map, at, 80)).isEqualTo(400);
    assertThat(Slab.bestFit(map, at, 81)).isZero();
    assertThat(Slab.longestRun(map, at)).isEqualTo(100);
  }

  @Test
  void takingWhatIsUsedIsABug() {
    Slab.give(map, at, 10, 10);
    assertThatIllegalStateException().isThrownBy(() -> Slab.take(map, at, 15, 10));
  }

  @Test
  void givingTwiceIsABug() {
    Slab.give(map, at, 10, 100);
    assertThatIllegalStateException().isThrownBy(() -> Slab.give(map, at, 109, 2));
  }

  @Test
  void runsAgreeWithAPlainBitSet() {
    long seed = 20260301;
    var random = new Random(seed);
    var model = new BitSet(Slab.GRANULES);
    for (int step = 0; step < 20_000; step++) {
      int from = random.nextInt(Slab.GRANULES);
      int granules = 1 + random.nextInt(Math.min(80, Slab.GRANULES - from));
      if (model.get(from, from + granules).cardinality() == granules) {
        Slab.take(map, at, from, granules);
        model.clear(from, from + granules);
      } else if (model.get(from, from + granules).isEmpty()) {
        Slab.give(map, at, from, granules);
        model.set(from, from + granules);
      }
      assertThat(Slab.longestRun(map, at)).as("seed %d", seed).isEqualTo(longestRun(model));
      assertThat(Slab.freeFrom(map, at, from))
          .as("seed %d", seed)
          .isEqualTo(Math.min(Slab.GRANULES, model.nextClearBit(from)) - from);
    }
    assertThat(map).as("neighbours").startsWith(new long[8]).endsWith(new long[8]);
  }

  private static int longestRun(BitSet model) {
    int longest = 0;
    for (int from = model.nextSetBit(0); from >= 0; ) {
      int end = model.nextClearBit(from);
      longest = Math.max(longest, end - from);
      from = model.nextSetBit(end);
    }
    return longest;
  }
}
