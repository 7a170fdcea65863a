package io.kamille.cache.index;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.memory.ArenaWriter;
import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.store.EncodedHead;
import io.kamille.cache.store.ResponseCodec;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.WallClock;
import io.kamille.perf.MicroBench;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/** What it costs to look up a key among 100,000: one that is there, and one that is not. */
public class IndexBench extends MicroBench {

  private static final int KEYS = 100_000;
  private static final long CAPACITY_BYTES = 256 << 20;

  private final Arena arena = Arena.open(CAPACITY_BYTES);
  private final MemoryIndex index =
      MemoryIndex.open(CAPACITY_BYTES, PolicyChoice.AUTO, arena::charge, WallClock.system());
  private final CacheKey[] stored = keys(1);
  private final CacheKey[] missing = keys(2);
  private int next;

  private static CacheKey[] keys(int seed) {
    var random = new SplittableRandom(seed);
    var keys = new CacheKey[KEYS];
    for (int i = 0; i < KEYS; i++) {
      keys[i] = CacheKey.of(random.nextLong(), random.nextLong());
    }
    return keys;
  }

  @Setup
  public void store() {
    ResponseHead head = ResponseHead.of(200);
    StoredFacts facts = StoredFacts.of(head, CachePolicy.DEFAULT, 0, 0);
    for (CacheKey key : stored) {
      ByteBuf octets = Unpooled.buffer();
      EncodedHead encoded = ResponseCodec.encode("http://example.org/", head, octets);
      ArenaWriter writer = Objects.requireNonNull(arena.writer(octets.readableBytes(), 0));
      writer.append(octets);
      var response = StoredResponse.of(encoded, writer.commit(), facts, SelectingFields.NONE);
      while (!index.put(key, response, () -> true)) {
        Thread.onSpinWait();
      }
    }
  }

  @TearDown
  public void close() {
    index.clear();
    index.close();
    arena.close();
  }

  @Benchmark
  public @Nullable Variants hit() {
    return index.find(next(stored));
  }

  @Benchmark
  public @Nullable Variants miss() {
    return index.find(next(missing));
  }

  private CacheKey next(CacheKey[] keys) {
    next = (next + 1) % KEYS;
    return keys[next];
  }
}
