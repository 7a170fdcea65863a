package io.kamille.core.client.open;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What the log says of connections that find no room. */
class ConnectionLimitTest {

  @Test
  void aLineAMinuteTellsOfAllThatFoundNoRoom() {
    var limit = new ConnectionLimit("limits.connections", 8, IdleTimeoutGovernor.OFF);
    long now = System.nanoTime();
    assertThat(limit.refused(now))
        .isEqualTo(
            "closed 1 new connection(s): limits.connections is 8, as many are open, and none is"
                + " idle");
    assertThat(limit.refused(now + TimeUnit.SECONDS.toNanos(59))).isNull();
    assertThat(limit.refused(now + TimeUnit.SECONDS.toNanos(60))).startsWith("closed 2 new");
    assertThat(limit.refused()).isEqualTo(3);
  }
}
