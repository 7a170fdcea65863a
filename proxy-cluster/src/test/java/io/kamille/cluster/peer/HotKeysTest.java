package io.kamille.cluster.peer;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What is asked for twice within a minute. */
class HotKeysTest {

  private static final long KEY = 0x0123_4567_89ab_cdefL;

  private final HotKeys keys = new HotKeys();

  private boolean ask(long key, int second) {
    return keys.ask(key, Duration.ofSeconds(second).toNanos());
  }

  @Test
  void theSecondRequestOfAMinuteIsHot() {
    assertThat(ask(KEY, 10)).isFalse();
    assertThat(ask(KEY, 70)).isTrue();
    assertThat(ask(KEY, 131)).isFalse();
    assertThat(ask(KEY, 131)).isTrue();
  }

  @Test
  void aKeyInTheSamePlaceIsAnother() {
    assertThat(ask(KEY, 10)).isFalse();
    assertThat(ask(~KEY ^ 0xffffL, 10)).isFalse();
    assertThat(ask(KEY ^ (1L << 63), 10)).isFalse();
    assertThat(ask(KEY, 10)).isFalse();
  }

  @Test
  void aClockBelowZeroIsAClock() {
    assertThat(ask(KEY, -30)).isFalse();
    assertThat(ask(KEY, 10)).isTrue();
  }
}
