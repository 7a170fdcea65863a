package io.kamille.perf.host;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class JavaAllocationTest {

  @Test
  void allThreadsCountEachInItsUnit() {
    String threads =
        """
        "main" #3 [19077] prio=5 os_prio=0 cpu=610.49ms elapsed=3.36s allocated=221M defined_classes=1
        "Reference Handler" #12 [19086] daemon prio=10 cpu=0.51ms allocated=64B defined_classes=0
        "kamille-loop-1-1" #20 [19100] prio=5 cpu=3061.10ms allocated=300K defined_classes=70
        """;
    assertThat(JavaAllocation.parse(threads)).isEqualTo((221L << 20) + 64 + (300 << 10));
  }
}
