package io.kamille.perf.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kamille.perf.host.CpuTime;
import io.kamille.perf.lab.LossyPoints.Fall;
import io.kamille.perf.load.AnswerSource;
import io.kamille.perf.load.LoadOutcome;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.wan.PathSettings;
import io.kamille.perf.wan.WanStats;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class LossyPointsTest {

  private static final LoadRequest REQUEST = LoadRequest.get("a", "/", new byte[0]);

  private static final int SECONDS = 10;

  private final LossyPoints points = new LossyPoints();

  private void add(String server, int loss, int rate, int replies) {
    add(server, loss, rate, rate, replies, 100_000, 0);
  }

  /** A cell over an emulator that was so late, and whose devices dropped so many packets. */
  private void add(
      String server, int loss, int rate, double due, int replies, long lateNanos, long dropped) {
    var path = new LossyPath(16 << 10, 100, loss, rate);
    long[] now = {0};
    var seen = new LossyReplies(Duration.ZERO, SECONDS, () -> now[0]);
    for (int i = 0; i < replies * SECONDS; i++) {
      long intended = i * 1_000_000_000L / replies;
      now[0] = intended + 500_000;
      seen.ended(new LoadOutcome(REQUEST, intended, intended, intended, AnswerSource.MEMORY, null));
    }
    var none = new Histogram(3);
    var load = new LoadResult(rate, Map.of(), 0, 1_000_000_000L, 1, none, none, List.of());
    var way = new WanStats.Way(1000, 10L * loss, 0, 0);
    var link = new WanStats.Link("path", way, way);
    var stats = new WanStats(List.of(link), 0, lateNanos, 0, 0, 3, 10);
    points
        .all()
        .add(LossyPoints.sample(server, path, due, seen, load, new CpuTime(3, 6), stats, dropped));
  }

  private LossyPoints.Fall fall() {
    return points.falls("kamille at 4 % loss").getFirst();
  }

  @Test
  void repliesAreComparedWithWhatWasDueNotWithTheNominalRate() {
    add("kamille", 0, 400, 370, 370, 0, 0);
    add("kamille", 4, 400, 410, 369, 0, 0);
    assertThat(fall().isSustainable()).isTrue();
    assertThat(fall().share()).isCloseTo(0.1, within(1e-9));
  }

  @Test
  void withAndWithoutLossItIsCountedAfterTheSameTime() {
    for (int bytes : new int[] {16 << 10, 1 << 20}) {
      var lossy = new LossyPath(bytes, 100, 4, 10);
      var clean = new LossyPath(bytes, 100, 0, 10);
      assertThat(clean.settling()).isEqualTo(lossy.settling());
    }
  }

  @Test
  void theFallIsThatOfTheReplyRateBesideTheSamePathWithoutLoss() {
    add("kamille", 0, 400, 400);
    add("kamille", 4, 400, 380);
    assertThat(fall().share()).isCloseTo(0.05, within(1e-9));
    assertThat(fall().isSustainable()).isTrue();
    assertThat(points.findings())
        .singleElement()
        .asString()
        .contains("kamille at 4 % loss", "5.0 %", "reached");
  }

  @Test
  void theWorstSustainableCellDecides() {
    add("kamille", 0, 400, 400);
    add("kamille", 4, 400, 396);
    add("kamille", 0, 800, 800);
    add("kamille", 4, 800, 640);
    add("kamille", 0, 1600, 900);
    add("kamille", 4, 1600, 100);
    assertThat(points.findings())
        .singleElement()
        .asString()
        .contains("20.0 %", "800 requests/s", "2 cells", "missed");
  }

  @Test
  void aPathThatWasNotAsOrderedSaysNothingAboutTheServer() {
    add("nginx", 0, 400, 400);
    add("nginx", 4, 400, 400, 200, 100_000, 7);
    add("nginx", 4, 400, 400, 200, 5_000_000, 0);
    assertThat(points.falls("nginx at 4 % loss")).hasSize(2).noneMatch(Fall::isSustainable);
    assertThat(points.findings()).singleElement().asString().contains("no cell");
  }

  @Test
  void aReportHasEachCellAndADrawingOfEachPlace() {
    add("kamille", 0, 400, 400);
    add("kamille", 4, 400, 380);
    var report = new Report("p5");
    points.report(report);
    assertThat(report.markdown()).contains("16 KB, round trip 100 ms", "| kamille");
    assertThat(report.plots()).isEmpty();
    add("kamille", 4, 800, 700);
    points.report(report);
    assertThat(report.plots())
        .hasSize(2)
        .allMatch(plot -> plot.svg().contains("offered per second"));
  }

  @Test
  void aLineOfRawDataHasAValueForEachTitle() {
    add("nginx", 1, 10, 10);
    Sample sample = points.all().all().getFirst();
    assertThat(points.all().line(sample).split(",", -1))
        .hasSameSizeAs(points.all().titles(sample).split(",", -1));
    assertThat(points.all().titles(sample))
        .startsWith("rate,server,round,object_bytes,rtt_ms,loss_percent,due_per_second");
  }

  @Test
  void halfOfTheRoundTripIsSpentEachWay() {
    PathSettings settings = PathSettings.NONE.with(new LossyPath(16 << 10, 100, 4, 400).link());
    assertThat(settings.delayNanos()).isEqualTo(50_000_000);
    assertThat(settings.loss().share()).isCloseTo(0.04, within(1e-9));
  }
}
