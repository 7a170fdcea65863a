package io.kamille.perf.host;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ProcessFiguresTest {

  @Test
  void everythingButIdlingAndWaitingForDisksIsBusy() {
    String stat =
        """
        cpu  20 0 40 2000 100 6 8 2 50 0
        cpu0 10 1 20 1000 50 3 4 1 5 0
        cpu1 10 0 20 1000 50 3 4 1 0 0
        intr 12345
        """;
    assertThat(ProcessFigures.busyMicros(stat, "0")).isEqualTo((10 + 1 + 20 + 3 + 4 + 1) * 10_000);
  }

  @Test
  void aProcessSleepsAndTheMachineHasSockets() throws Exception {
    assertThat(ProcessFigures.sleeps(ProcessHandle.current().pid(), "")).isPositive();
    assertThat(ProcessFigures.socketBytes()).isNotNegative();
  }

  @Test
  void theAllocationsOfAllThreadsCountEachInItsUnit() {
    String threads =
        """
        "main" #3 [19077] prio=5 cpu=610.49ms elapsed=3.36s allocated=221M defined_classes=1
        "Reference Handler" #12 [19086] daemon cpu=0.51ms allocated=64B defined_classes=0
        "kamille-loop-1-1" #20 [19100] prio=5 allocated=300K defined_classes=70
        """;
    assertThat(ProcessFigures.allocated(threads)).isEqualTo((221L << 20) + 64 + (300 << 10));
  }
}
