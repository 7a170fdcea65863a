package io.kamille.perf.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.host.RunTime;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.report.Spread;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class PacingSamplesTest {

  private static final int RATE = 10_000;

  private final PacingSamples samples = new PacingSamples();

  /** A round of a thousand requests, all of them answered after the same time. */
  private void round(int round, String way, long cpuMicrosPerRequest, long latencyMicros) {
    var latency = new Histogram(1_000_000_000, 3);
    latency.recordValueWithCount(latencyMicros * 1000, 1000);
    var lateness = new Histogram(1_000_000_000, 3);
    var load =
        new LoadResult(1000, Map.of(), 0, 100_000_000, 30_000_000, latency, lateness, List.of());
    var ran = new RunTime.Taken(cpuMicrosPerRequest * 1_000_000, 0);
    samples.add(new PacingSample(way, RATE, round, load, ran));
  }

  @Test
  void cpuTimeIsDividedByCompletedRequests() {
    round(1, "off", 16, 30);
    assertThat(samples.of("off", RATE).getFirst().cpuMicrosPerRequest()).isEqualTo(16);
  }

  @Test
  void waysAreComparedWithinARound() {
    round(1, "off", 10, 100);
    round(1, "adaptive", 8, 400);
    round(2, "off", 20, 200);
    round(2, "adaptive", 16, 500);
    round(3, "adaptive", 1000, 1);
    assertThat(samples.ratio("adaptive", "off", RATE, PacingSample::cpuMicrosPerRequest))
        .hasValue(new Spread(0.8, 0.8, 0.8));
    assertThat(samples.difference("adaptive", "off", RATE, PacingSample::p99Micros))
        .hasValueSatisfying(spread -> assertThat(spread.median()).isBetween(299.0, 301.0));
    assertThat(samples.ratio("adaptive", "1ms", RATE, PacingSample::p99Micros)).isEmpty();
  }

  @Test
  void aGoalIsMetUpToItsLimit() {
    round(1, "off", 20, 100);
    round(1, "adaptive", 17, 100);
    assertThat(verdict("10,000/s: CPU"))
        .isEqualTo("met     10,000/s: CPU per request at most 0.85 × off: 0.85 (0.85–0.85)");
    round(2, "off", 20, 100);
    round(2, "adaptive", 18, 100);
    assertThat(verdict("10,000/s: CPU")).startsWith("missed");
    assertThat(verdict("10,000/s: p99")).startsWith("met");
    assertThat(verdict("20,000/s: CPU")).startsWith("unknown");
  }

  @Test
  void capacityHasToBeAtLeastItsLimit() {
    samples.add(new Capacity("off", 1, 100_000, false));
    samples.add(new Capacity("adaptive", 1, 110_000, false));
    assertThat(verdict("capacity")).startsWith("met     capacity at least 1.10 × off: 1.10");
    samples.add(new Capacity("off", 2, 100_000, false));
    samples.add(new Capacity("adaptive", 2, 105_000, false));
    assertThat(verdict("capacity")).startsWith("missed");
  }

  private String verdict(String claim) {
    return PacingGoal.ofSmallHits().stream()
        .filter(goal -> goal.claim().startsWith(claim))
        .findFirst()
        .orElseThrow()
        .verdict(samples);
  }

  @Test
  void theRawDataHasTheFactsAndALinePerRound() {
    round(1, "off", 16, 30);
    var report =
        new PacingReport(Map.of("cpu", "a slow one"), PacingOptions.parse(List.of()), samples);
    assertThat(report.csv())
        .startsWith("# cpu: a slow one\nway,rate,round,offered,")
        .contains("\noff,10000,1,1000,1000,0,100000000,16000000,0,30.0")
        .endsWith(",0.300,false\n");
    samples.add(new Capacity("off", 1, 100_000.4, true));
    assertThat(report.capacityCsv()).endsWith("way,round,rate,client_limited\noff,1,100000,true\n");
  }
}
