package io.kamille.cache.rules;

import io.kamille.core.http.ResponseHead;
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

/** What it costs to work out how long a response is fresh, once when it comes and at each hit. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
@State(Scope.Thread)
public class FreshnessBench {

  private static final long NOW = 1_800_000_000;

  private final ResponseHead response =
      ResponseHead.of(
          200,
          "Date",
          "Fri, 15 Jan 2027 08:00:00 GMT",
          "Content-Type",
          "text/html",
          "Cache-Control",
          "public, max-age=3600, stale-while-revalidate=60",
          "ETag",
          "\"5f2b7c0e\"",
          "Last-Modified",
          "Thu, 14 Jan 2027 08:00:00 GMT");
  private final StoredFacts stored = StoredFacts.of(response, CachePolicy.DEFAULT, NOW, NOW);
  private long now = NOW + 5;

  @Benchmark
  public StoredFacts factsOfResponse() {
    return StoredFacts.of(response, CachePolicy.DEFAULT, now, now);
  }

  @Benchmark
  public boolean isFresh() {
    return stored.isFresh(now);
  }
}
