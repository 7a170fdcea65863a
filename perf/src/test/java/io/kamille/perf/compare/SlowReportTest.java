package io.kamille.perf.compare;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class SlowReportTest {

  private final SlowReport report = new SlowReport();

  @Test
  void p99IsComparedWithThatOfTheSameRound() {
    add("kamille", SlowSituation.ALONE, 1, 100);
    add("kamille", SlowSituation.ALONE, 2, 1000);
    add("kamille", SlowSituation.HEADS, 1, 120);
    add("kamille", SlowSituation.HEADS, 2, 1400);
    assertThat(report.ratio("kamille", SlowSituation.HEADS).orElseThrow().text(2))
        .isEqualTo("1.30 (1.20–1.40)");
  }

  @Test
  void theMedianDecidesWhetherAGoalIsMet() {
    add("kamille", SlowSituation.ALONE, 1, 100);
    add("kamille", SlowSituation.HEADS, 1, 150);
    add("kamille", SlowSituation.READERS, 1, 151);
    assertThat(report.verdicts())
        .satisfiesExactly(
            heads -> assertThat(heads).startsWith("met").contains("slow heads"),
            posts -> assertThat(posts).startsWith("unknown").contains("slow POST"),
            readers -> assertThat(readers).startsWith("missed").contains("slow read"),
            all -> assertThat(all).startsWith("unknown"));
  }

  @Test
  void aServerThatWasLeftOutHasNoRow() {
    add("kamille", SlowSituation.ALONE, 1, 100);
    add("nginx", SlowSituation.ALONE, 1, 100);
    add("kamille", SlowSituation.ALL, 1, 100);
    assertThat(report.table(SlowSituation.ALONE).rows()).hasSize(3);
    assertThat(report.table(SlowSituation.ALL).rows()).hasSize(2);
  }

  @Test
  void rawDataHaveALineForEachSample() {
    add("nginx", SlowSituation.POSTS, 3, 250);
    assertThat(report.csv(Map.of("machine", "m")))
        .startsWith("# machine: m\n")
        .endsWith("\nslow POST,nginx,3,5000,0,50.0,250.0,100000,1048576,4096,7,false\n");
  }

  private void add(String server, SlowSituation situation, int round, double p99Micros) {
    report.add(
        new SlowSample(
            server, situation, round, 5000, 0, 50, p99Micros, 100_000, 1 << 20, 4096, 7, false));
  }
}
