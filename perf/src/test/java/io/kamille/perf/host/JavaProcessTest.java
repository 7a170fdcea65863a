package io.kamille.perf.host;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class JavaProcessTest {

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
    assertThat(JavaProcess.live(serial)).isEqualTo((7385 + 2378) * 1024);
  }

  @Test
  void aHeapWithoutGenerationsIsOneLine() {
    String regions =
        """
        9929:
        garbage-first heap   total reserved 65536K, committed 65536K, used 12309K [0x00000000fc000000)
         region size 1024K, 10 young (10240K), 2 survivors (2048K)
        """;
    assertThat(JavaProcess.live(regions)).isEqualTo(12309 * 1024);
    assertThat(JavaProcess.live("10014:\nZHeap            used 24M, capacity 64M\n"))
        .isEqualTo(24 << 20);
  }

  @Test
  void theAllocationsOfAllThreadsCountEachInItsUnit() {
    String threads =
        """
        "main" #3 [19077] prio=5 os_prio=0 cpu=610.49ms elapsed=3.36s allocated=221M defined_classes=1
        "Reference Handler" #12 [19086] daemon prio=10 cpu=0.51ms allocated=64B defined_classes=0
        "kamille-loop-1-1" #20 [19100] prio=5 cpu=3061.10ms allocated=300K defined_classes=70
        """;
    assertThat(JavaProcess.allocated(threads)).isEqualTo((221L << 20) + 64 + (300 << 10));
  }
}
