package io.kamille.cache.tier;

import io.kamille.cache.index.CaffeineIndex;
import io.kamille.cache.index.IndexMemory;
import io.kamille.cache.index.PolicyChoice;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.semantics.CachePolicy;
import io.kamille.cache.semantics.SelectingFields;
import io.kamille.cache.semantics.StoredFacts;
import io.kamille.cache.store.EncodedHead;
import io.kamille.cache.store.ResponseCodec;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.time.WallClock;
import io.kamille.perf.load.LoopThreads;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** What it costs to look a key up among ten thousand, in Caffeine. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
    value = 2,
    jvmArgsAppend = {LoopThreads.OPTION, LoopThreads.CLASS_OPTION})
@State(Scope.Thread)
public class TieredStoreBench {

  private static final int KEYS = 10_000;
  private static final long CAPACITY_BYTES = 64 << 20;
  private static final long NOW = 1_800_000_000;

  private final Arena arena = Arena.open(CAPACITY_BYTES);
  private final TieredStore store =
      new TieredStore(
          arena,
          CaffeineIndex.inCaller(
              TieredStore.indexCapacityBytes(arena.capacityBytes()),
              PolicyChoice.AUTO,
              IndexMemory.UNLIMITED,
              WallClock.system()),
          new PurgeTable());
  private final CacheKey[] present = new CacheKey[KEYS];
  private final CacheKey[] absent = new CacheKey[KEYS];
  private int next;

  @Setup
  public void fill() {
    for (int i = 0; i < KEYS; i++) {
      String uri = "http://www.example.org/" + i;
      present[i] = CacheKey.of(RequestHead.of("GET", uri));
      absent[i] = CacheKey.of(RequestHead.of("GET", "http://www.example.net/" + i));
      store(present[i], uri);
    }
  }

  private void store(CacheKey key, String uri) {
    ByteBuf octets = Unpooled.buffer();
    ResponseHead head = ResponseHead.of(200, "Cache-Control", "max-age=3600");
    EncodedHead encoded = ResponseCodec.encode(uri, head, octets);
    Reservation reservation = store.reserve(octets.readableBytes(), 0);
    if (reservation == null || !reservation.append(octets)) {
      throw new IllegalStateException("the arena is too small for " + KEYS + " responses");
    }
    octets.release();
    StoredFacts facts = StoredFacts.of(head, CachePolicy.DEFAULT, NOW, NOW);
    store
        .commit(
            key,
            reservation,
            store.moment(key),
            filled -> StoredResponse.of(encoded, filled, facts, SelectingFields.NONE))
        .release();
  }

  @TearDown
  public void close() {
    store.clear();
    arena.close();
  }

  @Benchmark
  public @Nullable Variants hit() {
    return store.find(present[nextIndex()]);
  }

  @Benchmark
  public @Nullable Variants miss() {
    return store.find(absent[nextIndex()]);
  }

  private int nextIndex() {
    next = next + 1 == KEYS ? 0 : next + 1;
    return next;
  }
}
