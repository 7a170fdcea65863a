package io.kamille.perf.compare;

import static io.kamille.perf.compare.WebAxeComparison.OTHERS_LIMITED;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.load.LoadFailure;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class WebAxeComparisonTest {

  private static final long SECOND = 1_000_000_000L;

  private final Samples fixed = new Samples("");
  private final Samples clean = new Samples("");

  private static LoadResult load(Map<LoadFailure, Long> failures, double busy) {
    var latency = new Histogram(3);
    latency.recordValueWithCount(1_000_000, 1000);
    long busyNanos = (long) (busy * SECOND);
    return new LoadResult(
        1000, failures, 0, SECOND, busyNanos, latency, new Histogram(3), List.of());
  }

  private static Sample sample(
      String server, int round, double offered, long forwarded, Map<LoadFailure, Long> failures) {
    return LoadFigures.with(Sample.of("", server, round), load(failures, 0.5))
        .with(WebAxeComparison.REQUESTS, 1000)
        .with(WebAxeComparison.OFFERED_RATIO, offered)
        .with(WebAxeComparison.FORWARDED, forwarded);
  }

  private static Sample rate(String server, int round, double rate, @Nullable LoadResult limit) {
    return WebAxeComparison.sample(server, round, rate, rate * 1.04, limit);
  }

  private List<String> verdicts() {
    return WebAxeComparison.goals(clean).stream().map(goal -> goal.verdict(fixed)).toList();
  }

  @Test
  void whatDoesNotReachTheOriginIsAHit() {
    Sample sample = sample("kamille", 1, 0.5, 250, Map.of());
    assertThat(sample.of(WebAxeComparison.HIT_RATIO)).isEqualTo(0.75);
    assertThat(sample.of(WebAxeComparison.POINTS)).isEqualTo(25);
  }

  @Test
  void goalsGoByMediansAndARatioByRounds() {
    fixed.add(sample("kamille", 1, 0.70, 310, Map.of()));
    fixed.add(sample("kamille", 2, 0.70, 302, Map.of()));
    fixed.add(sample("kamille", 3, 0.70, 304, Map.of()));
    clean.add(rate("nginx", 1, 10_000, null));
    clean.add(rate("nginx", 2, 12_000, null));
    clean.add(rate("kamille", 1, 16_000, null));
    clean.add(rate("kamille", 2, 18_000, null));
    assertThat(verdicts())
        .containsExactly(
            "met     hit ratio within 0.5 points of the offered: -0.40 (-1.00–-0.20)",
            "met     no error at the fixed rate: 0.00 (0.00–0.00)",
            "met     clean rate at least 1.50 × nginx: 1.55 (1.50–1.60)");
  }

  @Test
  void oneErrorOfAnyRoundMissesTheGoal() {
    fixed.add(sample("kamille", 1, 0.70, 300, Map.of()));
    fixed.add(sample("kamille", 2, 0.70, 300, Map.of(LoadFailure.RESET, 1L)));
    fixed.add(sample("kamille", 3, 0.70, 300, Map.of()));
    assertThat(verdicts().get(1)).startsWith("missed  no error");
  }

  @Test
  void whatWasNotMeasuredIsUnknown() {
    assertThat(verdicts()).allMatch(goal -> goal.startsWith("unknown "));
  }

  @Test
  void aSearchThatClientOrOriginEndedSaysSo() {
    assertThat(rate("kamille", 1, 10_000, load(Map.of(), 0.5)).is(OTHERS_LIMITED)).isFalse();
    assertThat(rate("kamille", 1, 10_000, load(Map.of(), 0.97)).is(OTHERS_LIMITED)).isTrue();
    assertThat(rate("kamille", 1, 10_000, null).is(OTHERS_LIMITED)).isTrue();
  }
}
