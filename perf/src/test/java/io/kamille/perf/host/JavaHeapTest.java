package io.kamille.perf.host;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class JavaHeapTest {

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
    assertThat(JavaHeap.parse(serial)).isEqualTo((7385 + 2378) * 1024);
  }

  @Test
  void aHeapWithoutGenerationsIsOneLine() {
    String regions =
        """
        9929:
        garbage-first heap   total reserved 65536K, committed 65536K, used 12309K [0x00000000fc000000)
         region size 1024K, 10 young (10240K), 2 survivors (2048K)
        """;
    assertThat(JavaHeap.parse(regions)).isEqualTo(12309 * 1024);
    assertThat(JavaHeap.parse("10014:\nZHeap            used 24M, capacity 64M\n"))
        .isEqualTo(24 << 20);
  }
}
