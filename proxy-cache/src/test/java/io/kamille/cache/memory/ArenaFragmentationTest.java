package io.kamille.cache.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What is lost, and how scattered objects lie, after long use with the sizes of WebAxe-4. */
class ArenaFragmentationTest {

  private static final System.Logger LOG = System.getLogger("ArenaFragmentationTest");
  private static final long SEED = 4;
  private static final long CAPACITY_BYTES = 128 << 20;
  private static final int REPLACEMENTS = 150_000;

  private record Outcome(double unusedRatio, double wasteRatio, double inOneBlockRatio) {}

  @Test
  void aFullArenaLosesAtMostATenthAfterLongReplacement() {
    try (Arena arena = Arena.open(CAPACITY_BYTES, 1)) {
      Outcome outcome = replace(arena, 0);
      assertThat(outcome.wasteRatio()).isLessThanOrEqualTo(0.10);
      assertThat(outcome.unusedRatio()).isLessThanOrEqualTo(0.10);
    }
  }

  @Test
  void withTheHeadroomNearlyEveryObjectLiesInOneBlock() {
    try (Arena arena = Arena.open(CAPACITY_BYTES, 1)) {
      Outcome outcome = replace(arena, Arena.headroomBytes(CAPACITY_BYTES));
      assertThat(outcome.unusedRatio()).isLessThanOrEqualTo(0.10);
      assertThat(outcome.inOneBlockRatio()).isGreaterThanOrEqualTo(0.90);
    }
  }

  private static Outcome replace(Arena arena, long headroomBytes) {
    var random = new Random(SEED);
    List<StoredBytes> all = new ArrayList<>();
    ByteBuf content = Unpooled.wrappedBuffer(new byte[8 << 20]);
    for (int replaced = 0; replaced < REPLACEMENTS; ) {
      int length = Math.min(content.capacity(), webAxe4Length(random));
      long needed = Block.granulesFor(length) * Block.GRANULE_BYTES;
      while (arena.freeBytes() < needed + headroomBytes) {
        int last = all.size() - 1;
        int leaving = random.nextInt(all.size());
        all.get(leaving).release();
        all.set(leaving, all.get(last));
        all.removeLast();
        replaced++;
      }
      all.add(Objects.requireNonNull(TestMemory.store(arena, content.setIndex(0, length), 0)));
    }

    long stored = 0;
    long blocks = 0;
    int inOne = 0;
    for (StoredBytes bytes : all) {
      stored += bytes.length();
      blocks += bytes.blockCount();
      inOne += bytes.blockCount() == 1 ? 1 : 0;
    }
    var outcome =
        new Outcome(
            1 - (double) stored / arena.capacityBytes(),
            1 - (double) stored / arena.usedBytes(),
            (double) inOne / all.size());
    LOG.log(
        System.Logger.Level.INFO,
        String.format(
            Locale.ROOT,
            "%d objects after %d replacements, seed %d, headroom %d octets: %.2f %% holds no"
                + " content, %.2f %% lost inside blocks, %.2f blocks per object, %.1f %% in one",
            all.size(),
            REPLACEMENTS,
            SEED,
            headroomBytes,
            100 * outcome.unusedRatio(),
            100 * outcome.wasteRatio(),
            (double) blocks / all.size(),
            100 * outcome.inOneBlockRatio()));
    all.forEach(StoredBytes::release);
    return outcome;
  }

  private static int webAxe4Length(Random random) {
    double kind = random.nextDouble();
    double kilobytes;
    if (kind < 0.65) {
      kilobytes = exponential(random, 4.5);
    } else if (kind < 0.80) {
      kilobytes = exponential(random, 8.5);
    } else if (kind < 0.805) {
      kilobytes = logNormal(random, 300, 300);
    } else {
      kilobytes = logNormal(random, 25, 10);
    }
    return (int) (kilobytes * 1000) + 1;
  }

  private static double exponential(Random random, double mean) {
    return -mean * Math.log(1 - random.nextDouble());
  }

  private static double logNormal(Random random, double mean, double deviation) {
    double variance = Math.log(1 + deviation * deviation / (mean * mean));
    double location = Math.log(mean) - variance / 2;
    return Math.exp(location + Math.sqrt(variance) * random.nextGaussian());
  }
}
