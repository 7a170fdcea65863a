package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NanosQueueTest {

  @Test
  void orderIsKeptWhileItGrowsAndGoesRound() {
    var queue = new NanosQueue();
    long added = 0;
    long removed = 0;
    for (int round = 0; round < 200; round++) {
      for (int i = 0; i < 50; i++) {
        queue.add(added++);
      }
      for (int i = 0; i < 25; i++) {
        assertThat(queue.peek()).isEqualTo(removed);
        assertThat(queue.remove()).isEqualTo(removed++);
      }
    }
    while (!queue.isEmpty()) {
      assertThat(queue.remove()).isEqualTo(removed++);
    }
    assertThat(removed).isEqualTo(added);
  }
}
