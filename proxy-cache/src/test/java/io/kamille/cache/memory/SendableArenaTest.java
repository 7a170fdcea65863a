package io.kamille.cache.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kamille.core.Await;
import io.netty.buffer.Unpooled;
import io.netty.channel.FileRegion;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Stored octets as regions of a file: which are, and what becomes of their memory. */
class SendableArenaTest {

  private static final int MIB = 1 << 20;
  private static final int SLAB = Slab.BYTES;
  private static final int MINIMUM = Arena.REGION_MINIMUM_BYTES;

  @Test
  void aRegionLiesInWholeSlabsOfItsBlock() {
    try (Arena arena = Arena.openSendable(MIB)) {
      StoredBytes before = ArenaTest.store(arena, 1000);
      ArenaWriter writer = TestMemory.writer(arena, 0);
      writer.append(Unpooled.wrappedBuffer(ArenaTest.pattern(5000)));
      writer.append(Unpooled.wrappedBuffer(ArenaTest.pattern(3 * SLAB)));
      StoredBytes stored = writer.bytes();
      assertThat(stored.blockCount()).isEqualTo(1);
      assertThat(Block.offset(stored.block(0)) % SLAB).isNotZero();
      List<Object> pieces = SentPieces.of(stored);
      assertThat(pieces).hasSize(3);
      FileRegion region = SentPieces.regions(pieces).getFirst();
      assertThat(region.position() % SLAB).isZero();
      assertThat(region.count()).isEqualTo(2 * SLAB);
      pieces.forEach(ReferenceCountUtil::release);
      before.release();
      writer.abandon();
    }
  }

  /** As long as that holds, no folio has octets of two slabs, whatever the host allows. */
  @Test
  void theFileLiesWhereNoFolioLargerThanASlabFits() {
    try (Arena arena = Arena.openSendable(64 * MIB)) {
      assertThat(arena.address() % (2 * SLAB)).isEqualTo(SLAB);
    }
  }

  @Test
  void aRegionMayBeginAndEndWithinASlab() {
    try (Arena arena = Arena.openSendable(MIB)) {
      StoredBytes stored = ArenaTest.store(arena, 64 << 10);
      List<Object> pieces = SentPieces.of(stored, 300, MINIMUM);
      assertThat(pieces).hasSize(1);
      FileRegion region = SentPieces.regions(pieces).getFirst();
      assertThat(region.position()).isEqualTo(Block.offset(stored.block(0)) + 300);
      assertThat(region.count()).isEqualTo(MINIMUM);
      pieces.forEach(ReferenceCountUtil::release);
      stored.release();
    }
  }

  @Test
  void whatIsShortGoesAsASlice() {
    try (Arena arena = Arena.openSendable(MIB)) {
      StoredBytes stored = ArenaTest.store(arena, 64 << 10);
      List<Object> pieces = SentPieces.of(stored, 0, MINIMUM - 1);
      assertThat(pieces).hasSize(1);
      assertThat(SentPieces.regions(pieces)).isEmpty();
      pieces.forEach(ReferenceCountUtil::release);
      stored.release();
    }
  }

  @Test
  void aSlabThatIsStillWrittenToIsNoRegion() {
    try (Arena arena = Arena.openSendable(MIB)) {
      ArenaWriter writer = TestMemory.writer(arena, 0);
      writer.append(Unpooled.wrappedBuffer(ArenaTest.pattern(SLAB + MINIMUM)));
      List<Object> pieces = SentPieces.of(writer.bytes());
      FileRegion region = SentPieces.regions(pieces).getFirst();
      assertThat(region.count()).isEqualTo(SLAB);
      pieces.forEach(ReferenceCountUtil::release);
      writer.abandon();
    }
  }

