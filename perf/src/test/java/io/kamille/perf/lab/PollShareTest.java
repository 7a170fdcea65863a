package io.kamille.perf.lab;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PollShareTest {

  private static final String POLL =
      "\n\tffff ep_poll\n\tffff do_epoll_wait\n\tffff do_syscall_64\n\n";
  private static final String WRITE = "\n\tffff tcp_sendmsg\n\tffff ksys_write\n\n";

  @Test
  void aSampleBelongsToThePollIfItIsAmongTheCallers() {
    assertThat(PollShare.of(POLL.repeat(10) + WRITE.repeat(30))).hasValue(0.25);
  }

  @Test
  void fewSamplesSayNothing() {
    assertThat(PollShare.of(POLL + WRITE)).isEmpty();
  }
}
