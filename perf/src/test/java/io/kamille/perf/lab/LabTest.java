package io.kamille.perf.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.perf.option.Chosen;
import io.kamille.perf.option.Options;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Table;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LabTest {

  @TempDir Path directory;

  /** Two steps; the second fails if it is told to. */
  private record Counting(boolean fails, List<String> measured) implements Experiment {

    @Override
    public String setting() {
      return "Nothing else.";
    }

    @Override
    public int steps() {
      return 2;
    }

    @Override
    public void measure(LabRun run) throws IOException {
      for (int i = 1; i <= 2; i++) {
        run.step("count to " + i);
        if (fails && i == 2) {
          throw new IOException("no more numbers");
        }
        measured.add(Integer.toString(i));
        run.keep("counts.csv", "count", Integer.toString(i));
      }
    }

    @Override
    public void report(Report report) {
      report.table(new Table("counts").row(List.of(String.join(" ", measured))));
      report.plot("drawn", "<svg></svg>");
    }
  }

  private Lab lab(boolean fails) {
    var experiment = new Counting(fails, new ArrayList<>());
    var paper = new Paper("p0", "counting", "How far?", List.of("to seven"));
    return new Lab(paper, experiment, Map.of("cpu", "abacus"), directory);
  }

  private String text(String file) throws IOException {
    return Files.readString(directory.resolve(file));
  }

  @Test
  void aRunLeavesItsDataAndItsReport() throws Exception {
    lab(false).run();
    assertThat(text("counts.csv")).isEqualTo("count\n1\n2\n");
    assertThat(text("report.md"))
        .contains("# p0: counting", "How far?", "- cpu: abacus", "- to seven", "| 1 2 ")
        .doesNotContain("INCOMPLETE");
    assertThat(text("report.html")).contains("<svg></svg>");
    assertThat(text("drawn.svg")).isEqualTo("<svg></svg>");
  }

  @Test
  void aRunThatEndsEarlyLeavesWhatItHasAndSaysSo() throws Exception {
    assertThatThrownBy(() -> lab(true).run()).hasMessage("no more numbers");
    assertThat(text("counts.csv")).isEqualTo("count\n1\n");
    assertThat(text("report.md")).contains("INCOMPLETE", "no more numbers", "| 1 ");
  }

  @Test
  void aRunReplacesTheDataOfAnEarlierOneInItsDirectory() throws Exception {
    Files.writeString(directory.resolve("counts.csv"), "something,else\n7,7\n");
    lab(false).run();
    assertThat(text("counts.csv")).isEqualTo("count\n1\n2\n");
  }

  @Test
  void anExperimentIsOfNormalScaleUnlessSaidOtherwise() {
    assertThat(LabScale.of(chosen("p1"))).isEqualTo(LabScale.NORMAL);
    assertThat(LabScale.of(chosen("p2", "--quick"))).isEqualTo(LabScale.QUICK);
    assertThat(LabScale.of(chosen("p5", "--full", "--to", "there"))).isEqualTo(LabScale.FULL);
  }

  private static Chosen chosen(String name, String... words) {
    Options options = Lab.COMMANDS.named(name).orElseThrow().options();
    return options.parse(List.of(words));
  }

  @Test
  void otherServersAreNamedWhereTheyCanBeAsked() {
    assertThat(chosen("p1", "--against", "nginx,haproxy").texts("--against"))
        .containsExactly("nginx", "haproxy");
    assertThat(chosen("p5").texts("--against")).containsExactly("nginx");
    assertThatThrownBy(() -> chosen("p2", "--against", "nginx")).hasMessageContaining("--against");
    assertThatThrownBy(() -> chosen("p1", "--against", "iis")).hasMessageContaining("iis");
  }

  @Test
  void aStepTellsHowFarItIsAndHowLongItWillTakeYet() {
    var said = new ArrayList<String>();
    long[] now = {0};
    var run = new LabRun(directory, 40, said::add, () -> now[0]);
    run.step("one");
    now[0] = 3_000_000_000L;
    run.step("two");
    now[0] = 6_000_000_000L;
    run.step("three");
    assertThat(said)
        .containsExactly(
            "[1/40] one", "[2/40, 1 min 57 s left] two", "[3/40, 1 min 54 s left] three");
  }
}
