package io.kamille.cache.semantics;

import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.perf.load.SampleRequest;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What it costs to decide that a fresh response serves, with and without a demanding client. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
@State(Scope.Thread)
public class ReusePlannerBench {

  private static final long NOW = 1_800_000_000;

  @Param SampleRequest request = SampleRequest.CURL;

  private final StoredFacts stored =
      StoredFacts.of(
          ResponseHead.of(200, "Cache-Control", "max-age=3600"), CachePolicy.DEFAULT, NOW, NOW);
  private RequestHead plain = new RequestHead();
  private RequestHead demanding = new RequestHead();

  @Setup
  public void parse() {
    plain = request.head();
    demanding = request.head();
    demanding.fields().add("Cache-Control", "max-age=60, min-fresh=5");
  }

  @Benchmark
  public ReusePlan plain() {
    return ReusePlanner.plan(plain, stored, NOW + 5);
  }

  @Benchmark
  public ReusePlan demanding() {
    return ReusePlanner.plan(demanding, stored, NOW + 5);
  }
}
