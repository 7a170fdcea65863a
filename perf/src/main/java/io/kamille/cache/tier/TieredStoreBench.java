package io.kamille.cache.tier;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.semantics.CachePolicy;
import io.kamille.cache.semantics.StoredFacts;
import io.kamille.cache.store.Variants;
import io.kamille.core.http.ResponseHead;
import io.kamille.perf.load.LoopThreads;
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

  private final FilledStore filled = FilledStore.open(CAPACITY_BYTES);
  private final CacheKey[] present = new CacheKey[KEYS];
  private final CacheKey[] absent = new CacheKey[KEYS];
  private int next;

  @Setup
  public void fill() {
    var head = ResponseHead.of(200, "Cache-Control", "max-age=3600");
    for (int i = 0; i < KEYS; i++) {
      String uri = "http://www.example.org/" + i;
      present[i] = FilledStore.key(uri);
      absent[i] = FilledStore.key("http://www.example.net/" + i);
      filled.put(uri, head, StoredFacts.of(head, CachePolicy.DEFAULT, NOW, NOW), 0);
    }
  }

  @TearDown
  public void close() {
    filled.close();
  }

  @Benchmark
  public @Nullable Variants hit() {
    return filled.store().find(present[nextIndex()]);
  }

  @Benchmark
  public @Nullable Variants miss() {
    return filled.store().find(absent[nextIndex()]);
  }

  private int nextIndex() {
    next = next + 1 == KEYS ? 0 : next + 1;
    return next;
  }
}
