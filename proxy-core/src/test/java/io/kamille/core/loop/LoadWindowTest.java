package io.kamille.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.metric.AnswerCounts;
import org.junit.jupiter.api.Test;

/** What a window counts, with a counter of requests and without. */
class LoadWindowTest {

  private long requests;
  private final LoadWindow window = new LoadWindow(() -> 0, () -> new AnswerCounts(requests, 0, 0));

  @Test
  void eventsCountUntilARequestDid() {
    window.restart(0);
    window.polled(5);
    assertThat(window.next(1).requests()).isEqualTo(5);
    window.polled(5);
    requests = 3;
    assertThat(window.next(2).requests()).isEqualTo(3);
    window.polled(5);
    assertThat(window.next(3).requests()).as("none was finished").isZero();
  }
}
