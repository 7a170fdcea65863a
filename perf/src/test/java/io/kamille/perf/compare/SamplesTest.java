package io.kamille.perf.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.host.CpuTime;
import io.kamille.perf.host.MemoryUse;
import io.kamille.perf.load.WrkResult;
import io.kamille.perf.report.Spread;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SamplesTest {

  private static final Subject SMALL = Subject.HITS.getFirst();

  private final Samples samples = new Samples();

  /** A round of 100,000 requests that took that many ticks, a tenth of a microsecond each. */
  private void round(int round, String server, long userTicks, long kernelTicks) {
    var load = new WrkResult(100_000, 2_000_000, 0, 100, 200, 300, 0);
    var cpu = new CpuTime(userTicks, kernelTicks);
    samples.add(new Sample(server, SMALL, round, load, cpu, 2_000_000, MemoryUse.NONE, 15_000_000));
  }

  @Test
  void cpuTimeIsDividedByCompletedRequests() {
    round(1, "kamille", 20, 50);
    Sample sample = samples.of("kamille", SMALL).getFirst();
    assertThat(sample.userMicrosPerRequest()).isEqualTo(2);
    assertThat(sample.kernelMicrosPerRequest()).isEqualTo(5);
    assertThat(sample.cpuMicrosPerRequest()).isEqualTo(7);
  }

  @Test
  void ratiosAreTakenWithinARound() {
    round(1, "kamille", 20, 40);
    round(1, "haproxy", 40, 80);
    round(2, "kamille", 30, 60);
    round(2, "haproxy", 60, 120);
    assertThat(samples.ratio("kamille", "haproxy", SMALL)).hasValue(new Spread(0.5, 0.5, 0.5));
  }

  @Test
  void withoutACommonRoundThereIsNoRatio() {
    round(1, "kamille", 20, 40);
    round(2, "haproxy", 40, 80);
    assertThat(samples.ratio("kamille", "haproxy", SMALL)).isEmpty();
  }

  @Test
  void whatOthersDidOnTheCoreIsADisturbance() {
    round(1, "kamille", 50, 100);
    assertThat(samples.all().getFirst().disturbedRatio()).isEqualTo(0.25);
  }

  @Test
  void aGoalIsMetUpToItsLimit() {
    var goal = new Goal.CpuRatio(SMALL, "haproxy", 0.5);
    assertThat(goal.verdict(samples)).startsWith("unknown");
    round(1, "kamille", 20, 40);
    round(1, "haproxy", 40, 80);
    assertThat(goal.verdict(samples))
        .isEqualTo("met     1 KiB hit at most 0.50 × haproxy: 0.50 (0.50–0.50)");
    assertThat(new Goal.CpuRatio(SMALL, "haproxy", 0.49).verdict(samples)).startsWith("missed");
  }

  @Test
  void garbageIsDividedByCompletedRequestsToo() {
    round(1, "kamille", 20, 40);
    assertThat(new Goal.Garbage(SMALL, 150).verdict(samples)).startsWith("met");
    assertThat(new Goal.Garbage(SMALL, 149).verdict(samples)).startsWith("missed");
  }

  @Test
  void theRawDataHasTheFactsAndALinePerRound() {
    round(1, "kamille", 20, 40);
    assertThat(RawData.csv(Map.of("cpu", "a slow one"), samples.all()))
        .isEqualTo(
            """
            # cpu: a slow one
            subject,server,round,requests,micros,user_micros,kernel_micros,core_micros,\
            p50_micros,p99_micros,p999_micros,resident_bytes,proportional_bytes,allocated_bytes
            1 KiB hit,kamille,1,100000,2000000,200000,400000,2000000,100,200,300,0,0,15000000
            """);
  }
}
