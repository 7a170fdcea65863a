package io.kamille.perf.wan;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PacketQueueTest {

  @Test
  void packetsLeaveInTheOrderTheyCameHoweverItGrows() {
    var queue = new PacketQueue();
    int in = 0;
    int out = 0;
    for (int round = 1; round < 200; round++) {
      for (int i = 0; i < round; i++) {
        queue.add(10L * in, in++);
      }
      for (int i = 0; i < round / 2; i++) {
        assertThat(queue.dueNanos()).isEqualTo(out * 10L);
        assertThat(queue.take()).isEqualTo(out++);
      }
    }
    while (!queue.isEmpty()) {
      assertThat(queue.take()).isEqualTo(out++);
    }
    assertThat(out).isEqualTo(in);
  }
}
