package io.kamille.launcher.appliance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LiveViewTest {

  /** The next purge is waited for again: the disk may have come back. */
  @Test
  void aDiskThatTakesNothingDownIsWaitedForOnlySoLong() {
    List<Runnable> waiting = new ArrayList<>();
    assertThat(LiveView.isKept(waiting::add, 0)).isFalse();
    waiting.forEach(Runnable::run);
    assertThat(LiveView.isKept(Runnable::run, 0)).isTrue();
    assertThat(LiveView.isKept(whenKept -> Thread.startVirtualThread(whenKept), 60)).isTrue();
  }
}
