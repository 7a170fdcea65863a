package io.kamille.perf.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.report.Report;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PacedPointsTest {

  private final PacedPoints points = new PacedPoints();

  private void add(int rate, int interval, int round, double replies, double cpu) {
    points.add(
        new PacedPoint(
            "poll(2)",
            rate,
            interval,
            round,
            replies,
            Map.of(),
            1500,
            1000,
            4000,
            cpu,
            0.5,
            Double.NaN,
            Double.NaN,
            false));
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
    assertThat(points.table("poll(2)").rows()).hasSize(5);
    assertThat(points.table("poll(2)").rows().get(1))
        .containsExactly("1000", "0", "1000", "0", "1.50", "1.00", "4.00", "20.2", "50", "–", "–");
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
    points.plots("poll(2)", report);
    assertThat(report.plots()).isEmpty();
  }

  @Test
  void thereIsADrawingOfResponseTimeAndOneOfProcessorTime() {
    addMatrix();
    var report = new Report("whole");
    points.plots("poll(2)", report);
    assertThat(report.plots())
        .extracting(Report.PlotFile::name)
        .containsExactly("poll-2--mean.svg", "poll-2--cpu.svg");
  }
}
