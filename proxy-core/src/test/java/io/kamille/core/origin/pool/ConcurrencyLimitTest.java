package io.kamille.core.origin.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.loop.ManualClock;
import java.time.Duration;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The law on a model: an origin with so many servers, each busy for a while with a request. */
class ConcurrencyLimitTest {

  private static final int MOST = 512;
  private static final int ROUNDS = 400;

  private final ManualClock clock = ManualClock.atSeconds(0);
  private final SplittableRandom random = new SplittableRandom(7);
  private final ConcurrencyLimit limit = new ConcurrencyLimit(MOST);

  private int servers = Integer.MAX_VALUE;
  private double serviceMillis = 10;
  private double noise;

  @Test
  void anOriginThatIsNeverBusyGetsTheMost() {
    load(MOST, ROUNDS);
    assertThat(limit.limit()).isEqualTo(MOST);
  }

  @Test
  void aBusyOriginGetsWhatItCanDoAndLittleMore() {
    servers = 64;
    load(MOST, ROUNDS);
    assertThat(limit.limit()).isBetween(64, 128);
  }

  @Test
  void anOriginThatLosesServersGetsLess() {
    servers = 64;
    load(MOST, ROUNDS);
    servers = 16;
    load(MOST, 30);
    assertThat(limit.limit()).isBetween(16, 40);
  }

  @Test
  void anOriginThatRecoversGetsMoreAgain() {
    servers = 16;
    load(MOST, ROUNDS);
    assertThat(limit.limit()).isLessThan(40);
    servers = 128;
    load(MOST, ROUNDS);
    assertThat(limit.limit()).isBetween(128, 256);
  }

  @Test
  void anOriginThatSlowsDownBitByBitIsNotFollowedIntoItsQueue() {
    servers = 128;
    load(MOST, ROUNDS);
    while (servers > 16) {
      servers--;
      load(MOST, 3);
    }
    assertThat(limit.limit()).isBetween(16, 50);
  }

  @Test
  void anAnswerThatTakesLongerForGoodIsNoQueue() {
    load(MOST, ROUNDS);
    serviceMillis = 80;
    load(MOST, 30);
    assertThat(limit.limit()).isLessThan(64);
    load(MOST, ROUNDS);
    assertThat(limit.limit()).isEqualTo(MOST);
  }

  @Test
  void whatIsNotUsedStays() {
    int before = limit.limit();
    load(before / 2 - 1, ROUNDS);
    assertThat(limit.limit()).isEqualTo(before);
  }

  @Test
  void noiseDoesNotBringItDown() {
    noise = 0.5;
    load(MOST, 4 * ROUNDS);
    assertThat(limit.limit()).isGreaterThan(MOST / 2);
  }

  @Test
  void failuresThatSpeakOfOverloadTakeAShare() {
    load(MOST, ROUNDS);
    round(MOST, true);
    assertThat(limit.limit()).isBetween(480, 500);
    for (int i = 0; i < 200; i++) {
      round(MOST, true);
    }
    assertThat(limit.limit()).isEqualTo(ConcurrencyLimit.FEW);
  }

  @Test
  void itNeverExceedsTheMostNorFallsToNothing() {
    ConcurrencyLimit one = new ConcurrencyLimit(1);
    for (int i = 0; i < 1000; i++) {
      clock.advance(Duration.ofMillis(50));
      one.sample(1_000_000, 1, i % 2 == 0, clock.nanos());
      assertThat(one.limit()).isEqualTo(1);
    }
  }

  @Test
  void fewSamplesOrAShortTimeDecideNothing() {
    int before = limit.limit();
    for (int i = 0; i < 10_000; i++) {
      limit.sample(1_000_000, before, true, clock.nanos());
    }
    assertThat(limit.limit()).as("no time has passed").isEqualTo(before);
    ConcurrencyLimit other = new ConcurrencyLimit(MOST);
    for (int i = 0; i < 19; i++) {
      clock.advance(Duration.ofSeconds(1));
      other.sample(1_000_000, before, true, clock.nanos());
    }
    assertThat(other.limit()).as("too few").isEqualTo(before);
  }

  private void load(int demand, int rounds) {
    for (int i = 0; i < rounds; i++) {
      round(demand, false);
    }
  }

  /** As many as may, one window long: what exceeds the servers waits (Little's law). */
  private void round(int demand, boolean isOverload) {
    int underWay = Math.min(demand, limit.limit());
    double millis = serviceMillis * Math.max(1, (double) underWay / servers);
    for (int i = 0; i < 25; i++) {
      double factor = 1 + noise * (2 * random.nextDouble() - 1);
      clock.advance(Duration.ofMillis(5));
      limit.sample((long) (millis * factor * 1e6), underWay, isOverload, clock.nanos());
    }
  }
}
