package io.kamille.perf.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.host.CpuTime;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.report.Report;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class PacedPointsTest {

  private final PacedPoints points = new PacedPoints();

  /** A second of load on a server that takes so much for each reply. */
  private void add(int rate, int interval, int round, long replies, double cpu) {
    var latency = new Histogram(60_000_000_000L, 3);
    latency.recordValueWithCount(1_500_000, replies);
    var load =
        new LoadResult(rate, Map.of(), 0, 1_000_000_000L, 1, latency, new Histogram(3), List.of());
    long ranNanos = Math.round(cpu * 1000 * replies);
    var untold = new PacedTarget.Polls(-1, 0);
    var taken = new PacedTarget.Taken(ranNanos, new CpuTime(5, 5), untold);
    points.of("poll(2)").add(PacedPoints.sample("poll(2)", rate, interval, round, load, taken));
  }

  private void addMatrix() {
    for (int round = 1; round <= 3; round++) {
      add(1000, 0, round, 1000, 20 + round * 0.1);
      add(1000, 10_000, round, 1000, 10 + round * 0.1);
      add(4000, 0, round, 3000 + round, 20);
      add(4000, 10_000, round, 3600 + round * 3, 16);
    }
  }

  @Test
  void aRowHasTheMediansOfItsRounds() {
    addMatrix();
    var report = new Report("medians");
    points.report("poll(2)", report);
    List<String> rows = report.markdown().lines().filter(line -> line.startsWith("|")).toList();
    assertThat(rows).hasSize(6);
    assertThat(rows.get(2).replaceAll("[ |]+", " ").strip())
        .isEqualTo("0 1000 1000 0 1.50 1.50 1.50 20.2 50 – –");
  }

  @Test
  void theHighestRateTellsOfThroughputAndTheMiddleOneOfProcessorTime() {
    addMatrix();
    assertThat(points.findings("poll(2)"))
        .satisfiesExactly(
            one ->
                assertThat(one)
                    .startsWith("poll(2) at 4,000 requests/s offered: with 10 ms between two polls")
                    .contains("replies/s +20.1 %"),
            two -> assertThat(two).contains("at 4,000 requests/s", "CPU time/reply -20.0 %"));
  }

  @Test
  void whatIsNotMeasuredYetIsLeftOut() {
    assertThat(points.findings("poll(2)")).isEmpty();
    add(1000, 0, 1, 1000, 20);
    assertThat(points.findings("poll(2)")).isEmpty();
    var report = new Report("partial");
    points.report("poll(2)", report);
    assertThat(report.plots()).isEmpty();
  }

  @Test
  void thereIsADrawingOfResponseTimeAndOneOfProcessorTime() {
    addMatrix();
    var report = new Report("whole");
    points.report("poll(2)", report);
    assertThat(report.plots())
        .extracting(Report.PlotFile::name)
        .containsExactly("poll-2--mean.svg", "poll-2--cpu.svg");
  }
}
