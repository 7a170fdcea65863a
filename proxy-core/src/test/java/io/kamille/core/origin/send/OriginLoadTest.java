package io.kamille.core.origin.send;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.loop.ManualClock;
import io.kamille.core.origin.ChoiceSettings.Algorithm;
import io.kamille.core.origin.HashKey;
import io.kamille.core.origin.HealthPolicy;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.OriginHealth;
import io.kamille.core.origin.choose.ConsistentHash;
import io.kamille.core.origin.choose.OriginChoice;
import io.kamille.core.origin.choose.PowerOfTwoChoices;
import io.kamille.core.setting.OriginUrl;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How requests spread over ten origins, simulated: 10,000 per second, 200 ms each. */
class OriginLoadTest {

  private static final int COUNT = 10;
  private static final int PER_SECOND = 10_000;
  private static final Duration STEP = Duration.ofSeconds(1).dividedBy(PER_SECOND);
  private static final int UNDER_WAY = PER_SECOND / 5;
  private static final HealthPolicy POLICY = HealthPolicy.DEFAULTS;

  private final ManualClock clock = ManualClock.atSeconds(0);
  private final SplittableRandom random = new SplittableRandom(42);
  private final List<Origin> origins =
      IntStream.range(0, COUNT)
          .mapToObj(i -> new OriginUrl(false, "origin" + i, 80))
          .map(url -> new Origin(url, 1, new OriginHealth(POLICY, () -> 0)))
          .toList();

  /** Requests under way, as a ring: the oldest ends when the next one begins. */
  private final int[] underWay = new int[UNDER_WAY];

  private int asked;

  private int ask(OriginChoice choice, long key) {
    if (asked >= UNDER_WAY) {
      origins.get(underWay[asked % UNDER_WAY]).finish();
    }
    int place = choice.choose(HashKey.mix(key), true, OriginChoice.NOWHERE, clock.nanos());
    origins.get(place).begin();
    underWay[asked % UNDER_WAY] = place;
    asked++;
    clock.advance(STEP);
    return place;
  }

  private OriginChoice choice(Algorithm kind) {
    return kind == Algorithm.POWER_OF_TWO
        ? new PowerOfTwoChoices(origins, random.split())
        : OriginChoice.of(kind, origins);
  }

  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void whoReturnsGetsAGrowingShareWithinATenthOfTheCurve(Algorithm kind) {
    OriginChoice choice = choice(kind);
    OriginHealth returning = origins.getFirst().health();
    for (int i = 0; i < POLICY.failuresUntilOut(); i++) {
      returning.failed(false, clock.nanos());
    }
    for (int i = 0; i < PER_SECOND; i++) {
      assertThat(ask(choice, random.nextLong())).isNotZero();
    }
    returning.answered(200, clock.nanos());
    double seconds = 2.0 * POLICY.outFor().toSeconds();
    for (int second = 0; second < seconds; second++) {
      int got = 0;
      for (int i = 0; i < PER_SECOND; i++) {
        got += ask(choice, random.nextLong()) == 0 ? 1 : 0;
      }
      double weight = 0.1 + 0.9 * (second + 0.5) / seconds;
      double curve = PER_SECOND * weight / (COUNT - 1 + weight);
      assertThat(got / curve).as("%s, second %d", kind, second).isBetween(0.9, 1.1);
    }
  }

  @Test
  void byConsistentHashingThePeakIsAtMostAQuarterAboveTheMean() {
    OriginChoice choice = choice(Algorithm.CONSISTENT_HASH);
    double mean = (double) UNDER_WAY / COUNT;
    for (int i = 0; i < 10 * PER_SECOND; i++) {
      // Half of the requests are for one of three keys.
      ask(choice, random.nextInt(random.nextBoolean() ? 3 : 1_000));
      if (asked >= UNDER_WAY) {
        int peak = origins.stream().mapToInt(Origin::inFlight).max().orElseThrow();
        assertThat(peak / mean).isLessThanOrEqualTo(ConsistentHash.BOUND);
      }
    }
  }
}
