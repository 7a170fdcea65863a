package io.kamille.perf.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kamille.perf.report.Report;
import io.kamille.perf.wan.PathSettings;
import org.junit.jupiter.api.Test;

class LossyPointsTest {

  private static final LossyPoint.Wan SOUND = new LossyPoint.Wan(100, 0.3, 0.04, 0, 0);

  private final LossyPoints points = new LossyPoints();

  private void add(String server, int loss, int rate, double replies, LossyPoint.Wan wan) {
    add(server, loss, rate, rate, replies, wan);
  }

  private void add(
      String server, int loss, int rate, double due, double replies, LossyPoint.Wan wan) {
    var path = new LossyPath(16 << 10, 100, loss, rate);
    points.add(
        new LossyPoint(server, path, due, replies, 2, 0, 210, 205, 1300, 30, 60, 50, false, wan));
  }

  @Test
  void repliesAreComparedWithWhatWasDueNotWithTheNominalRate() {
    add("kamille", 0, 400, 370, 370, SOUND);
    add("kamille", 4, 400, 410, 369, SOUND);
    LossyFall fall = points.falls().getFirst();
    assertThat(fall.isSustainable()).isTrue();
    assertThat(fall.share()).isCloseTo(0.1, within(1e-9));
  }

  @Test
  void withAndWithoutLossItIsCountedAfterTheSameTime() {
    for (int bytes : new int[] {16 << 10, 1 << 20}) {
      var lossy = new LossyPath(bytes, 100, 4, 10);
      assertThat(lossy.clean().settling()).isEqualTo(lossy.settling());
    }
  }

  @Test
  void theFallIsThatOfTheReplyRateBesideTheSamePathWithoutLoss() {
    add("kamille", 0, 400, 400, SOUND);
    add("kamille", 4, 400, 380, SOUND);
    LossyFall fall = points.falls().getFirst();
    assertThat(fall.share()).isCloseTo(0.05, within(1e-9));
    assertThat(fall.isSustainable()).isTrue();
    assertThat(points.findings())
        .singleElement()
        .asString()
        .contains("kamille at 4 % loss", "5.0 %", "reached");
  }

  @Test
  void theWorstSustainableCellDecides() {
    add("kamille", 0, 400, 400, SOUND);
    add("kamille", 4, 400, 396, SOUND);
    add("kamille", 0, 800, 800, SOUND);
    add("kamille", 4, 800, 640, SOUND);
    add("kamille", 0, 1600, 900, SOUND);
    add("kamille", 4, 1600, 100, SOUND);
    assertThat(points.findings())
        .singleElement()
        .asString()
        .contains("20.0 %", "800 requests/s", "2 cells", "missed");
  }

  @Test
  void aPathThatWasNotAsOrderedSaysNothingAboutTheServer() {
    add("nginx", 0, 400, 400, SOUND);
    add("nginx", 4, 400, 200, new LossyPoint.Wan(100, 0.3, 0.04, 0, 7));
    add("nginx", 4, 400, 200, new LossyPoint.Wan(5000, 0.3, 0.04, 0, 0));
    assertThat(points.falls()).hasSize(2).noneMatch(LossyFall::isSustainable);
    assertThat(points.findings()).singleElement().asString().contains("no cell");
  }

  @Test
  void aReportHasEachCellAndADrawingOfEachPlace() {
    add("kamille", 0, 400, 400, SOUND);
    add("kamille", 4, 400, 380, SOUND);
    var report = new Report("p5");
    points.report(report);
    assertThat(report.markdown()).contains("16 KB, round trip 100 ms", "| kamille");
    assertThat(report.plots()).hasSize(2).allMatch(plot -> plot.svg().contains("loss each way"));
    add("kamille", 4, 800, 700, SOUND);
    points.report(report);
    assertThat(report.plots()).last().matches(plot -> plot.svg().contains("offered per second"));
  }

  @Test
  void aLineOfRawDataHasAValueForEachTitle() {
    var path = new LossyPath(1 << 20, 0, 1, 10);
    var point = new LossyPoint("nginx", path, 10, 10, 1, 0, 5, 5, 9, 900, 700, 50, false, SOUND);
    assertThat(point.line().split(",", -1)).hasSameSizeAs(LossyPoint.TITLES.split(",", -1));
    assertThat(point.cpuShare()).isCloseTo(0.016, within(1e-9));
  }

  @Test
  void halfOfTheRoundTripIsSpentEachWay() {
    PathSettings settings = PathSettings.NONE.with(new LossyPath(16 << 10, 100, 4, 400).link());
    assertThat(settings.delayNanos()).isEqualTo(50_000_000);
    assertThat(settings.loss().share()).isCloseTo(0.04, within(1e-9));
  }
}
