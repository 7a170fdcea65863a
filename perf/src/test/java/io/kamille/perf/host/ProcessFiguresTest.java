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
    assertThat(ProcessFigures.busyMicros(stat, 0)).isEqualTo((10 + 1 + 20 + 3 + 4 + 1) * 10_000);
  }

  @Test
  void aProcessSleepsAndTheMachineHasSockets() throws Exception {
    assertThat(ProcessFigures.sleeps(ProcessHandle.current().pid())).isPositive();
    assertThat(ProcessFigures.socketBytes()).isNotNegative();
  }

  @Test
  void generationsAreAddedAndTheirPartsAreNot() {
    String serial =
        """
        9861:
        DefNew     total 19648K, used 7385K [0x00000000fc000000, 0x00000000fd550000)
         eden space 17472K,  29% used [0x00000000fc000000, 0x00000000fc516438)
        Tenured    total 43712K, used 2378K [0x00000000fd550000, 0x0000000100000000)
         the  space 43712K,   5% used [0x00000000fd550000, 0x00000000fd7a2938)
        Metaspace       used 1234K, committed 1280K, reserved 1114112K
        """;
    assertThat(ProcessFigures.live(serial)).isEqualTo((7385 + 2378) * 1024);
    assertThat(ProcessFigures.live("10014:\nZHeap            used 24M, capacity 64M\n"))
        .isEqualTo(24 << 20);
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
