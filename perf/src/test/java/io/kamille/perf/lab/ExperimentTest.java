package io.kamille.perf.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.perf.host.Resource;
import io.kamille.perf.lab.Experiment.Scale;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Finding;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;

class ExperimentTest {

  @TempDir Path directory;

  /** Two steps; the second fails if it is told to. */
  @Command
  private static final class Counting extends Experiment {
    private static final Figure COUNT = Figure.of("count");

    private final boolean fails;
    private final Samples counts = new Samples("");

    private Counting(boolean fails) {
      super("p0", "counting");
      this.fails = fails;
    }

    @Override
    Object[] setting() {
      return new Object[] {7};
    }

    @Override
    void measure() throws IOException {
      for (int i = 1; i <= 2; i++) {
        step("count to %d", i);
        if (fails && i == 2) {
          throw new IOException("no more numbers");
        }
        keep("counts.csv", counts, Sample.of("", "abacus", i).with(COUNT, i));
      }
    }

    @Override
    void report(Report report) {
      report.paragraph("counted: " + counts.all().size());
    }

    @Override
    List<Finding> findings() {
      return List.of(
          Finding.atLeast("there are many numbers", counts.all().size(), 100, 2, "two"),
          Finding.untested("there is a last one", "nobody counted so far"));
    }

    @Override
    List<String> sources() {
      return List.of("perf/src/main/java/io/kamille/perf/lab/Experiment.java");
    }
  }

  private void run(boolean fails) throws Exception {
    var counting = new Counting(fails);
    new CommandLine(counting).parseArgs("--to", directory.toString());
    counting.call();
  }

  private String text(String file) throws IOException {
    return Files.readString(directory.resolve(file));
  }

  @Test
  void aRunReplacesEarlierDataAndLeavesItsReport() throws Exception {
    Files.writeString(directory.resolve("counts.csv"), "something,else\n7,7\n");
    run(false);
    assertThat(text("counts.csv")).isEqualTo("server,round,count\nabacus,1,1\nabacus,2,2\n");
    assertThat(text("report.md"))
        .contains("# p0: counting", "How far?", "to 7", "counted: 2", "- measured code: ")
        .containsSubsequence("## What holds today", "holds less", "not tested here")
        .doesNotContain("INCOMPLETE");
  }

  @Test
  void aRunThatEndsEarlyLeavesWhatItHasAndSaysSo() {
    assertThatThrownBy(() -> run(true)).hasMessage("no more numbers");
    assertThat(directory.resolve("report.md"))
        .content()
        .contains("INCOMPLETE", "no more numbers", "counted: 1");
  }

  @Test
  void anExperimentIsOfNormalScaleUnlessSaidOtherwise() {
    var counting = new Counting(false);
    assertThat(counting.scale()).isEqualTo(Scale.NORMAL);
    new CommandLine(counting).parseArgs("--quick");
    assertThat(counting.scale()).isEqualTo(Scale.QUICK);
    new CommandLine(counting).parseArgs("--full");
    assertThat(counting.scale()).isEqualTo(Scale.FULL);
  }

  @Test
  void thePageOfEachExperimentTakesItsSetting() {
    for (var experiment : Lab.EXPERIMENTS) {
      String page = Resource.text(Experiment.class, experiment.name() + ".md");
      assertThat(String.format(Locale.ROOT, page, experiment.setting()))
          .contains("## Question", "## Setting")
          .containsPattern("## The (paper|prototype).s figures");
    }
  }

  @Test
  void otherServersAreNamedWhereTheyCanBeAsked() {
    Lab.program().parseArgs("p5", "--against", "nginx,haproxy");
    assertThatThrownBy(() -> Lab.program().parseArgs("p2", "--against", "nginx"))
        .isInstanceOf(ParameterException.class);
    assertThatThrownBy(() -> Lab.program().parseArgs("p5", "--against", "iis"))
        .hasMessageContaining("iis");
  }
}
