package io.kamille.cache.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.Await;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** One arena's memory in the hands of another, as two processes have it during an upgrade. */
class ArenaAdoptionTest {

  private static final int CAPACITY = 4 << 20;
  private static final int SLAB = Slab.BYTES;

  private static ArenaGrant grant(Arena arena) {
    return Objects.requireNonNull(ArenaGrant.of(arena));
  }

  private static ArenaAdoption adoption(ArenaGrant grant) throws IOException {
    return ArenaAdoption.open(grant.descriptor(), CAPACITY, grant.generation());
  }

  private static Arena adopt(ArenaGrant grant) throws IOException {
    try (ArenaAdoption adoption = adoption(grant)) {
      return adoption.finish(grant.freeBlocks());
    }
  }

  @Test
  void whatOneStoredTheOtherReads() throws IOException {
    try (Arena before = Arena.openSendable(CAPACITY)) {
      StoredBytes stored = ArenaTest.store(before, 100_000);
      ArenaGrant grant = grant(before);
      try (ArenaAdoption adoption = adoption(grant)) {
        StoredBytes claimed = adoption.claim(stored.blocks(), 100_000, 7);
        Arena after = adoption.finish(grant.freeBlocks());
        ArenaTest.assertPattern(claimed, 100_000);
        assertThat(claimed.hits()).isEqualTo(7);
        assertThat(after.freeBytes()).isEqualTo(CAPACITY - claimed.occupiedBytes());
        claimed.release();
        after.close();
      }
      stored.release();
    }
  }

  @Test
  void neitherWritesWhereTheOtherReadsOrWrites() throws IOException {
    Random random = new Random(1);
    Arena before = Arena.openSendable(CAPACITY);
    List<StoredBytes> stored = new ArrayList<>();
    for (int length = 1; before.freeBytes() > CAPACITY / 8; length = 1 + random.nextInt(150_000)) {
      StoredBytes bytes =
          TestMemory.store(before, Unpooled.wrappedBuffer(ArenaTest.pattern(length)), 0);
      if (bytes != null) {
        stored.add(bytes);
      }
    }
    for (int i = stored.size() - 1; i >= 0; i -= 2) {
      stored.remove(i).release();
    }
    ArenaWriter underWay = TestMemory.writer(before, 0);
    assertThat(underWay.append(Unpooled.wrappedBuffer(ArenaTest.pattern(5000)))).isTrue();
    assertThat(before.charge(64_000)).isTrue();
    ArenaGrant grant = grant(before);
    Arena after;
    List<StoredBytes> claimed = new ArrayList<>();
    try (ArenaAdoption adoption = adoption(grant)) {
      for (StoredBytes bytes : stored) {
        claimed.add(adoption.claim(bytes.blocks(), bytes.length(), 0));
      }
      after = adoption.finish(grant.freeBlocks());
    }
    List<StoredBytes> own = new ArrayList<>();
    for (int i = 0; i < claimed.size(); i += 2) {
      claimed.get(i).release();
    }
    for (int i = 1; i < stored.size(); i += 2) {
      stored.get(i).release();
    }
    for (StoredBytes bytes = fill(after); bytes != null; bytes = fill(after)) {
      own.add(bytes);
    }
    assertThat(own).isNotEmpty();
    assertThat(TestMemory.store(before, Unpooled.wrappedBuffer(new byte[64]), 0)).isNull();
    assertThat(underWay.append(Unpooled.wrappedBuffer(new byte[200_000]))).isFalse();
    ArenaTest.assertPattern(underWay.bytes(), 5000);
    own.forEach(bytes -> ArenaTest.assertPattern(bytes, (int) bytes.length()));
    for (int i = 0; i < stored.size(); i++) {
      StoredBytes bytes = i % 2 == 0 ? stored.get(i) : claimed.get(i);
      ArenaTest.assertPattern(bytes, (int) bytes.length());
      bytes.release();
    }
    underWay.abandon();
    before.charge(-64_000);
    before.close();
    own.forEach(StoredBytes::release);
    TestMemory.awaitFree(after);
    after.close();
  }

  private static @Nullable StoredBytes fill(Arena arena) {
    return TestMemory.store(arena, Unpooled.wrappedBuffer(ArenaTest.pattern(10_000)), 0);
  }

  @Test
  void whatTheOtherMayReadIsNotUsedAgainBeforeItIsGone() throws IOException {
    Arena before = Arena.openSendable(CAPACITY);
    StoredBytes stored = ArenaTest.store(before, 3 * SLAB);
    ArenaGrant grant = grant(before);
    Arena after;
    try (ArenaAdoption adoption = adoption(grant)) {
      StoredBytes claimed = adoption.claim(stored.blocks(), 3 * SLAB, 0);
      after = adoption.finish(grant.freeBlocks());
      claimed.release();
    }
    assertThat(after.usedBytes()).isEqualTo(3 * SLAB);
    assertThat(after.renewingBytes()).isEqualTo(3 * SLAB);
    ArenaTest.assertPattern(stored, 3 * SLAB);
    stored.release();
    before.close();
    TestMemory.awaitFree(after);
    after.close();
  }

