package io.kamille.cache.rules;

import io.kamille.core.http.ResponseHead;
import io.kamille.perf.MicroBench;
import org.openjdk.jmh.annotations.Benchmark;

/** What it costs to work out how long a response is fresh, once when it comes and at each hit. */
public class FreshnessBench extends MicroBench {

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
