package io.kamille.cache.memory;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What an arena costs beside the octets in it. */
class ArenaFootprintTest {

  private static final long CAPACITY_BYTES = 1 << 30;
  private static final long FILLED_BYTES = 64 << 20;
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @Test
  void noPageIsPresentBeforeItIsWritten() throws IOException {
    long before = resident("VmRSS:");
    try (Arena arena = Arena.open(CAPACITY_BYTES)) {
      assertThat(arena.capacityBytes()).isEqualTo(CAPACITY_BYTES);
      assertThat(resident("VmRSS:") - before).isLessThan(CAPACITY_BYTES / 4);
    }
  }

  @Test
  void everyPageIsPresentAfterPrefaultAndStaysSo() throws IOException {
    long before = resident("RssShmem:");
    try (Arena arena = Arena.openSendable(FILLED_BYTES)) {
      assertThat(resident("RssShmem:") - before).isLessThan(1 << 20);
      arena.prefault();
      assertThat(resident("RssShmem:") - before).isGreaterThanOrEqualTo(FILLED_BYTES);
      StoredBytes stored = ArenaTest.store(arena, 1 << 20);
      SentPieces.drop(stored);
      stored.release();
      TestMemory.awaitFree(arena);
      assertThat(resident("RssShmem:") - before).isGreaterThanOrEqualTo(FILLED_BYTES);
    }
  }

  @Test
  void withoutAFileEveryPageIsPresentAfterPrefaultToo() throws IOException {
    long before = resident("RssAnon:");
    try (Arena arena = Arena.open(FILLED_BYTES)) {
      arena.prefault();
      assertThat(resident("RssAnon:") - before).isGreaterThanOrEqualTo(FILLED_BYTES - (8 << 20));
    }
  }

  @Test
  void itsMapsTakeAtMostA400thOfTheCapacity() {
    Arena.open(Arena.CAPACITY_MINIMUM_BYTES).close();
    long before = THREADS.getCurrentThreadAllocatedBytes();
    try (Arena arena = Arena.open(CAPACITY_BYTES)) {
      long maps = THREADS.getCurrentThreadAllocatedBytes() - before;
      assertThat(maps).isLessThanOrEqualTo(arena.capacityBytes() / 400);
    }
  }

  @Test
  void anObjectInOneBlockCostsOneSmallObjectOnTheHeap() {
    try (Arena arena = Arena.open(8 << 20)) {
      var all = new StoredBytes[10_000];
      long before = THREADS.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < all.length; i++) {
        all[i] = new StoredBytes(arena);
      }
      long each = (THREADS.getCurrentThreadAllocatedBytes() - before) / all.length;
      assertThat(each).isLessThanOrEqualTo(48);
      for (StoredBytes bytes : all) {
        bytes.release();
      }
    }
  }

  @Test
  void aSliceIsOneObjectOfAtMost56Octets() {
    try (Arena arena = Arena.open(8 << 20)) {
      StoredBytes stored = ArenaTest.store(arena, 1000);
      Consumer<ByteBuf> release = ByteBuf::release;
      stored.forEachSlice(0, 1000, release);
      long before = THREADS.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < 10_000; i++) {
        stored.forEachSlice(0, 1000, release);
      }
      long each = (THREADS.getCurrentThreadAllocatedBytes() - before) / 10_000;
      assertThat(each).isLessThanOrEqualTo(56);
      stored.release();
    }
  }

  private static long resident(String part) throws IOException {
    String status = Files.readString(Path.of("/proc/self/status"), StandardCharsets.US_ASCII);
    String line = status.lines().filter(l -> l.startsWith(part)).findFirst().orElseThrow();
    return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
  }
}
