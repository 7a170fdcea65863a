package io.kamille.perf.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.util.List;
import org.junit.jupiter.api.Test;

class RequestComparisonTest {

  private final Samples samples = new Samples("subject");

  private void add(String work, String server, int round, int userMicros) {
    samples.add(
        Sample.of(work, server, round)
            .with(Figure.of("requests"), 100)
            .with(Meter.USER, userMicros)
            .with(Meter.KERNEL, 400));
  }

  @Test
  void theSummaryHasMediansOfRatiosAndNothingThatWasNotMeasured() {
    for (int round = 1; round <= 3; round++) {
      add("hit", "kamille", round, 100 * round);
      add("hit", "nginx", round, 800 * round);
    }
    add("not cacheable", "nginx", 1, 600);
    assertThat(RequestComparison.summary(samples).rows().stream().skip(1))
        .containsExactly(
            List.of("hit", "", "0.30", "6.00", "2.00"), List.of("not cacheable", "", "", "", ""));
  }

  @Test
  void everySubjectHasALabelOfItsOwn() {
    assertThat(Subject.ALL.stream().map(Subject::label)).doesNotHaveDuplicates();
  }

  @Test
  void aPathThatAlwaysChangesEndsAsTheScriptOfWrkExpects() {
    assertThat(Subject.ALL)
        .allSatisfy(
            subject ->
                assertThat(subject.path().endsWith("="))
                    .isEqualTo(subject.kind() == Subject.Kind.NEW));
  }
}
