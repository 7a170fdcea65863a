package io.kamille.admin.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PurgeResourcesTest {

  /** The next purge is waited for again: the disk may have come back. */
  @Test
  void aDiskThatTakesNothingDownIsWaitedForOnlySoLong() {
    List<Runnable> waiting = new ArrayList<>();
    assertThat(PurgeResources.isKept(waiting::add, 0)).isFalse();
    waiting.forEach(Runnable::run);
    assertThat(PurgeResources.isKept(Runnable::run, 0)).isTrue();
    assertThat(PurgeResources.isKept(whenKept -> Thread.startVirtualThread(whenKept), 60)).isTrue();
  }

  @Test
  void aDryRunThatFindsNoRoomIsToBeTriedAgain() {
    Answer answer = PurgeResources.dryRun(null);
    assertThat(answer.status()).isEqualTo(503);
    assertThat(answer.fields()).isEqualTo(Map.of("Retry-After", "1"));
  }
}
