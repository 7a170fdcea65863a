package io.kamille.cache.key;

import io.kamille.core.http.RequestHead;
import io.kamille.perf.load.SampleRequest;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What it costs to build the key of a request: for a lookup, and to keep. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
@State(Scope.Thread)
public class CacheKeyBench {

  private final RequestHead request = SampleRequest.CURL.head();
  private final CacheKeyProbe probe = new CacheKeyProbe();

  @Benchmark
  public CacheKey probe() {
    return probe.keyOf(request);
  }

  @Benchmark
  public CacheKey copy() {
    return probe.keyOf(request).copy();
  }
}
