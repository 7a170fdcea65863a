package io.kamille.perf.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class SamplesTest {

  private static final Figure CPU = Figure.of("cpu_micros");
  private static final Figure REQUESTS = Figure.of("requests");
  private static final Figure OUT = Figure.of("out_seconds");
  private static final Figure EACH = CPU.per(REQUESTS);

  private final Samples samples = new Samples("subject");

  private void round(int round, String subject, String server, long cpuMicros) {
    samples.add(Sample.of(subject, server, round).with(CPU, cpuMicros).with(REQUESTS, 100));
  }

  @Test
  void ratiosAreTakenWithinARound() {
    round(1, "small", "kamille", 600);
    round(1, "small", "haproxy", 1200);
    round(2, "small", "kamille", 900);
    round(2, "small", "haproxy", 1800);
    round(3, "small", "haproxy", 1);
    assertThat(samples.ratio(EACH, "small", "kamille", "haproxy"))
        .hasValue(new Spread(0.5, 0.5, 0.5));
    assertThat(samples.difference(EACH, "small", "haproxy", "kamille"))
        .hasValue(new Spread(6, 7.5, 9));
  }

  @Test
  void withoutACommonRoundThereIsNoRatio() {
    round(1, "small", "kamille", 600);
    round(2, "small", "haproxy", 1200);
    round(2, "large", "kamille", 1200);
    assertThat(samples.ratio(EACH, "small", "kamille", "haproxy")).isEmpty();
    assertThat(samples.multiple(EACH, "kamille", "small", "large")).isEmpty();
  }

  @Test
  void aServerIsComparedWithItselfInAnotherSituation() {
    round(1, "alone", "kamille", 100);
    round(2, "alone", "kamille", 1000);
    round(1, "beside", "kamille", 120);
    round(2, "beside", "kamille", 1400);
    assertThat(samples.multiple(CPU, "kamille", "beside", "alone").orElseThrow().text(2))
        .isEqualTo("1.30 (1.20–1.40)");
  }

  @Test
  void theMedianDecidesWhetherAGoalIsMetUpToItsLimit() {
    var goal = Goal.atMost(0.5, "half", all -> all.ratio(EACH, "small", "kamille", "haproxy"));
    assertThat(goal.verdict(samples)).isEqualTo("unknown half: not measured");
    round(1, "small", "kamille", 600);
    round(1, "small", "haproxy", 1200);
    assertThat(goal.verdict(samples)).isEqualTo("met     half: 0.50 (0.50–0.50)");
    round(2, "small", "kamille", 700);
    round(2, "small", "haproxy", 1200);
    assertThat(goal.verdict(samples)).startsWith("missed  half: 0.54");
    assertThat(Goal.atLeast(0.5, "half", goal.measured()).verdict(samples)).startsWith("met");
  }

  @Test
  void columnsAreMediansSpreadsSumsAndRatios() {
    round(1, "small", "kamille", 600);
    round(1, "small", "haproxy", 1200);
    round(2, "small", "kamille", 800);
    round(2, "large", "nginx", 1);
    List<Column> columns =
        List.of(
            Column.spread("CPU", EACH, 1),
            Column.median("median", EACH, 0),
            Column.sum("requests", REQUESTS),
            Column.ratio("÷ haproxy", EACH, "haproxy"),
            Column.multiple("× large", EACH, "large"),
            Column.difference("− haproxy", EACH, "haproxy", 0));
    assertThat(samples.table("small", "small", columns).rows())
        .containsExactly(
            List.of("small", "CPU", "median", "requests", "÷ haproxy", "× large", "− haproxy"),
            List.of("kamille", "7.0 (6.0–8.0)", "7", "200", "0.50 (0.50–0.50)", "–", "-6 (-6–-6)"),
            List.of(
                "haproxy", "12.0 (12.0–12.0)", "12", "100", "1.00 (1.00–1.00)", "–", "0 (0–0)"));
  }

  @Test
  void aFigureThatARoundLacksIsNotAveraged() {
    var column = List.of(Column.spread("out s", OUT, 1));
    samples.add(Sample.of("hang", "kamille", 1).with(OUT, OptionalDouble.of(2)));
    assertThat(samples.table("hang", "hang", column).rows().get(1)).contains("2.0 (2.0–2.0)");
    samples.add(Sample.of("hang", "kamille", 2).with(OUT, OptionalDouble.empty()));
    assertThat(samples.table("hang", "hang", column).rows().get(1)).contains("–");
    assertThat(samples.csv(Map.of())).endsWith("hang,kamille,1,2.0\nhang,kamille,2,\n");
  }

  @Test
  void theWholeTableHasARowForEachServerInEachSituation() {
    round(1, "0.5", "kamille", 100);
    round(1, "0.5", "nginx", 200);
    round(1, "2", "kamille", 300);
    assertThat(samples.wholeTable("server", "load", List.of(Column.median("CPU", CPU, 0))).rows())
        .containsExactly(
            List.of("server", "load", "CPU"),
            List.of("kamille", "0.5", "100"),
            List.of("nginx", "0.5", "200"),
            List.of("kamille", "2", "300"));
  }

  @Test
  void theRawDataHasTheFactsAndALinePerRound() {
    round(1, "small, or not", "kamille", 600);
    samples.add(Sample.of("large", "kamille", 2).with(CPU, Double.NaN).with(REQUESTS, 5));
    assertThat(samples.csv(Map.of("cpu", "a slow one")))
        .isEqualTo(
            """
            # cpu: a slow one
            subject,server,round,cpu_micros,requests
            "small, or not",kamille,1,600,100
            large,kamille,2,,5
            """);
  }

  @Test
  void oneSituationNeedsNoColumn() {
    var ways = new Samples("", "way");
    ways.add(Sample.of("", "off", 1).with(CPU, 7));
    assertThat(ways.csv(Map.of())).isEqualTo("way,round,cpu_micros\noff,1,7\n");
  }

  @Test
  void aFigureThatWasNotMeasuredIsABug() {
    round(1, "small", "kamille", 600);
    assertThatThrownBy(() -> samples.all().getFirst().of(OUT))
        .hasMessageStartingWith("out_seconds: not in a sample");
    assertThatThrownBy(() -> samples.all().getFirst().with(CPU, 1)).hasMessageContaining("twice");
  }
}
