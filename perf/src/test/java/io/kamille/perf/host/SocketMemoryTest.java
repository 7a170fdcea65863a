package io.kamille.perf.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SocketMemoryTest {

  @Test
  void pagesOfTcpAreCounted() {
    var sockstat =
        List.of(
            "sockets: used 99",
            "TCP: inuse 6 orphan 0 tw 4 alloc 8 mem 3",
            "UDP: inuse 2 mem 9",
            "FRAG: inuse 0 memory 0");
    assertThat(SocketMemory.parse(sockstat)).isEqualTo(3 * 4096);
  }
}
