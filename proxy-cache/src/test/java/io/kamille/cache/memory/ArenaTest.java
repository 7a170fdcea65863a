package io.kamille.cache.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ArenaTest {

  private static final int SLAB = 64 << 10;

  @Test
  void capacityIsRoundedDownToWholeSlabs() {
    try (Arena arena = Arena.open((1 << 20) + SLAB + 1000)) {
      assertThat(arena.capacityBytes()).isEqualTo((1 << 20) + SLAB);
      assertThat(arena.freeBytes()).isEqualTo(arena.capacityBytes());
      assertThat((long) arena.shards().longestRun() * Block.GRANULE_BYTES).isEqualTo(SLAB);
    }
  }

  @Test
  void tooLittleIsRefusedWithTheValueAndTheExpectation() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Arena.open(1000))
        .withMessage("capacityBytes: 1000 (expected: from 1048576 to 70368744177664)");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Arena.open((1L << 46) + 1))
        .withMessageStartingWith("capacityBytes: 70368744177665 ");
  }

  @Test
  void whatTheKernelCannotGiveIsRefusedWithTheValue() {
    assertThatIllegalStateException()
        .isThrownBy(() -> Arena.open(1L << 46))
        .withMessageContaining("capacityBytes: 70368744177664")
        .withMessageContaining("errno 12");
  }

  @Test
  void aSmallObjectIsOneBlock() {
    try (Arena arena = Arena.open(1 << 20)) {
      StoredBytes stored = store(arena, 1000);
      assertThat(stored.blockCount()).isEqualTo(1);
      assertThat(arena.usedBytes()).isEqualTo(1024);
      assertThat(arena.ledger().live()).isEqualTo(1);
      stored.release();
    }
  }

  @Test
  void aLargeObjectIsOneBlockWhereNeighboursAreFree() {
    try (Arena arena = Arena.open(4 << 20)) {
      StoredBytes stored = store(arena, 20 * SLAB);
      assertThat(stored.blockCount()).isEqualTo(1);
      stored.release();
    }
  }

  @Test
  void anEmptyObjectTakesNothing() {
    try (Arena arena = Arena.open(1 << 20)) {
      StoredBytes stored = store(arena, 0);
      assertThat(arena.usedBytes()).isZero();
      stored.forEachSlice(0, 0, _ -> assertThat(false).as("a slice").isTrue());
      stored.release();
    }
  }

  @Test
  void theWholeCapacityCanBeOneObject() {
    try (Arena arena = Arena.open(3 << 20, 3)) {
      StoredBytes stored = store(arena, 3 << 20);
      assertThat(arena.freeBytes()).isZero();
      assertThat(TestMemory.store(arena, Unpooled.wrappedBuffer(new byte[1]), 0)).isNull();
      assertPattern(stored, 3 << 20);
      stored.release();
    }
  }

  @Test
  void scatteredGranulesStillMakeAnObject() {
    try (Arena arena = Arena.open(1 << 20, 1)) {
      List<StoredBytes> all = new ArrayList<>();
      while (arena.freeBytes() > 0) {
        all.add(store(arena, Block.GRANULE_BYTES));
      }
      int freed = 0;
      for (int i = 0; i < all.size(); i += 2) {
        all.get(i).release();
        freed += Block.GRANULE_BYTES;
      }
      assertThat((long) arena.shards().longestRun() * Block.GRANULE_BYTES)
          .isEqualTo(Block.GRANULE_BYTES);
      StoredBytes scattered = store(arena, freed);
      assertThat(scattered.blockCount()).isEqualTo(freed / Block.GRANULE_BYTES);
      assertThat(arena.freeBytes()).isZero();
      assertPattern(scattered, freed);
      scattered.release();
      for (int i = 1; i < all.size(); i += 2) {
        all.get(i).release();
      }
    }
  }

  @Test
  void theLongestRunsAreUsedFirstWhenNoneIsLongEnough() {
    try (Arena arena = Arena.open(1 << 20, 1)) {
      List<StoredBytes> filling = new ArrayList<>();
      while (arena.freeBytes() > 0) {
        filling.add(store(arena, SLAB / 4));
      }
      filling.get(0).release();
      filling.get(6).release();
      filling.get(12).release();
      StoredBytes stored = store(arena, SLAB / 2);
      assertThat(stored.blockCount()).isEqualTo(2);
      stored.release();
      for (int i = 0; i < filling.size(); i++) {
        if (i != 0 && i != 6 && i != 12) {
          filling.get(i).release();
        }
      }
    }
  }

  @Test
  void closingWithALeaseLeftIsABugThatIsNamed() {
    Arena arena = Arena.open(1 << 20);
    StoredBytes stored = store(arena, 1000);
    assertThatIllegalStateException()
        .isThrownBy(arena::close)
        .withMessageContaining("usedBytes=1024")
        .withMessageContaining("live=1");
    stored.release();
    arena.close();
  }

  @Test
  void theLastLeaseFreesTheMemoryAndNothingCanBeDoneAfterwards() {
    try (Arena arena = Arena.open(1 << 20)) {
      StoredBytes stored = store(arena, 1000);
      assertThat(stored.tryRetain()).isTrue();
      stored.release();
      assertThat(arena.usedBytes()).isEqualTo(1024);
      stored.release();
      assertThat(arena.usedBytes()).isZero();
      assertThat(stored.tryRetain()).isFalse();
      assertThatIllegalStateException().isThrownBy(stored::retain);
      assertThatIllegalStateException().isThrownBy(stored::release);
      assertThatIllegalStateException().isThrownBy(() -> stored.copyTo(0, new byte[1], 0, 1));
      assertThatIllegalStateException()
          .isThrownBy(() -> stored.forEachSlice(0, 1, ByteBuf::release));
      assertThat(arena.ledger().live()).isZero();
    }
  }

  @Test
  void everyPartOfAnObjectCanBeReadAsSlicesAndAsACopy() {
    long seed = 7;
    var random = new Random(seed);
    try (Arena arena = Arena.open(1 << 20, 1)) {
      List<StoredBytes> all = new ArrayList<>();
      while (arena.freeBytes() > 0) {
        all.add(store(arena, 256));
      }
      for (int i = 0; i < all.size(); i += 2) {
        all.get(i).release();
      }
      int length = 10_001;
      StoredBytes stored = store(arena, length);
      assertThat(stored.blockCount()).isGreaterThan(10);
      byte[] expected = pattern(length);
      for (int i = 0; i < 500; i++) {
        int offset = random.nextInt(length + 1);
        int count = random.nextInt(length - offset + 1);
        byte[] copied = new byte[count + 2];
        stored.copyTo(offset, copied, 1, count);
        ByteBuf joined = Unpooled.buffer(count);
        stored.forEachSlice(
            offset,
            count,
            slice -> {
              joined.writeBytes(slice);
              slice.release();
            });
        assertThat(joined.readableBytes()).as("seed %d", seed).isEqualTo(count);
        for (int k = 0; k < count; k++) {
          if (copied[k + 1] != expected[offset + k] || joined.getByte(k) != expected[offset + k]) {
            throw new AssertionError(
                "octet " + k + " of " + count + " from " + offset + ", seed " + seed);
          }
        }
        joined.release();
      }
      assertThatExceptionOfType(IndexOutOfBoundsException.class)
          .isThrownBy(() -> stored.forEachSlice(1, length, ByteBuf::release));
      assertThat(stored.leases()).isEqualTo(1);
      stored.release();
      for (int i = 1; i < all.size(); i += 2) {
        all.get(i).release();
      }
    }
  }

  @Test
  void aSliceOfOneBlockIsNotCopiedWhereverItBegins() {
    try (Arena arena = Arena.open(1 << 20, 1)) {
      List<StoredBytes> all = new ArrayList<>();
      while (arena.freeBytes() > 0) {
        all.add(store(arena, 256));
      }
      all.remove(3).release();
      all.remove(1).release();
      StoredBytes stored = store(arena, 512);
      assertThat(stored.blockCount()).isEqualTo(2);
      for (int offset : new int[] {0, 56, 256, 312}) {
        ByteBuf slice = stored.slice(offset, 200);
        assertThat(slice).as("from %d", offset).isInstanceOf(LeasedSlice.class);
        slice.release();
      }
      ByteBuf acrossBoth = stored.slice(200, 100);
      assertThat(acrossBoth.hasArray()).isTrue();
      assertThat(stored.slice(512, 0).isReadable()).isFalse();
      assertThat(stored.leases()).isEqualTo(1);
      stored.release();
      all.forEach(StoredBytes::release);
    }
  }

  static StoredBytes store(Arena arena, int length) {
    ByteBuf content = Unpooled.wrappedBuffer(pattern(length));
    return Objects.requireNonNull(
        TestMemory.store(arena, content, 0), () -> arena.usedBytes() + " octets used");
  }

  static byte[] pattern(int length) {
    byte[] pattern = new byte[length];
    new Random(length).nextBytes(pattern);
    return pattern;
  }

  static void assertPattern(StoredBytes stored, int length) {
    byte[] copied = new byte[length];
    stored.copyTo(0, copied, 0, length);
    assertThat(copied).isEqualTo(pattern(length));
  }
}