  @Test
  void eachPieceHoldsALeaseUntilItIsReleased() {
    try (Arena arena = Arena.openSendable(MIB)) {
      StoredBytes stored = ArenaTest.store(arena, 500_000);
      List<Object> pieces = SentPieces.of(stored);
      assertThat(stored.leases()).isEqualTo(1 + pieces.size());
      pieces.forEach(ReferenceCountUtil::release);
      assertThat(stored.leases()).isEqualTo(1);
      stored.release();
    }
  }

  @Test
  void theFirstThreeSendingsAreCopied() {
    try (Arena arena = Arena.openSendable(MIB)) {
      StoredBytes stored = ArenaTest.store(arena, 500_000);
      for (int i = 0; i < 3; i++) {
        assertThat(stored.countSending()).isFalse();
      }
      assertThat(stored.countSending()).isTrue();
      assertThat(stored.countSending()).isTrue();
      assertThat(stored.leases()).isEqualTo(1);
      SentPieces.drop(stored);
      assertThat(stored.countSending()).isTrue();
      stored.release();
      assertThat(stored.tryRetain()).isFalse();
      assertThatIllegalStateException().isThrownBy(stored::release);
    }
  }

  @Test
  void memoryThatWasSentHoldsFreshPagesWhenItComesFree() {
    Arena arena = Arena.openSendable(MIB);
    StoredBytes stored = ArenaTest.store(arena, 500_000);
    long offset = Block.offset(stored.block(0));
    assertThat(arena.readable().get(ValueLayout.JAVA_LONG, offset)).isNotZero();
    SentPieces.drop(stored);
    stored.release();
    TestMemory.awaitFree(arena);
    assertThat(arena.renewingBytes()).isZero();
    assertThat(arena.readable().get(ValueLayout.JAVA_LONG, offset)).isZero();
    arena.close();
  }

  @Test
  void memoryThatWasOnlyCopiedIsFreeAtOnceAndKeepsItsPages() {
    try (Arena arena = Arena.openSendable(MIB)) {
      StoredBytes stored = ArenaTest.store(arena, 500_000);
      long offset = Block.offset(stored.block(0));
      stored.forEachSlice(0, 500_000, ReferenceCountUtil::release);
      stored.release();
      assertThat(arena.usedBytes()).isZero();
      assertThat(arena.readable().get(ValueLayout.JAVA_LONG, offset)).isNotZero();
    }
  }

  @Test
  void withoutAMemoryFileEverythingIsCopied() {
    try (Arena arena =
        Arena.open(
            MIB,
            1,
            (bytes, life) -> {
              throw new IOException("memfd_create failed, errno 1");
            })) {
      assertThat(arena.isSendable()).isFalse();
      StoredBytes stored = ArenaTest.store(arena, 500_000);
      assertThat(stored.countSending()).isFalse();
      List<Object> pieces = SentPieces.of(stored);
      assertThat(SentPieces.regions(pieces)).isEmpty();
      pieces.forEach(ReferenceCountUtil::release);
      ArenaTest.assertPattern(stored, 500_000);
      stored.release();
      assertThat(arena.usedBytes()).isZero();
    }
  }

  @Test
  void whatTheKernelCannotGiveIsRefusedWithAFileToo() {
    assertThatIllegalStateException()
        .isThrownBy(() -> Arena.openSendable(1L << 46))
        .withMessageContaining("capacityBytes: 70368744177664")
        .withMessageContaining("errno 12");
  }

