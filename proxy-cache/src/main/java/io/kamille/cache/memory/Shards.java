package io.kamille.cache.memory;

/**
 * The granules of an arena, split into shards: takes runs of them that were reserved before, and
 * gives them back. Any thread.
 */
final class Shards {

  /*
   * A request takes what lies behind its last block, then whole slabs, neighbours where it can,
   * then runs, the longest first. It has subtracted its granules from the arena's counter before,
   * so the maps always show at least as many free granules as it needs. A collecting thread can
   * miss a run that is freed behind its back while another takes one before its eyes; it looks
   * again, and what it missed was somebody's progress.
   */

  /** Far more than progress of others can explain: the maps have lost granules. */
  private static final int ATTEMPTS_LIMIT = 10_000_000;

  private final long granules;
  private final long slabsPerShard;
  private final Shard[] shards;

  Shards(long slabs, int count) {
    granules = slabs * Slab.GRANULES;
    slabsPerShard = Math.ceilDiv(slabs, count);
    shards = new Shard[(int) Math.ceilDiv(slabs, slabsPerShard)];
    for (int i = 0; i < shards.length; i++) {
      long first = i * slabsPerShard;
      shards[i] = new Shard(first, (int) Math.min(slabsPerShard, slabs - first));
    }
  }

  /** How many granules the longest free run within a slab has, nearly. */
  int longestRun() {
    int longestRun = 0;
    for (Shard shard : shards) {
      longestRun = Math.max(longestRun, shard.longestRun());
    }
    return longestRun;
  }

  /** Turns {@code granules} that were reserved into blocks at the end of {@code blocks}. */
  void collect(Blocks blocks, long granules, int home) {
    long left = granules - lengthen(blocks, granules);
    while (left >= Slab.GRANULES) {
      long block = takeSlabs(left / Slab.GRANULES, blocks.endGranule(), home);
      if (block == Block.NONE) {
        break;
      }
      blocks.append(block);
      left -= Block.granules(block);
    }
    while (left > 0) {
      long block = takeRun((int) Math.min(left, Slab.GRANULES), home);
      blocks.append(block);
      left -= Block.granules(block);
    }
  }

  /** Returns {@code block} to the free granules. */
  void give(long block) {
    long granule = Block.firstGranule(block);
    long end = Block.endGranule(block);
    while (granule < end) {
      long slab = granule / Slab.GRANULES;
      long shardEnd = (slab / slabsPerShard + 1) * slabsPerShard;
      long batchEnd = Math.min(slab + Shard.BATCH_SLABS, shardEnd) * Slab.GRANULES;
      int given = (int) (Math.min(batchEnd, end) - granule);
      shardOf(granule).give(granule, given);
      granule += given;
    }
  }

  private long lengthen(Blocks blocks, long granules) {
    long end = blocks.endGranule();
    return end < 0 || end % Slab.GRANULES == 0 ? 0 : lengthen(blocks, end, granules);
  }

  private long lengthen(Blocks blocks, long end, long granules) {
    int taken = shardOf(end).takeFrom(end, granules);
    if (taken > 0) {
      blocks.append(Block.of(end, taken));
    }
    return taken;
  }

  private long takeSlabs(long slabs, long preferred, int home) {
    if (preferred >= 0 && preferred < granules) {
      Shard neighbour = shardOf(preferred);
      if (neighbour.longestRun() == Slab.GRANULES) {
        long block = neighbour.takeSlabs(slabs, preferred);
        if (block != Block.NONE) {
          return block;
        }
      }
    }
    for (int i = 0; i < shards.length; i++) {
      Shard shard = shards[Math.floorMod(home + i, shards.length)];
      if (shard.longestRun() == Slab.GRANULES) {
        long block = shard.takeSlabs(slabs, -1);
        if (block != Block.NONE) {
          return block;
        }
      }
    }
    return Block.NONE;
  }

  private long takeRun(int granules, int home) {
    for (int attempt = 0; attempt < ATTEMPTS_LIMIT; attempt++) {
      long block = shardFor(granules, home).takeRun(granules);
      if (block != Block.NONE) {
        return block;
      }
      Thread.onSpinWait();
    }
    throw new IllegalStateException(
        "longest run: " + longestRun() + " granules (expected: the granules reserved)");
  }

  /** The first shard from {@code home} on with so long a run, else the one with the longest. */
  private Shard shardFor(int granules, int home) {
    Shard best = shards[Math.floorMod(home, shards.length)];
    for (int i = 1; i < shards.length && best.longestRun() < granules; i++) {
      Shard shard = shards[Math.floorMod(home + i, shards.length)];
      if (shard.longestRun() > best.longestRun()) {
        best = shard;
      }
    }
    return best;
  }

  private Shard shardOf(long granule) {
    return shards[(int) (granule / Slab.GRANULES / slabsPerShard)];
  }
}
