package io.kamille.perf.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.host.CpuTime;
import io.kamille.perf.load.LoadFailure;
import io.kamille.perf.load.LoadResult;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class WebAxeReportTest {

  private static final long SECOND = 1_000_000_000L;

  private final WebAxeReport report =
      new WebAxeReport(
          Map.of("cpu", "abacus"), List.of("kamille", "nginx"), WebAxeOptions.parse(List.of()));

  private static LoadResult load(Map<LoadFailure, Long> failures, double busy) {
    var latency = new Histogram(3);
    latency.recordValueWithCount(1_000_000, 1000);
    long busyNanos = (long) (busy * SECOND);
    return new LoadResult(
        1000, failures, 0, SECOND, busyNanos, latency, new Histogram(3), List.of());
  }

  private static WebAxeSample sample(
      String server, int round, double offered, long forwarded, Map<LoadFailure, Long> failures) {
    var cpu = new CpuTime(1, 1);
    return new WebAxeSample(
        server, round, load(failures, 0.5), 1000, offered, forwarded, cpu, new CpuTime(5, 5));
  }

  private static CleanRate rate(String server, int round, double rate, double busy) {
    var limit = new CleanRate.Limit(rate * 1.04, load(Map.of(), busy), new CpuTime(20, 20));
    return new CleanRate(server, round, rate, limit);
  }

  @Test
  void whatDoesNotReachTheOriginIsAHit() {
    WebAxeSample sample = sample("kamille", 1, 0.5, 250, Map.of());
    assertThat(sample.hitRatio()).isEqualTo(0.75);
    assertThat(sample.missedPoints()).isEqualTo(25);
    assertThat(sample.cpuMicrosPerRequest()).isEqualTo(20);
    assertThat(sample.originCoreShare()).isEqualTo(0.1);
  }

  @Test
  void goalsGoByMediansAndARatioByRounds() {
    report.add(sample("kamille", 1, 0.70, 310, Map.of()));
    report.add(sample("kamille", 2, 0.70, 302, Map.of()));
    report.add(sample("kamille", 3, 0.70, 304, Map.of()));
    report.add(rate("nginx", 1, 10_000, 0.5));
    report.add(rate("nginx", 2, 12_000, 0.5));
    report.add(rate("kamille", 1, 16_000, 0.5));
    report.add(rate("kamille", 2, 18_000, 0.5));
    assertThat(report.goals())
        .containsExactly(
            "met     hit ratio within 0.5 points of the offered: -0.40 (-1.00–-0.20)",
            "met     no error at the fixed rate: 0.00 (0.00–0.00)",
            "met     clean rate at least 1.50 × nginx: 1.55 (1.50–1.60)");
  }

  @Test
  void oneErrorOfAnyRoundMissesTheGoal() {
    report.add(sample("kamille", 1, 0.70, 300, Map.of()));
    report.add(sample("kamille", 2, 0.70, 300, Map.of(LoadFailure.RESET, 1L)));
    report.add(sample("kamille", 3, 0.70, 300, Map.of()));
    assertThat(report.goals().get(1)).startsWith("missed  no error");
  }

  @Test
  void whatWasNotMeasuredIsUnknown() {
    assertThat(report.goals()).allMatch(goal -> goal.startsWith("unknown "));
  }

  @Test
  void aSearchThatClientOrOriginEndedSaysSo() {
    assertThat(rate("kamille", 1, 10_000, 0.5).isOthersLimited()).isFalse();
    assertThat(rate("kamille", 1, 10_000, 0.97).isOthersLimited()).isTrue();
    assertThat(new CleanRate("kamille", 1, 10_000, null).isOthersLimited()).isTrue();
  }

  @Test
  void theRawDataHaveALineForEachRoundBelowTheFacts() {
    report.add(sample("kamille", 1, 0.5, 500, Map.of()));
    report.add(rate("kamille", 1, 10_000, 0.5));
    assertThat(report.csv()).startsWith("# cpu: abacus\n").contains("\nkamille,1,1000,1000,0,,");
    assertThat(report.cleanCsv())
        .contains("\nkamille,1,10000.0,10400.0,1000.0,,")
        .endsWith(",0.5,0.4,false\n");
  }
}
