package io.kamille.perf.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.load.UserResult;
import io.kamille.perf.load.UserResult.Count;
import io.kamille.perf.report.Sample;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

/** A capacity of 1000/s, one second of it counted. */
class OverloadReportTest {

  private final OverloadReport report = new OverloadReport();

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
            1_000_000_000L,
            Map.of(
                Count.OFFERED,
                offered,
                Count.GOOD,
                good,
                Count.SHED,
                shed,
                Count.TURNED_AWAY,
                notServed - shed),
            latency,
            lateness,
            0.5);
    var metered =
        Sample.of("", server, 1)
            .with(Meter.USER, cpuMicros)
            .with(Meter.KERNEL, 0)
            .with(Meter.RESIDENT, 100 << 20);
    report.add(server, load, 1000, result, metered);
  }

  private List<String> verdicts() {
    return OverloadReport.goals().stream().map(goal -> goal.verdict(report.samples())).toList();
  }

  @Test
  void goalsAreJudgedByTheKamilleThatSheds() {
    add("kamille", 0.8, 800, 0, 2000, 800_000);
    add("off", 0.8, 800, 0, 1, 1);
    add("kamille", 3, 920, 2000, 5000, 1_000_000);
    assertThat(verdicts())
        .satisfiesExactly(
            goodput -> assertThat(goodput).startsWith("met ").contains(": 0.92 "),
            p99 -> assertThat(p99).startsWith("met ").contains(": 2.50 "),
            memory -> assertThat(memory).startsWith("met ").contains(": 1.00 "),
            // 80 ms more than 920 answers take, for 2000 requests.
            cost -> assertThat(cost).startsWith("met ").contains(": 0.04 "));
  }

  @Test
  void missedGoalsAreCalledSo() {
    add("kamille", 0.8, 800, 0, 2000, 800_000);
    add("kamille", 3, 500, 100, 9000, 1_000_000);
    assertThat(verdicts().getFirst()).startsWith("missed ").contains(": 0.50 ");
    assertThat(verdicts().get(1)).startsWith("missed ").contains(": 4.50 ");
    assertThat(verdicts().getLast()).startsWith("missed ");
  }

  @Test
  void aCostBelowNothingIsUnknown() {
    add("kamille", 0.8, 800, 0, 2000, 800_000);
    add("kamille", 3, 900, 2000, 5000, 700_000);
    assertThat(verdicts().getLast()).startsWith("unknown ");
  }

  @Test
  void itIsKeptWhereTheClientWasAtItsLimit() {
    add("kamille", 0.8, 800, 0, 2000, 800_000);
    add("kamille", 3, 920, 2000, 5000, 1_000_000, 9000);
    assertThat(report.samples().all())
        .extracting(sample -> sample.is(LoadFigures.LIMITED))
        .containsExactly(false, true);
  }

  @Test
  void whatWasNotMeasuredIsUnknown() {
    add("nginx", 3, 900, 0, 100, 100);
    assertThat(verdicts()).allSatisfy(line -> assertThat(line).startsWith("unknown "));
  }

  @Test
  void theReportHasATableAndTwoPlots() {
    add("kamille", 3, 900, 2100, 5000, 1_000_000);
    assertThat(report.report(Map.of()).plots()).hasSize(2);
    assertThat(report.report(Map.of("machine", "none")).markdown())
        .contains("1575")
        .contains("- machine: none");
    assertThat(report.samples().csv(Map.of()))
        .contains("\n3.0,kamille,1,1000.0,1.0,3000,900,0,525,1575,0,0,");
  }
}
