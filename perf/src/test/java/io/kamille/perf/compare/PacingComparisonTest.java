package io.kamille.perf.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.perf.host.RunTime;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.option.Chosen;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.Samples;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class PacingComparisonTest {

  private final Samples samples = new Samples("rate", "way");

  /** A round of a thousand requests, all of them answered after the same time. */
  private void round(int round, String way, long cpuMicrosPerRequest, long latencyMicros) {
    var latency = new Histogram(1_000_000_000, 3);
    latency.recordValueWithCount(latencyMicros * 1000, 1000);
    var lateness = new Histogram(1_000_000_000, 3);
    var load =
        new LoadResult(1000, Map.of(), 0, 100_000_000, 30_000_000, latency, lateness, List.of());
    var ran = new RunTime.Taken(cpuMicrosPerRequest * 1_000_000, 0);
    samples.add(PacingComparison.sample(way, 10_000, round, load, ran));
  }

  @Test
  void cpuTimeIsDividedByCompletedRequests() {
    round(1, "off", 16, 30);
    assertThat(samples.all().getFirst().of(PacingComparison.CPU)).isEqualTo(16);
  }

  @Test
  void aGoalIsMetUpToItsLimit() {
    round(1, "off", 50, 100);
    round(1, "adaptive", 51, 150);
    assertThat(verdict("10,000/s: CPU"))
        .isEqualTo("met     10,000/s: CPU per request at most 1.02 × off: 1.02 (1.02–1.02)");
    assertThat(verdict("10,000/s: p50")).startsWith("met");
    round(2, "off", 50, 100);
    round(2, "adaptive", 53, 202);
    assertThat(verdict("10,000/s: CPU")).startsWith("missed");
    assertThat(verdict("10,000/s: p50")).startsWith("missed");
  }

  @Test
  void pausesThatSaveMayDelay() {
    round(1, "off", 20, 100);
    round(1, "adaptive", 18, 1000);
    assertThat(PacingGoals.of(samples, List.of(10_000)))
        .extracting(Goal::claim)
        .noneMatch(claim -> claim.contains("p50"));
  }

  @Test
  void onlyRatesThatWereMeasuredHaveGoals() {
    round(1, "off", 20, 100);
    round(1, "adaptive", 17, 100);
    assertThat(PacingGoals.of(samples, List.of(1000, 10_000)))
        .extracting(Goal::claim)
        .hasSize(1)
        .allMatch(claim -> claim.startsWith("10,000/s"));
  }

  private String verdict(String claim) {
    return PacingGoals.of(samples, List.of(10_000)).stream()
        .filter(goal -> goal.claim().startsWith(claim))
        .findFirst()
        .orElseThrow()
        .verdict(samples);
  }

  private static Chosen parse(String... words) {
    return PacingComparison.OPTIONS.parse(List.of(words));
  }

  private static List<Integer> rates(Chosen chosen) {
    return PacingComparison.rates(chosen, PacingComparison.subject(chosen));
  }

  @Test
  void withoutWordsOffAndAdaptiveAreComparedOnSmallHits() {
    Chosen chosen = parse();
    assertThat(PacingComparison.ways(chosen)).containsExactly("off", "adaptive");
    assertThat(rates(chosen)).containsExactly(1000, 2000, 10_000, 20_000, 50_000);
    assertThat(PacingComparison.subject(chosen).path()).isEqualTo("/hit/1024");
  }

  @Test
  void fixedIntervalsComeBesideTheWaysThatAreNamed() {
    Chosen chosen = parse("--ways", "off,250us", "--fixed", "--rates", "10,20000");
    assertThat(PacingComparison.ways(chosen)).containsExactly("off", "250us", "500us", "1ms");
    assertThat(rates(chosen)).containsExactly(10, 20_000);
    assertThatThrownBy(() -> parse("--ways", "off,fast")).hasMessageStartingWith("--ways: fast");
  }

  @Test
  void whatCostsMoreIsAskedForLessOften() {
    Chosen misses = parse("--misses");
    assertThat(PacingComparison.subject(misses).path()).isEqualTo("/pass/1024");
    assertThat(rates(misses)).endsWith(10_000);
    Chosen large = parse("--size", "65536");
    assertThat(PacingComparison.subject(large).label()).isEqualTo("64 KiB hit");
    assertThat(rates(large)).endsWith(10_000);
  }
}
