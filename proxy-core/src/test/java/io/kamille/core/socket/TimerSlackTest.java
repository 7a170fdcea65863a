package io.kamille.core.socket;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A thread's timers can be made exact (prctl(2), PR_SET_TIMERSLACK). */
class TimerSlackTest {

  private static final int GET = 30;

  @Test
  void theLeastSlackIsOneNanosecond() throws InterruptedException {
    AtomicInteger slack = new AtomicInteger();
    Thread thread =
        new Thread(
            () -> {
              assertThat(TimerSlack.least()).isTrue();
              slack.set((int) SystemCall.PRCTL.call(GET, 0, 0));
            });
    thread.start();
    thread.join();
    assertThat(slack).hasValue(1);
  }
}
