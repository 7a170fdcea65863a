package io.kamille.perf.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.load.UserResult;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

/** A capacity of 1000/s, one second of it counted. */
class OverloadReportTest {

  private final OverloadReport report = new OverloadReport(Map.of("machine", "none"));

  private void add(
      String server, double load, long good, long notServed, long p99Micros, long cpuMicros) {
    add(server, load, good, notServed, p99Micros, cpuMicros, 0);
  }

  private void add(
      String server,
      double load,
      long good,
      long notServed,
      long p99Micros,
      long cpuMicros,
      long lateMicros) {
    var lateness = new Histogram(60_000_000_000L, 3);
    lateness.recordValue(lateMicros * 1000);
    var latency = new Histogram(60_000_000_000L, 3);
    latency.recordValue(p99Micros * 1000);
    long shed = notServed / 4;
    long offered = good + notServed;
    var result =
        new UserResult(
            1_000_000_000L, offered, good, 0, shed, notServed - shed, 0, 0, latency, lateness, 0.5);
    report.add(new OverloadPoint(server, load, 1000, result, cpuMicros, 100 << 20));
  }

  @Test
  void goalsAreJudgedByTheKamilleThatSheds() {
    add("kamille", 0.8, 800, 0, 2000, 800_000);
    add("off", 0.8, 800, 0, 1, 1);
    add("kamille", 3, 920, 2000, 5000, 1_000_000);
    assertThat(report.verdicts())
        .satisfiesExactly(
            goodput -> assertThat(goodput).startsWith("met ").endsWith(": 0.92"),
            p99 -> assertThat(p99).startsWith("met ").endsWith(": 2.50"),
            memory -> assertThat(memory).startsWith("met ").endsWith(": 1.00"),
            // 80 ms more than 920 answers take, for 2000 requests.
            cost -> assertThat(cost).startsWith("met ").endsWith(": 0.04"));
  }

  @Test
  void missedGoalsAreCalledSo() {
    add("kamille", 0.8, 800, 0, 2000, 800_000);
    add("kamille", 3, 500, 100, 9000, 1_000_000);
    assertThat(report.verdicts().getFirst()).startsWith("missed ").endsWith(": 0.50");
    assertThat(report.verdicts().get(1)).startsWith("missed ").endsWith(": 4.50");
    assertThat(report.verdicts().getLast()).startsWith("missed ");
  }

  @Test
  void aCostBelowNothingIsUnknown() {
    add("kamille", 0.8, 800, 0, 2000, 800_000);
    add("kamille", 3, 900, 2000, 5000, 700_000);
    assertThat(report.verdicts().getLast()).startsWith("unknown ").doesNotContain("not measured");
  }

  @Test
  void aVerdictSaysWhereTheClientWasAtItsLimit() {
    add("kamille", 0.8, 800, 0, 2000, 800_000);
    add("kamille", 3, 920, 2000, 5000, 1_000_000, 9000);
    assertThat(report.verdicts())
        .allSatisfy(line -> assertThat(line).endsWith(" (the client was at its limit at 3.0 ×)"));
  }

  @Test
  void whatWasNotMeasuredIsUnknown() {
    add("nginx", 3, 900, 0, 100, 100);
    assertThat(report.verdicts()).allSatisfy(line -> assertThat(line).startsWith("unknown "));
  }

  @Test
  void theReportHasATableAndTwoPlots() {
    add("kamille", 3, 900, 2100, 5000, 1_000_000);
    assertThat(report.report().plots()).hasSize(2);
    assertThat(report.report().markdown()).contains("1,575").contains("- machine: none");
    assertThat(report.csv()).contains("kamille,3.0,1000,1.0,3000,900,0,525,1575,0,0,");
  }
}