  @Test
  void whoGaveItAwayTakesItBackOnceTheOtherIsGone() throws IOException {
    Arena before = Arena.openSendable(CAPACITY);
    StoredBytes stored = ArenaTest.store(before, 3 * SLAB);
    assertThat(before.charge(6400)).isTrue();
    ArenaGrant grant = grant(before);
    Arena after = adopt(grant);
    assertThat(grant.takeBack()).isFalse();
    stored.release();
    assertThat(TestMemory.store(before, Unpooled.wrappedBuffer(new byte[64]), 0)).isNull();
    after.close();
    assertThat(grant.takeBack()).isTrue();
    Await.until(() -> before.usedBytes() == 6400, "memory");
    assertThat(before.charge(-6400)).isTrue();
    StoredBytes again = ArenaTest.store(before, CAPACITY);
    again.release();
    before.close();
  }

  @Test
  void memoryThatWentOnIsNotUsedAgainBeforeTheFirstIsGone() throws IOException {
    Arena first = Arena.openSendable(CAPACITY);
    StoredBytes stored = ArenaTest.store(first, SLAB);
    ArenaGrant firstGrant = grant(first);
    Arena second;
    StoredBytes secondClaim;
    try (ArenaAdoption adoption = adoption(firstGrant)) {
      secondClaim = adoption.claim(stored.blocks(), SLAB, 0);
      second = adoption.finish(firstGrant.freeBlocks());
    }
    StoredBytes ofSecond = ArenaTest.store(second, SLAB);
    ArenaGrant secondGrant = grant(second);
    Arena third;
    try (ArenaAdoption adoption = adoption(secondGrant)) {
      StoredBytes thirdClaim = adoption.claim(secondClaim.blocks(), SLAB, 0);
      ArenaTest.assertPattern(thirdClaim, SLAB);
      third = adoption.finish(secondGrant.freeBlocks());
      thirdClaim.release();
    }
    secondClaim.release();
    ofSecond.release();
    second.close();
    for (StoredBytes bytes = fill(third); bytes != null; bytes = fill(third)) {
      ArenaTest.assertPattern(bytes, 10_000);
    }
    ArenaTest.assertPattern(stored, SLAB);
    stored.release();
    first.close();
    Await.until(() -> third.renewingBytes() == 0, "memory");
    third.abandon();
  }

  @Test
  void blocksThatCannotBeAreRefused() throws IOException {
    try (Arena before = Arena.openSendable(CAPACITY)) {
      ArenaGrant grant = grant(before);
      long granules = CAPACITY / Block.GRANULE_BYTES;
      long[][] blocks = {
        {Block.of(0, 0)},
        {Block.of(granules, 1)},
        {Block.of(granules - 1, 2)},
        {Block.of(0, Block.GRANULES_LIMIT)},
        {-1},
        {Block.of(5, 3), Block.of(7, 1)},
      };
      for (long[] block : blocks) {
        try (ArenaAdoption adoption = adoption(grant)) {
          assertThatIllegalArgumentException().isThrownBy(() -> adoption.claim(block, 64, 0));
        }
      }
      try (ArenaAdoption adoption = adoption(grant)) {
        long[] block = {Block.of(0, 2)};
        assertThatIllegalArgumentException().isThrownBy(() -> adoption.claim(block, 64, 0));
      }
      try (ArenaAdoption adoption = adoption(grant)) {
        adoption.claim(new long[] {Block.of(0, 1)}, 64, 0);
        assertThatIllegalArgumentException()
            .isThrownBy(() -> adoption.finish(new long[] {Block.of(0, 1)}));
      }
    }
  }

  @Test
  void memoryOfAnotherSizeIsRefused() throws IOException {
    try (Arena before = Arena.openSendable(CAPACITY)) {
      ArenaGrant grant = grant(before);
      assertThatThrownBy(() -> ArenaAdoption.open(grant.descriptor(), 2 * CAPACITY, 1))
          .isInstanceOf(IOException.class);
      assertThatThrownBy(() -> ArenaAdoption.open(grant.descriptor(), CAPACITY, -1))
          .isInstanceOf(IOException.class);
      assertThatThrownBy(() -> ArenaAdoption.open(-1, CAPACITY, 1)).isInstanceOf(IOException.class);
    }
  }

  @Test
  void memoryThatIsNoFileIsNotGiven() {
    try (Arena arena = Arena.open(CAPACITY)) {
      assertThat(ArenaGrant.of(arena)).isNull();
    }
  }
}