  @Test
  void memoryThatCannotBeRenewedIsNeverUsedAgain() {
    Arena arena = Arena.open(MIB, 1, SendableArenaTest::stubborn);
    StoredBytes first = ArenaTest.store(arena, 300_000);
    StoredBytes second = ArenaTest.store(arena, 300_000);
    long firstOffset = Block.offset(first.block(0));
    SentPieces.drop(first);
    SentPieces.drop(second);
    first.release();
    Await.until(() -> arena.retiredBytes() > 0, "the retirement");
    long retired = arena.retiredBytes();
    assertThat(retired).isGreaterThanOrEqualTo(300_000 - SLAB);
    assertThat(arena.isSendable()).isFalse();
    assertThat(second.countSending()).isFalse();
    assertThat(SentPieces.regions(dropped(SentPieces.of(second)))).isEmpty();
    StoredBytes rest = ArenaTest.store(arena, (int) arena.freeBytes());
    ArenaTest.assertPattern(second, 300_000);
    byte[] left = arena.readable().asSlice(firstOffset, SLAB).toArray(ValueLayout.JAVA_BYTE);
    assertThat(left).isEqualTo(Arrays.copyOf(ArenaTest.pattern(300_000), SLAB));
    rest.release();
    second.release();
    Await.until(() -> arena.renewingBytes() == 0, "the retirement");
    assertThat(arena.retiredBytes()).isGreaterThan(retired);
    arena.close();
  }

  @Test
  void memoryWhoseRenewalThrowsIsRetiredAndPendsNoLonger() {
    Arena arena = Arena.open(MIB, 1, SendableArenaTest::throwing);
    StoredBytes stored = ArenaTest.store(arena, 300_000);
    SentPieces.drop(stored);
    stored.release();
    Await.until(() -> arena.renewingBytes() == 0, "the retirement");
    assertThat(arena.retiredBytes()).isGreaterThanOrEqualTo(300_000 - SLAB);
    assertThat(arena.isSendable()).isFalse();
    arena.close();
  }

  @Test
  void memoryThatTheKernelCannotSupplyIsRefusedByPrefault() {
    try (Arena arena = Arena.open(MIB, 1, SendableArenaTest::scarce)) {
      assertThatIllegalStateException()
          .isThrownBy(arena::prefault)
          .withMessageStartingWith("cache.memory.prefault: ")
          .withMessageContaining("less than 1048576 octets, errno 12 (expected: ");
    }
  }

  @Test
  void anArenaIsNotClosedUnderARegion() {
    Arena arena = Arena.openSendable(MIB);
    StoredBytes stored = ArenaTest.store(arena, 500_000);
    List<Object> pieces = SentPieces.of(stored);
    stored.release();
    assertThatIllegalStateException()
        .isThrownBy(arena::close)
        .withMessageContaining("expected: every lease released");
    pieces.forEach(ReferenceCountUtil::release);
    arena.close();
  }

  @Test
  void theWholeCapacityComesFreeAgain() {
    try (Arena arena = Arena.openSendable(8 * MIB)) {
      for (int round = 0; round < 10; round++) {
        StoredBytes stored = ArenaTest.store(arena, 8 * MIB);
        ArenaTest.assertPattern(stored, 8 * MIB);
        SentPieces.drop(stored);
        stored.release();
        TestMemory.awaitFree(arena);
      }
    }
  }

  private static List<Object> dropped(List<Object> pieces) {
    pieces.forEach(ReferenceCountUtil::release);
    return pieces;
  }

  private static MemoryFile scarce(long bytes, java.lang.foreign.Arena life) throws IOException {
    MemoryFile real = MemoryFile.open(bytes, life);
    return new MemoryFile(real.descriptor(), real.channel(), real.memory()) {
      @Override
      long fill(long from, long to) {
        return -12;
      }
    };
  }

  private static MemoryFile throwing(long bytes, java.lang.foreign.Arena life) throws IOException {
    MemoryFile real = MemoryFile.open(bytes, life);
    return new MemoryFile(real.descriptor(), real.channel(), real.memory()) {
      @Override
      boolean renew(long from, long to) {
        throw new IllegalStateException("thrown by the test");
      }
    };
  }

  /** A file whose kernel gives no fresh pages. */
  private static MemoryFile stubborn(long bytes, java.lang.foreign.Arena life) throws IOException {
    MemoryFile real = MemoryFile.open(bytes, life);
    return new MemoryFile(real.descriptor(), real.channel(), real.memory()) {
      @Override
      boolean renew(long from, long to) {
        return false;
      }
    };
  }
}
