package io.kamille.perf.host;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CpuTimeTest {

  private static final String STAT =
      "4711 (%s) S 1 4711 4711 0 -1 4194560 900 0 2 0 700 300 50 25 20 0 3 0 81234 1000 200";

  @Test
  void childrenThatEndedCount() {
    assertThat(CpuTime.parse(STAT.replace("%s", "nginx"))).isEqualTo(new CpuTime(750, 325));
  }

  @Test
  void theNameOfAProgramMayLookLikeFields() {
    assertThat(CpuTime.parse(STAT.replace("%s", "a) S (b 1 2 3"))).isEqualTo(new CpuTime(750, 325));
  }

  @Test
  void aTickIsAHundredthOfASecond() {
    var spent = new CpuTime(101, 50).minus(new CpuTime(1, 0));
    assertThat(spent.userMicros()).isEqualTo(1_000_000);
    assertThat(spent.kernelMicros()).isEqualTo(500_000);
  }
}
