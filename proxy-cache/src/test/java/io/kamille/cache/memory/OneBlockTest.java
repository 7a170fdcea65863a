package io.kamille.cache.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * With the headroom kept free, nearly every object lies in one block, whatever the capacity: a
 * model of the granules alone, without memory behind them.
 */
class OneBlockTest {

  private static final long SEED = 5;
  private static final long GIB = 1L << 30;
  private static final int MEAN_BYTES = 11_000;

  private static final class Held extends Blocks {

    private final long granules;

    Held(long granules) {
      this.granules = granules;
    }

    boolean isOneBlock() {
      return block(1) == Block.NONE;
    }

    void giveTo(Shards shards) {
      for (int i = 0; block(i) != Block.NONE; i++) {
        shards.give(block(i));
      }
    }
  }

  @Test
  void anArenaOfOneGibibyte() {
    assertThat(inOneBlockRatio(GIB, Arena.headroomBytes(GIB))).isGreaterThanOrEqualTo(0.90);
  }

  /** Its loops take memory from sixteen shards, each from its own; this is one of them. */
  @Test
  void aShardOfAnArenaOf64Gibibytes() {
    long headroomBytes = Arena.headroomBytes(64 * GIB) / 16;
    assertThat(inOneBlockRatio(4 * GIB, headroomBytes)).isGreaterThanOrEqualTo(0.90);
  }

  /** Replaces every object twice, at random. */
  private static double inOneBlockRatio(long capacityBytes, long headroomBytes) {
    long slabs = capacityBytes / Slab.BYTES;
    var shards = new Shards(slabs, 1);
    var random = new Random(SEED);
    List<Held> all = new ArrayList<>();
    long free = slabs * Slab.GRANULES - headroomBytes / Block.GRANULE_BYTES;
    long replacements = 2 * capacityBytes / MEAN_BYTES;
    for (long replaced = 0; replaced < replacements; ) {
      long granules = Block.granulesFor(1 + (long) (-MEAN_BYTES * Math.log(random.nextDouble())));
      while (free < granules) {
        int leaving = random.nextInt(all.size());
        Held gone = all.get(leaving);
        all.set(leaving, all.getLast());
        all.removeLast();
        gone.giveTo(shards);
        free += gone.granules;
        replaced++;
      }
      var held = new Held(granules);
      shards.collect(held, granules, 0);
      free -= granules;
      all.add(held);
    }
    return (double) all.stream().filter(Held::isOneBlock).count() / all.size();
  }
}
