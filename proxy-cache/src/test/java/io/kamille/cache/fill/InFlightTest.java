package io.kamille.cache.fill;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.ManualClock;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who may follow a leader that is about to leave. */
class InFlightTest {

  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final InFlightTable table =
      new InFlightTable(ManualClock.atSeconds(1_800_000_000), new PurgeTable());
  private final RequestHead request = RequestHead.of("GET", "http://example.org/");
  private final CacheKey key = CacheKey.of(request);
  private final InFlight flight =
      Objects.requireNonNull(table.begin(key, request, null, channel.eventLoop()));

  @AfterEach
  void end() {
    channel.finishAndReleaseAll();
  }

  @Test
  void aLeaderThatNobodyFollowsLeavesForGood() {
    assertThat(flight.closeIfDeserted()).isTrue();
    assertThat(flight.enter()).isFalse();
    assertThat(flight.followers()).isZero();
    assertThat(flight.closeIfDeserted()).isTrue();
  }

  @Test
  void whoHasEnteredBeforeKeepsTheLeader() {
    assertThat(flight.enter()).isTrue();
    assertThat(flight.closeIfDeserted()).isFalse();
    assertThat(flight.enter()).isTrue();
    flight.left();
    assertThat(flight.closeIfDeserted()).isFalse();
    flight.left();
    assertThat(flight.closeIfDeserted()).isTrue();
    assertThat(flight.enter()).isFalse();
  }
}
