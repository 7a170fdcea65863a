package io.kamille.cache.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.index.PolicySimulation.Result;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PolicySimulationTest {

  private static final long CAPACITY_BYTES = 32 << 20;
  private static final long REQUESTS = 120_000;
  private static final double POINT = 0.01;

  /** By trace and policy, because several rules look at the same run. */
  private static final Map<List<Object>, Result> RESULTS = new HashMap<>();

  private static Result run(Trace trace, PolicyChoice choice) {
    return RESULTS.computeIfAbsent(
        List.of(trace.name(), choice),
        same -> PolicySimulation.run(trace, choice, CAPACITY_BYTES, REQUESTS, REQUESTS / 2));
  }

  @ParameterizedTest
  @MethodSource("io.kamille.cache.index.Traces#all")
  void autoEndsWithTheBetterPolicy(Trace trace) {
    double tinylfu = run(trace, PolicyChoice.TINYLFU).objects();
    double lru = run(trace, PolicyChoice.LRU).objects();
    Result auto = run(trace, PolicyChoice.AUTO);
    assertThat(auto.objects()).isGreaterThan(Math.max(tinylfu, lru) - 0.5 * POINT);
  }

  @Test
  void tinyLfuIsBetterThanLruByThreePointsWherePopularityStays() {
    for (double alpha : new double[] {0.7, 0.8, 0.9, 1.0}) {
      assertThat(run(Traces.zipf(alpha), PolicyChoice.TINYLFU).objects())
          .isGreaterThan(run(Traces.zipf(alpha), PolicyChoice.LRU).objects() + 3 * POINT);
    }
    assertThat(run(Traces.scan(), PolicyChoice.TINYLFU).objects())
        .isGreaterThan(run(Traces.scan(), PolicyChoice.LRU).objects() + 3 * POINT);
  }

  @Test
  void bigFilesThatNobodyWantsAgainDoNotPushOutSmallOnes() {
    assertThat(run(Traces.big(), PolicyChoice.TINYLFU).objects())
        .isGreaterThan(run(Traces.zipf(0.8), PolicyChoice.TINYLFU).objects() - POINT);
    assertThat(run(Traces.big(), PolicyChoice.LRU).objects())
        .isGreaterThan(run(Traces.zipf(0.8), PolicyChoice.LRU).objects() - POINT);
  }
}
