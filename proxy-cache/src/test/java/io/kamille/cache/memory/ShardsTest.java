package io.kamille.cache.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The maps of an arena at their limits, without memory behind them. */
class ShardsTest {

  private static final long GIB = 1L << 30;

  private static final class Taken extends Blocks {

    List<Long> list() {
      List<Long> blocks = new ArrayList<>();
      for (int i = 0; block(i) != Block.NONE; i++) {
        blocks.add(block(i));
      }
      return blocks;
    }

    long granules() {
      return list().stream().mapToLong(Block::granules).sum();
    }
  }

  /** One ByteBuf covers a block. */
  @Test
  void whatIsAGibibyteOrMoreLiesInSeveralBlocks() {
    for (long bytes :
        new long[] {GIB - Block.GRANULE_BYTES, GIB, GIB + Block.GRANULE_BYTES, 3 * GIB}) {
      long granules = Block.granulesFor(bytes);
      var shards = new Shards(4 * GIB / Slab.BYTES, 1);
      var taken = new Taken();
      shards.collect(taken, granules, 0);
      assertThat(taken.granules()).isEqualTo(granules);
      assertThat(taken.list())
          .hasSize((int) Math.ceilDiv(granules, Block.GRANULES_LIMIT))
          .allMatch(block -> Block.bytes(block) < GIB);
      assertThat(Block.offset(taken.list().getLast()) + Block.bytes(taken.list().getLast()))
          .as("one behind the other")
          .isEqualTo(bytes);
      taken.list().forEach(shards::give);
      shards.collect(new Taken(), 4 * GIB / Block.GRANULE_BYTES, 0);
      assertThat(shards.longestRun()).as("nothing was lost").isZero();
    }
  }

  @Test
  void aMapThatHasLostGranulesIsTold() {
    var shards = new Shards(2, 2);
    var all = new Taken();
    shards.collect(all, 2 * Slab.GRANULES, 0);
    assertThat(all.granules()).isEqualTo(2 * Slab.GRANULES);
    all.list().forEach(shards::give);
    var more = new Taken();
    assertThatThrownBy(() -> shards.collect(more, 2 * Slab.GRANULES + 1, 0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("longest run: 0 granules (expected: the granules reserved)");
    assertThat(more.granules()).isEqualTo(2 * Slab.GRANULES);
  }
}
