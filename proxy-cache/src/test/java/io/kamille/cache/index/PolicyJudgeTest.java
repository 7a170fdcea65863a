package io.kamille.cache.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.index.PolicySnapshot.Estimate;
import io.kamille.cache.index.RequestSamples.Event;
import io.kamille.core.loop.ManualClock;
import java.time.Duration;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class PolicyJudgeTest {

  private static final int MAXIMUM = 1000;
  private static final int WINDOW = 8 * 2048;

  private final ManualClock clock = ManualClock.atSeconds(100);
  private final PolicyJudge judge = judge(PolicyChoice.AUTO);
  private final SplittableRandom random = new SplittableRandom(3);
  private long now;

  private PolicyJudge judge(PolicyChoice choice) {
    return new PolicyJudge(choice, MAXIMUM, MAXIMUM, clock);
  }

  /** New objects all the time, each asked for a few times soon after it came. */
  private long recent() {
    now++;
    return now / 4 - (long) (400 * random.nextDouble() * random.nextDouble());
  }

  /** A few objects again and again among others that never come back. */
  private long frequent() {
    now++;
    return now % 2 == 0 ? -now : random.nextInt(2 * MAXIMUM);
  }

  private static void ask(PolicyJudge judge, long object) {
    judge.hear(Event.FOUND, object, 1);
  }

  private Estimate estimate(Policy policy) {
    return judge.snapshot().estimates().get(policy.ordinal());
  }

  @Test
  void recencyMakesLruTheBetterOne() {
    for (int i = 0; i < 2 * WINDOW; i++) {
      ask(judge, recent());
    }
    assertThat(judge.advice()).isEqualTo(Policy.LRU);
    assertThat(estimate(Policy.LRU).objectHitRatio())
        .isGreaterThan(estimate(Policy.TINYLFU).objectHitRatio() + 0.003);
  }

  @Test
  void frequencyMakesTinyLfuTheBetterOne() {
    judge.switched(Policy.LRU);
    for (int i = 0; i < 2 * WINDOW; i++) {
      ask(judge, frequent());
    }
    assertThat(judge.advice()).isEqualTo(Policy.TINYLFU);
    assertThat(judge.snapshot().switches()).isEqualTo(1);
  }

  @Test
  void nothingIsDecidedBeforeAllBucketsAreFull() {
    for (int i = 0; i < WINDOW - 1; i++) {
      ask(judge, recent());
      assertThat(judge.advice()).isEqualTo(Policy.TINYLFU);
    }
  }

  @Test
  void nothingIsDecidedAgainBeforeAllBucketsAreNew() {
    for (int i = 0; i < 2 * WINDOW; i++) {
      ask(judge, recent());
    }
    clock.advance(Duration.ofSeconds(100));
    judge.switched(Policy.LRU);
    for (int i = 0; i < WINDOW - 1; i++) {
      ask(judge, frequent());
      assertThat(judge.advice()).isEqualTo(Policy.LRU);
    }
  }

  @Test
  void aDecisionSaysWhenAndWhy() {
    for (int i = 0; i < 2 * WINDOW; i++) {
      ask(judge, recent());
    }
    clock.advance(Duration.ofSeconds(100));
    judge.switched(judge.advice());
    PolicySnapshot snapshot = judge.snapshot();
    assertThat(snapshot.policy()).isEqualTo(Policy.LRU);
    assertThat(snapshot.sinceEpochSeconds()).isEqualTo(200);
    assertThat(snapshot.sampledRequests()).isBetween(7L * 2048, 8L * 2048);
    assertThat(snapshot.reason())
        .matches("lru would have hit .* points more than tinylfu")
        .contains(" of " + snapshot.sampledRequests() + " sampled requests");
  }

  @Test
  void aPolicyThatAnOperatorChoseStays() {
    PolicyJudge fixed = judge(PolicyChoice.TINYLFU);
    for (int i = 0; i < 2 * WINDOW; i++) {
      ask(fixed, recent());
    }
    assertThat(fixed.advice()).isEqualTo(Policy.TINYLFU);
    fixed.choose(PolicyChoice.LRU);
    assertThat(fixed.advice()).isEqualTo(Policy.LRU);
    clock.advance(Duration.ofSeconds(200));
    fixed.switched(Policy.LRU);
    assertThat(fixed.snapshot().reason()).isEqualTo("the setting says so");
  }

  @Test
  void aRequestCountsForBothWhenItIsKnownWhatItAskedFor() {
    judge.hear(Event.MISSED, 1, 0);
    assertThat(judge.snapshot().sampledRequests()).isZero();
    judge.hear(Event.STORED, 1, 10);
    judge.hear(Event.MISSED, 1, 0);
    judge.hear(Event.FOUND, 1, 10);
    judge.hear(Event.STORED, 1, 20);
    assertThat(judge.snapshot().sampledRequests()).isEqualTo(3);
    for (Policy policy : Policy.values()) {
      assertThat(estimate(policy)).isEqualTo(new Estimate(policy, 2.0 / 3, 2.0 / 3));
    }
  }

  @Test
  void whatIsRemovedIsMissedNextTime() {
    judge.hear(Event.STORED, 1, 10);
    judge.hear(Event.REMOVED, 1, 0);
    judge.hear(Event.STORED, 1, 10);
    assertThat(judge.snapshot().sampledRequests()).isEqualTo(2);
    assertThat(estimate(Policy.LRU).objectHitRatio()).isZero();
  }

  @Test
  void oneOfSixtyFourKeysIsSampledWhereThatIsEnough() {
    PolicyJudge large = new PolicyJudge(PolicyChoice.AUTO, 64L * MAXIMUM, MAXIMUM, clock);
    assertThat(large.snapshot().sampledShare()).isEqualTo(1.0 / 64);
    assertThat(large.sampleMask()).isEqualTo(63);
    PolicyJudge small = new PolicyJudge(PolicyChoice.AUTO, 5L * MAXIMUM, MAXIMUM, clock);
    assertThat(small.snapshot().sampledShare()).isEqualTo(1.0 / 4);
  }
}
