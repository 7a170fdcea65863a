package io.kamille.cache.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

class ArenaWriterTest {

  @Test
  void contentOfUnknownLengthEndsUpInOneBlockOfItsOwnSize() {
    try (Arena arena = Arena.open(1 << 20)) {
      ArenaWriter writer = TestMemory.writer(arena, 0);
      byte[] content = ArenaTest.pattern(50_000);
      for (int from = 0; from < content.length; from += 1460) {
        int end = Math.min(content.length, from + 1460);
        assertThat(writer.append(Unpooled.wrappedBuffer(content, from, end - from))).isTrue();
        assertThat(writer.bytes().length()).isEqualTo(end);
      }
      StoredBytes stored = writer.commit();
      assertThat(stored.blockCount()).isEqualTo(1);
      assertThat(arena.usedBytes()).isEqualTo(Block.granulesFor(50_000) * Block.GRANULE_BYTES);
      ArenaTest.assertPattern(stored, 50_000);
      stored.release();
    }
  }

  @Test
  void aKnownLengthIsReservedAtOnceAndWhatDoesNotArriveGoesBack() {
    try (Arena arena = Arena.open(1 << 20)) {
      ArenaWriter writer = Objects.requireNonNull(arena.writer(100_000, 0));
      assertThat(arena.usedBytes()).isEqualTo(Block.granulesFor(100_000) * Block.GRANULE_BYTES);
      writer.append(Unpooled.wrappedBuffer(ArenaTest.pattern(1000)));
      StoredBytes stored = writer.commit();
      assertThat(arena.usedBytes()).isEqualTo(1024);
      ArenaTest.assertPattern(stored, 1000);
      stored.release();
    }
  }

  @Test
  void moreThanAnnouncedIsTakenAsItComes() {
    try (Arena arena = Arena.open(1 << 20)) {
      ArenaWriter writer = Objects.requireNonNull(arena.writer(100, 0));
      assertThat(writer.append(Unpooled.wrappedBuffer(ArenaTest.pattern(100_000)))).isTrue();
      StoredBytes stored = writer.commit();
      ArenaTest.assertPattern(stored, 100_000);
      stored.release();
    }
  }

  @Test
  void whatCannotBeHadIsAValueAndLeavesTheWriterAsItWas() {
    try (Arena arena = Arena.open(1 << 20)) {
      assertThat(arena.writer((1 << 20) + 1, 0)).isNull();
      assertThat(arena.usedBytes()).isZero();

      ArenaWriter writer = TestMemory.writer(arena, 0);
      assertThat(writer.append(Unpooled.wrappedBuffer(ArenaTest.pattern(1000)))).isTrue();
      assertThat(writer.append(Unpooled.wrappedBuffer(new byte[1 << 20]))).isFalse();
      assertThat(writer.length()).isEqualTo(1000);
      StoredBytes stored = writer.commit();
      ArenaTest.assertPattern(stored, 1000);
      stored.release();
    }
  }

  @Test
  void theLastGranuleCanStillBeAppended() {
    try (Arena arena = Arena.open(1 << 20)) {
      StoredBytes rest = ArenaTest.store(arena, (1 << 20) - 128);
      ArenaWriter writer = TestMemory.writer(arena, 0);
      assertThat(writer.append(Unpooled.wrappedBuffer(ArenaTest.pattern(100)))).isTrue();
      writer.abandon();
      rest.release();
    }
  }

  @Test
  void abandonedContentStaysUntilItsReadersAreDone() {
    try (Arena arena = Arena.open(1 << 20)) {
      ArenaWriter writer = Objects.requireNonNull(arena.writer(200_000, 0));
      writer.append(Unpooled.wrappedBuffer(ArenaTest.pattern(5000)));
      StoredBytes read = writer.bytes();
      read.retain();
      writer.abandon();
      ArenaTest.assertPattern(read, 5000);
      assertThat(arena.usedBytes()).isEqualTo(Block.granulesFor(5000) * Block.GRANULE_BYTES);
      read.release();
    }
  }

  @Test
  void aWriterEndsOnce() {
    try (Arena arena = Arena.open(1 << 20)) {
      ArenaWriter writer = TestMemory.writer(arena, 0);
      writer.abandon();
      assertThatIllegalStateException().isThrownBy(writer::abandon);
      assertThatIllegalStateException().isThrownBy(writer::commit);
      assertThatIllegalStateException().isThrownBy(() -> writer.append(Unpooled.EMPTY_BUFFER));
    }
  }

  @Test
  void aNegativeLengthIsABug() {
    try (Arena arena = Arena.open(1 << 20)) {
      assertThatIllegalArgumentException().isThrownBy(() -> arena.writer(-1, 0));
    }
  }

  @Test
  void everyKindOfBufferCanBeAppended() {
    byte[] content = ArenaTest.pattern(9000);
    try (Arena arena = Arena.open(1 << 20)) {
      ByteBuf heap = Unpooled.copiedBuffer(content, 0, 3000);
      ByteBuf direct = Unpooled.directBuffer().writeBytes(content, 3000, 3000);
      ByteBuf parts =
          Unpooled.wrappedBuffer(
              Unpooled.copiedBuffer(content, 6000, 1000),
              Unpooled.directBuffer().writeBytes(content, 7000, 2000));
      ArenaWriter writer = TestMemory.writer(arena, 0);
      for (ByteBuf buffer : new ByteBuf[] {heap, direct, parts}) {
        int readable = buffer.readableBytes();
        assertThat(writer.append(buffer)).isTrue();
        assertThat(buffer.readableBytes()).isEqualTo(readable);
        assertThat(buffer.release()).isTrue();
      }
      StoredBytes stored = writer.commit();
      ArenaTest.assertPattern(stored, 9000);

      ArenaWriter again = TestMemory.writer(arena, 0);
      stored.forEachSlice(
          0,
          9000,
          slice -> {
            assertThat(again.append(slice)).isTrue();
            slice.release();
          });
      ArenaTest.assertPattern(again.bytes(), 9000);
      again.abandon();
      stored.release();
    }
  }

  @Test
  void followersReadWhileTheLeaderStillFills() throws ExecutionException, InterruptedException {
    int length = 3_000_000;
    byte[] content = ArenaTest.pattern(length);
    try (Arena arena = Arena.open(4 << 20, 2)) {
      ArenaWriter writer = TestMemory.writer(arena, 0);
      CompletableFuture<?>[] followers = new CompletableFuture<?>[3];
      for (int i = 0; i < followers.length; i++) {
        writer.bytes().retain();
        StoredBytes bytes = writer.bytes();
        followers[i] = CompletableFuture.runAsync(() -> follow(bytes, content));
      }
      for (int from = 0; from < length; from += 1111) {
        int count = Math.min(1111, length - from);
        assertThat(writer.append(Unpooled.wrappedBuffer(content, from, count))).isTrue();
      }
      StoredBytes stored = writer.commit();
      CompletableFuture.allOf(followers).get();
      assertThat(stored.leases()).isEqualTo(1);
      stored.release();
    }
  }

  private static void follow(StoredBytes bytes, byte[] content) {
    int position = 0;
    byte[] read = new byte[content.length];
    while (position < content.length) {
      int readable = (int) bytes.length() - position;
      if (readable == 0) {
        Thread.onSpinWait();
        continue;
      }
      bytes.copyTo(position, read, position, readable);
      if (!Arrays.equals(
          read, position, position + readable, content, position, position + readable)) {
        throw new AssertionError("from " + position);
      }
      position += readable;
    }
    bytes.release();
  }
}
