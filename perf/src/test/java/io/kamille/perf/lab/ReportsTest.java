package io.kamille.perf.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.MeasuredCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The reports in docs/lab are of the code beside them, or say that they are not. */
class ReportsTest {

  /** Begins the line with the reason why a report of earlier code stays. */
  private static final String BEFORE = "Before: ";

  @TempDir Path directory;

  static Stream<Experiment> experiments() {
    return Lab.EXPERIMENTS.stream().filter(experiment -> Files.exists(report(experiment)));
  }

  private static Path report(Experiment experiment) {
    return Checkout.find().root().resolve("docs/lab").resolve(experiment.name() + "/report.md");
  }

  @ParameterizedTest
  @MethodSource("experiments")
  void aReportIsOfThisCodeOrSaysWhyItIsOfEarlierCode(Experiment experiment) throws IOException {
    String digest = MeasuredCode.digest(Checkout.find().root(), experiment.sources());
    assertThat(problem(Files.readAllLines(report(experiment)), digest)).isEmpty();
  }

  @Test
  void aReportIsOldOnceTheCodeHasChanged() throws IOException {
    Path source = directory.resolve("Some.java");
    Files.writeString(source, "int rate = 1;\n");
    List<String> report = reportOf("4f2c99a1b0de", digest());
    assertThat(problem(report, digest())).isEmpty();
    Files.writeString(source, "// how many\nint rate = 1;\n\n");
    assertThat(problem(report, digest())).isEmpty();
    Files.writeString(source, "int rate = 2;\n");
    assertThat(problem(report, digest())).contains("has changed");
    assertThat(problem(Stream.concat(report.stream(), Stream.of(BEFORE + "it")).toList(), digest()))
        .isEmpty();
  }

  @Test
  void aReportOfATreeThatNobodyHasIsNone() throws IOException {
    Files.writeString(directory.resolve("Some.java"), "int rate = 1;\n");
    assertThat(problem(reportOf("4f2c99a1b0de-dirty", digest()), digest())).contains("uncommitted");
  }

  private static List<String> reportOf(String commit, String digest) {
    return List.of("- commit: " + commit, "- " + Experiment.MEASURED_CODE + ": " + digest);
  }

  private String digest() throws IOException {
    return MeasuredCode.digest(directory, List.of("Some.java"));
  }

  /** What is wrong with a report; empty if nothing is. */
  private static String problem(List<String> report, String digest) {
    if (report.stream().anyMatch(line -> line.startsWith(BEFORE))) {
      return "";
    }
    if (report.stream().anyMatch(line -> line.matches("- commit: .*-dirty"))) {
      return "made from a tree with uncommitted changes (expected: from a commit)";
    }
    String expected = "- " + Experiment.MEASURED_CODE + ": " + digest;
    return report.contains(expected)
        ? ""
        : "what it measures has changed (expected: "
            + expected
            + "): run ./dev lab again, or add a line that begins with «"
            + BEFORE
            + "» and says why it stays";
  }
}
