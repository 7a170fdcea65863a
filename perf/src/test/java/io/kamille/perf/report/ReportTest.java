package io.kamille.perf.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.report.LineChart.Point;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {

  private static final Figure MEAN = Figure.of("mean");

  @TempDir Path directory;

  @Test
  void markdownPointsToTheDrawings() throws Exception {
    var chart =
        new LineChart("mean", "rate", "ms")
            .logarithmic()
            .line("kamille", List.of(new Point(1, 2), new Point(2, 0), new Point(3, 40)));
    new Report("p0: a <test>")
        .heading("Question")
        .paragraph("Is 1 < 2?")
        .items(List.of("one", "two"))
        .items(List.of())
        .table(new Table("rate", "ms").row(List.of("1000", "2.5")))
        .plot("mean", chart)
        .plot("empty", new LineChart("nothing", "rate", "ms"))
        .write(directory);
    assertThat(directory.resolve("report.md"))
        .content()
        .startsWith("# p0: a <test>\n\n## Question\n\nIs 1 < 2?\n\n- one\n- two\n\n| rate |")
        .endsWith("![mean](mean.svg)\n\n");
    assertThat(directory.resolve("mean.svg")).content().contains("<svg");
    assertThat(directory.resolve("empty.svg")).doesNotExist();
  }

  @Test
  void aLineIsDrawnForEachServerOverItsSituations() {
    var samples = new Samples("rate");
    samples.add(Sample.of("1000", "kamille", 1).with(MEAN, 1));
    assertThat(new LineChart("mean", "rate", "ms").lines(samples, MEAN).isDrawn()).isFalse();
    samples.add(Sample.of("2000", "kamille", 1).with(MEAN, 2));
    assertThat(new LineChart("mean", "rate", "ms").lines(samples, MEAN).isDrawn()).isTrue();
  }
}
