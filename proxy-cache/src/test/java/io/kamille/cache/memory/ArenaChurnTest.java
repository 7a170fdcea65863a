package io.kamille.cache.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.FileRegion;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several threads store, lease and replace in one nearly full arena. */
class ArenaChurnTest {

  private static final int THREADS = 4;
  private static final int STEPS = 15_000;
  private static final int PLACES = 160;

  @ParameterizedTest(name = "{0} shards")
  @ValueSource(ints = {1, 4})
  void nobodySeesAnothersOctetsAndEveryGranuleComesBack(int shards)
      throws InterruptedException, ExecutionException {
    churn(Arena.open(2 << 20, shards));
  }

  @Test
  void norInAnArenaThatRegionsAreSentOf() throws InterruptedException, ExecutionException {
    churn(Arena.open(2 << 20, 2, MemoryFile::open));
  }

  private static void churn(Arena opened) throws InterruptedException, ExecutionException {
    var places = new AtomicReferenceArray<@Nullable StoredBytes>(PLACES);
    try (Arena arena = opened;
        ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      List<Future<Integer>> running = new ArrayList<>();
      for (int thread = 0; thread < THREADS; thread++) {
        long seed = 100L + thread;
        running.add(threads.submit(() -> churn(arena, places, seed)));
      }
      int read = 0;
      for (Future<Integer> result : running) {
        read += result.get();
      }
      assertThat(read).isPositive();
      for (int place = 0; place < PLACES; place++) {
        StoredBytes left = places.get(place);
        if (left != null) {
          left.release();
        }
      }
      TestMemory.awaitFree(arena);
      assertThat(arena.retiredBytes()).isZero();
      assertThat((long) arena.shards().longestRun() * Block.GRANULE_BYTES).isEqualTo(Slab.BYTES);
    }
  }

  private static int churn(
      Arena arena, AtomicReferenceArray<@Nullable StoredBytes> places, long seed) {
    var random = new Random(seed);
    int read = 0;
    for (int step = 0; step < STEPS; step++) {
      int place = random.nextInt(PLACES);
      if (random.nextInt(3) == 0) {
        replace(arena, places, place, (int) seed, random);
      } else {
        StoredBytes stored = places.get(place);
        if (stored != null && stored.tryRetain()) {
          assertOneColour(stored);
          SentPieces.of(stored).forEach(ArenaChurnTest::assertOneColour);
          stored.release();
          read++;
        }
      }
    }
    return read;
  }

  private static void replace(
      Arena arena,
      AtomicReferenceArray<@Nullable StoredBytes> places,
      int place,
      int home,
      Random random) {
    byte[] content = new byte[random.nextInt(random.nextInt(20) == 0 ? 200_000 : 20_000)];
    Arrays.fill(content, (byte) random.nextInt());
    ArenaWriter writer = TestMemory.writer(arena, home);
    StoredBytes stored = null;
    if (writer.append(Unpooled.wrappedBuffer(content))) {
      stored = writer.commit();
    } else {
      writer.abandon();
    }
    StoredBytes replaced = places.getAndSet(place, stored);
    if (replaced != null) {
      replaced.release();
    }
  }

  private static void assertOneColour(StoredBytes stored) {
    byte[] content = new byte[(int) stored.length()];
    stored.copyTo(0, content, 0, content.length);
    assertOneColour(content);
  }

  private static void assertOneColour(Object piece) {
    if (piece instanceof FileRegion region) {
      var content = new ByteArrayOutputStream();
      try {
        while (region.transferred() < region.count()) {
          region.transferTo(Channels.newChannel(content), region.transferred());
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      assertOneColour(content.toByteArray());
    }
    ReferenceCountUtil.release(piece);
  }

  private static void assertOneColour(byte[] content) {
    for (byte octet : content) {
      if (octet != content[0]) {
        throw new AssertionError("octets were overwritten while leased");
      }
    }
  }
}
