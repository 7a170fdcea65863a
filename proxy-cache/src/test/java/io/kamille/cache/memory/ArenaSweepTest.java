package io.kamille.cache.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Random storing and freeing against a model that knows which granules are used. */
class ArenaSweepTest {

  private static final int STEPS = 4_000;
  private static final long CAPACITY_BYTES = 8 << 20;

  private record Stored(StoredBytes bytes, long patternSeed) {}

  @ParameterizedTest(name = "seed {0}, {1} shards")
  @CsvSource({"1, 1", "2, 1", "3, 3", "4, 8", "5, 5"})
  void everyGranuleHasOneUserAndARequestFailsOnlyForWantOfGranules(long seed, int shards) {
    var random = new Random(seed);
    var used = new BitSet();
    List<Stored> all = new ArrayList<>();
    int refused = 0;
    try (Arena arena = Arena.open(CAPACITY_BYTES, shards)) {
      for (int step = 0; step < STEPS; step++) {
        boolean growing = step / 500 % 2 == 0;
        if (all.isEmpty() || random.nextInt(100) < (growing ? 70 : 35)) {
          int length = length(random);
          boolean fits = Block.granulesFor(length) * Block.GRANULE_BYTES <= arena.freeBytes();
          StoredBytes bytes = store(arena, random, length, step);
          assertThat(bytes != null).as("step %d, %d octets", step, length).isEqualTo(fits);
          if (bytes == null) {
            refused++;
          } else {
            claim(used, bytes, length);
            all.add(new Stored(bytes, step));
          }
        } else {
          Stored leaving = all.remove(random.nextInt(all.size()));
          assertIntact(leaving);
          forget(used, leaving.bytes());
          leaving.bytes().release();
        }
        assertThat(arena.usedBytes())
            .as("step %d", step)
            .isEqualTo((long) used.cardinality() * Block.GRANULE_BYTES);
        assertThat(arena.ledger().live()).isEqualTo(all.size());
      }
      for (Stored stored : all) {
        assertIntact(stored);
      }
      assertThat(refused).as("the arena was full at times").isPositive();
      all.forEach(stored -> stored.bytes().release());
    }
  }

  private static int length(Random random) {
    return switch (random.nextInt(10)) {
      case 0 -> random.nextInt(3) * Block.GRANULE_BYTES;
      case 1, 2, 3 -> random.nextInt(2_000);
      case 4, 5, 6 -> random.nextInt(20_000);
      case 7 -> Slab.BYTES - 1 + random.nextInt(3);
      case 8 -> random.nextInt(200_000);
      default -> random.nextInt(1_500_000);
    };
  }

  private static @Nullable StoredBytes store(Arena arena, Random random, int length, long seed) {
    byte[] content = pattern(length, seed);
    int home = random.nextInt(10);
    if (random.nextBoolean()) {
      return TestMemory.store(arena, Unpooled.wrappedBuffer(content), home);
    }
    ArenaWriter writer = TestMemory.writer(arena, home);
    for (int from = 0; from < length; ) {
      int count = Math.min(length - from, 1 + random.nextInt(40_000));
      ByteBuf part = Unpooled.wrappedBuffer(content, from, count);
      if (!writer.append(part)) {
        writer.abandon();
        return null;
      }
      from += count;
    }
    return writer.commit();
  }

  private static void claim(BitSet used, StoredBytes bytes, int length) {
    long granules = 0;
    for (int i = 0; i < bytes.blockCount(); i++) {
      int from = (int) Block.firstGranule(bytes.block(i));
      int end = (int) Block.endGranule(bytes.block(i));
      assertThat(used.get(from, end).isEmpty()).as("granules %d to %d", from, end).isTrue();
      assertThat((long) end * Block.GRANULE_BYTES).isLessThanOrEqualTo(CAPACITY_BYTES);
      used.set(from, end);
      granules += end - from;
    }
    assertThat(granules).isEqualTo(Block.granulesFor(length));
  }

  private static void forget(BitSet used, StoredBytes bytes) {
    for (int i = 0; i < bytes.blockCount(); i++) {
      used.clear((int) Block.firstGranule(bytes.block(i)), (int) Block.endGranule(bytes.block(i)));
    }
  }

  private static void assertIntact(Stored stored) {
    int length = (int) stored.bytes().length();
    byte[] read = new byte[length];
    stored.bytes().copyTo(0, read, 0, length);
    assertThat(read).isEqualTo(pattern(length, stored.patternSeed()));
  }

  private static byte[] pattern(int length, long seed) {
    byte[] pattern = new byte[length];
    new Random(Objects.hash(seed, length)).nextBytes(pattern);
    return pattern;
  }
}
