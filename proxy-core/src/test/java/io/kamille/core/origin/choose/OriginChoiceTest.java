package io.kamille.core.origin.choose;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.loop.ManualClock;
import io.kamille.core.origin.ChoiceSettings;
import io.kamille.core.origin.HashKey;
import io.kamille.core.origin.HealthPolicy;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.OriginHealth;
import io.kamille.core.origin.Standing;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.setting.OriginUrl;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

class OriginChoiceTest {

  private static final int NONE = -1;
  private static final Duration OUT_FOR = HealthPolicy.DEFAULTS.outFor();

  private final ManualClock clock = ManualClock.atSeconds(0);

  @Test
  void roundRobinKeepsTheProportionAndMixesWell() {
    OriginChoice choice = new WeightedRoundRobin(origins(5, 1, 1));
    assertThat(chosen(choice, 14)).containsExactly(0, 0, 1, 0, 2, 0, 0, 0, 0, 1, 0, 2, 0, 0);
  }

  @Test
  void ofTwoOriginsTheOneWithFewerRequestsForItsWeightIsTaken() {
    List<Origin> origins = origins(1, 1);
    OriginChoice choice = powerOfTwo(origins);
    origins.get(0).begin();
    assertThat(chosen(choice, 20)).containsOnly(1);
    origins.get(1).begin();
    origins.get(1).begin();
    assertThat(chosen(choice, 20)).containsOnly(0);
  }

  @Test
  void powerOfTwoKeepsTheWeightsWhenNothingIsInFlight() {
    OriginChoice choice = powerOfTwo(origins(3, 1));
    long heavy = chosen(choice, 4000).stream().filter(place -> place == 0).count();
    assertThat(heavy).isBetween(2800L, 3200L);
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "CONSISTENT_HASH")
  void anOriginThatFailsAtOnceGetsASmallPart(ChoiceSettings.Algorithm kind) {
    OriginChoice choice = OriginChoice.of(kind, origins(1, 1));
    assertThat(ofSecond(choice, 1_200, true)).isBetween(1, 60);
    clock.advance(Duration.ofSeconds(30));
    assertThat(ofSecond(choice, 1_200, true)).as("it is tried again").isBetween(1, 60);
    clock.advance(Duration.ofSeconds(30));
    assertThat(ofSecond(choice, 1_200, false)).as("it serves").isGreaterThan(300);
  }

  @Test
  void whereAllFailNobodyIsAvoided() {
    OriginChoice choice = powerOfTwo(origins(1, 1));
    for (int i = 0; i < 100; i++) {
      choice.ended(0, true, clock.nanos());
      choice.ended(1, true, clock.nanos());
    }
    assertThat(chosen(choice, 4000).stream().filter(place -> place == 0).count())
        .isBetween(1800L, 2200L);
  }

  @Test
  void aProbeThatIsNotSentIsLeftToTheNextRequest() {
    List<Origin> origins = origins(1, 1);
    OriginChoice choice = powerOfTwo(origins);
    OriginHealth health = origins.get(1).health();
    for (int i = 0; i < HealthPolicy.DEFAULTS.failuresUntilOut(); i++) {
      health.failed(false, clock.nanos());
    }
    assertThat(chosen(choice, 20)).containsOnly(0);
    assertThat(choice.hasClaimed()).isFalse();
    clock.advance(OUT_FOR.multipliedBy(2));
    assertThat(chosen(choice, 1)).containsExactly(1);
    assertThat(choice.hasClaimed()).isTrue();
    assertThat(chosen(choice, 20)).containsOnly(0);
    health.leaveProbe(clock.nanos());
    assertThat(chosen(choice, 1)).containsExactly(1);
  }

  /**
   * How many of so many requests, eight at a time, the second origin gets; the first takes 30 ms.
   */
  private int ofSecond(OriginChoice choice, int requests, boolean fails) {
    ArrayDeque<Long> ends = new ArrayDeque<>();
    int asked = 0;
    for (int i = 0; i < requests; i++) {
      if (ends.size() == 8) {
        clock.advance(Duration.ofNanos(Math.max(0, ends.poll() - clock.nanos())));
        choice.origins[0].finish();
        choice.ended(0, false, clock.nanos());
      }
      if (choice.choose(0, true, NONE, clock.nanos()) == 0) {
        choice.origins[0].begin();
        ends.add(clock.nanos() + 30_000_000);
      } else {
        asked++;
        clock.advance(Duration.ofMillis(1));
        choice.ended(1, fails, clock.nanos());
      }
    }
    ends.forEach(end -> choice.origins[0].finish());
    return asked;
  }

  @Test
  void powerOfTwoEvensOutTheLoad() {
    List<Origin> origins = origins(1, 1, 1, 1);
    OriginChoice choice = powerOfTwo(origins);
    for (int i = 0; i < 400; i++) {
      origins.get(choice.choose(0, true, NONE, clock.nanos())).begin();
    }
    assertThat(origins).allSatisfy(origin -> assertThat(origin.inFlight()).isBetween(95, 105));
  }

  @Test
  void anOriginThatIsOutIsPassedOver() {
    for (ChoiceSettings.Algorithm kind : ChoiceSettings.Algorithm.values()) {
      List<Origin> origins = origins(1, 1, 1);
      putOut(origins.get(1));
      OriginChoice choice = OriginChoice.of(kind, origins);
      assertThat(Set.copyOf(keyed(choice, 200))).as("%s", kind).containsExactlyInAnyOrder(0, 2);
    }
  }

  @Test
  void anOriginThatIsDrainedGetsNothingUntilThatIsOver() {
    for (ChoiceSettings.Algorithm kind : ChoiceSettings.Algorithm.values()) {
      List<Origin> origins = origins(1, 1, 1);
      OriginChoice choice = OriginChoice.of(kind, origins);
      origins.get(1).health().drain(clock.nanos() + Duration.ofMinutes(10).toNanos());
      assertThat(Set.copyOf(keyed(choice, 200))).as("%s", kind).containsExactlyInAnyOrder(0, 2);
      putOut(origins.get(0), true);
      putOut(origins.get(2), true);
      assertThat(keyed(choice, 200)).as("%s", kind).doesNotContain(1);
      clock.advance(Duration.ofMinutes(10));
      assertThat(keyed(choice, 200)).as("%s", kind).contains(1);
    }
  }

  @Test
  void aBackupIsAskedWhenAllOthersAreDrained() {
    List<Origin> origins = origins(1, 1);
    origins.add(origins.get(0).with(1, true, new OriginHealth(HealthPolicy.DEFAULTS, () -> 0)));
    OriginChoice choice = powerOfTwo(origins);
    long until = clock.nanos() + Duration.ofMinutes(10).toNanos();
    origins.get(0).health().drain(until);
    origins.get(1).health().drain(until);
    assertThat(chosen(choice, 20)).containsOnly(2);
    origins.get(1).health().endDrain();
    assertThat(chosen(choice, 20)).containsOnly(1);
  }

  @Test
  void theOnlyOriginIsAskedThoughItIsDrained() {
    List<Origin> origins = origins(1);
    origins.getFirst().health().drain(clock.nanos() + 1);
    assertThat(chosen(powerOfTwo(origins), 3)).containsOnly(0);
  }

  @Test
  void theFirstRequestAfterTheWhileIsTheProbe() {
    List<Origin> origins = origins(1, 1);
    OriginChoice choice = powerOfTwo(origins);
    putOut(origins.get(1));
    clock.advance(Duration.ofSeconds(10));
    assertThat(choice.choose(0, true, NONE, clock.nanos())).isEqualTo(1);
    assertThat(chosen(choice, 20)).containsOnly(0);
  }

  @Test
  void aRequestThatMayChangeSomethingIsNoProbeWhileAnotherOriginIsIn() {
    List<Origin> origins = hashed(2);
    OriginChoice choice = powerOfTwo(origins);
    putOut(origins.get(1));
    clock.advance(OUT_FOR.multipliedBy(2).minusNanos(1));
    assertThat(choice.choose(0, false, NONE, clock.nanos())).isEqualTo(0);
    assertThat(choice.choose(0, true, NONE, clock.nanos())).as("a safe one").isEqualTo(1);
    origins.get(1).health().failed(false, clock.nanos());
    clock.advance(OUT_FOR.multipliedBy(3).minusNanos(1));
    assertThat(choice.choose(0, false, NONE, clock.nanos())).as("out twice as long").isEqualTo(0);
    clock.advance(Duration.ofNanos(1));
    assertThat(choice.choose(0, false, NONE, clock.nanos())).as("no safe one came").isEqualTo(1);
    assertThat(choice.choose(0, false, NONE, clock.nanos())).isEqualTo(0);
  }

  @Test
  void whereNoOtherOriginIsInAnyRequestIsTheProbeAtOnce() {
    List<Origin> origins = hashed(2);
    OriginChoice choice = powerOfTwo(origins);
    origins.forEach(this::putOut);
    clock.advance(OUT_FOR);
    assertThat(choice.choose(0, false, NONE, clock.nanos())).isEqualTo(0);
    assertThat(origins.get(0).health().standing().phase()).isEqualTo(Standing.Phase.PROBED);
    assertThat(choice.choose(0, false, NONE, clock.nanos())).isEqualTo(1);
    assertThat(origins.get(1).health().standing().phase()).isEqualTo(Standing.Phase.PROBED);
  }

  @Test
  void aBackupThatIsInKeepsRequestsThatMayChangeSomethingFromTheProbe() {
    List<Origin> origins = new ArrayList<>(hashed(1));
    origins.add(origins.get(0).with(1, true, new OriginHealth(HealthPolicy.DEFAULTS, () -> 0)));
    OriginChoice choice = powerOfTwo(origins);
    putOut(origins.get(0));
    clock.advance(OUT_FOR);
    assertThat(choice.choose(0, false, NONE, clock.nanos())).isEqualTo(1);
    assertThat(choice.choose(0, true, NONE, clock.nanos())).isEqualTo(0);
  }

  @Test
  void whenAllAreOutAllThatCanBeReachedAreAsked() {
    List<Origin> origins = origins(1, 1, 1);
    OriginChoice choice = powerOfTwo(origins);
    putOut(origins.get(0));
    putOut(origins.get(1), true);
    putOut(origins.get(2));
    assertThat(chosen(choice, 40)).containsOnly(0, 2);
  }

  @Test
  void whereNoneCanBeReachedEachIsTriedByOneRequestAtATime() {
    List<Origin> origins = origins(1, 1);
    OriginChoice choice = powerOfTwo(origins);
    origins.forEach(origin -> putOut(origin, true));
    assertThat(chosen(choice, 4)).containsExactly(0, 1, OriginChoice.NOWHERE, OriginChoice.NOWHERE);
    origins.get(1).health().failed(true, clock.nanos());
    assertThat(chosen(choice, 2)).containsExactly(1, OriginChoice.NOWHERE);
    origins.get(0).health().reached();
    assertThat(chosen(choice, 2)).containsExactly(0, 0);
  }

  @Test
  void aHedgeTakesNoTrialOfAnOriginThatIsOut() {
    List<Origin> origins = origins(1, 1);
    OriginChoice choice = powerOfTwo(origins);
    assertThat(choice.chooseIn(0, true, 0, clock.nanos())).isEqualTo(1);
    origins.forEach(origin -> putOut(origin, true));
    assertThat(choice.chooseIn(0, true, NONE, clock.nanos())).isEqualTo(OriginChoice.NOWHERE);
    assertThat(chosen(choice, 2)).containsExactly(0, 1);
  }

  @Test
  void theOnlyOriginIsAskedWhileItCanBeReached() {
    List<Origin> origins = origins(1);
    OriginChoice choice = powerOfTwo(origins);
    putOut(origins.getFirst());
    assertThat(chosen(choice, 3)).containsExactly(0, 0, 0);
    origins.getFirst().health().failed(true, clock.nanos());
    assertThat(chosen(choice, 2)).containsExactly(0, OriginChoice.NOWHERE);
  }

  @Test
  void whoReturnsGetsATenthAtFirstAndThenMore() {
    for (ChoiceSettings.Algorithm kind : ChoiceSettings.Algorithm.values()) {
      List<Origin> origins = origins(10, 10);
      OriginChoice choice =
          kind == ChoiceSettings.Algorithm.ROUND_ROBIN
              ? new WeightedRoundRobin(origins)
              : powerOfTwo(origins);
      putOut(origins.get(1));
      origins.get(1).health().answered(200, clock.nanos());
      assertThat(timesChosen(choice, 1)).isBetween(50L, 140L);
      clock.advance(HealthPolicy.DEFAULTS.outFor());
      assertThat(timesChosen(choice, 1)).isBetween(320L, 390L);
      clock.advance(HealthPolicy.DEFAULTS.outFor());
      assertThat(timesChosen(choice, 1)).isBetween(460L, 540L);
    }
  }

  private long timesChosen(OriginChoice choice, int place) {
    return chosen(choice, 1000).stream().filter(chosen -> chosen == place).count();
  }

  @Test
  void aRetryAvoidsTheOriginThatFailedIfThereIsAnother() {
    assertThat(powerOfTwo(origins(1)).choose(0, true, 0, clock.nanos())).isEqualTo(0);
    List<Origin> origins = origins(1, 1);
    assertThat(powerOfTwo(origins).choose(0, true, 0, clock.nanos())).isEqualTo(1);
    putOut(origins.get(1));
    assertThat(powerOfTwo(origins).choose(0, true, 0, clock.nanos())).isEqualTo(1);
  }

  @Test
  void theSameKeyGoesToTheSameOriginAndALossMovesOnlyItsShare() {
    List<Origin> origins = hashed(10);
    OriginChoice choice = new ConsistentHash(origins);
    List<Integer> before = keyed(choice, 10_000);
    assertThat(keyed(choice, 10_000)).isEqualTo(before);
    putOut(origins.get(3));
    List<Integer> after = keyed(choice, 10_000);
    long moved = 0;
    for (int i = 0; i < before.size(); i++) {
      if (!before.get(i).equals(after.get(i))) {
        assertThat(before.get(i)).isEqualTo(3);
        moved++;
      }
    }
    assertThat(moved).isBetween(850L, 1_150L);
  }

  @Test
  void theOrderOfOriginsDoesNotMatterToAKey() {
    List<Origin> origins = hashed(5);
    List<Integer> forwards = keyed(new ConsistentHash(origins), 100);
    List<Integer> backwards = keyed(new ConsistentHash(origins.reversed()), 100);
    assertThat(backwards).isEqualTo(forwards.stream().map(place -> 4 - place).toList());
  }

  @Test
  void aKeyThatEverybodyAsksForFallsUponNobodyAlone() {
    List<Origin> origins = hashed(10);
    OriginChoice choice = new ConsistentHash(origins);
    for (int i = 0; i < 1_000; i++) {
      origins.get(choice.choose(7L, true, NONE, clock.nanos())).begin();
    }
    double mean = 100;
    assertThat(origins)
        .allSatisfy(origin -> assertThat(origin.inFlight() / mean).isLessThanOrEqualTo(1.25));
  }

  @Test
  void aBackupIsAskedOnlyWhileNoOtherIsIn() {
    List<Origin> origins = origins(1, 1);
    origins.add(origins.get(0).with(1, true, new OriginHealth(HealthPolicy.DEFAULTS, () -> 0)));
    OriginChoice choice = powerOfTwo(origins);
    assertThat(chosen(choice, 20)).containsOnly(0, 1);
    putOut(origins.get(0));
    assertThat(chosen(choice, 20)).containsOnly(1);
    putOut(origins.get(1));
    assertThat(chosen(choice, 20)).containsOnly(2);
  }

  @Test
  void aRetryGoesToNoBackupWhileTheOriginThatItAvoidsIsIn() {
    for (ChoiceSettings.Algorithm kind : ChoiceSettings.Algorithm.values()) {
      List<Origin> origins = origins(1);
      origins.add(origins.get(0).with(1, true, new OriginHealth(HealthPolicy.DEFAULTS, () -> 0)));
      OriginChoice choice = OriginChoice.of(kind, origins);
      assertThat(choice.choose(0, true, 0, clock.nanos()))
          .as("%s", kind)
          .isEqualTo(OriginChoice.NOWHERE);
      assertThat(choice.chooseIn(0, true, 0, clock.nanos())).isEqualTo(OriginChoice.NOWHERE);
      putOut(origins.get(0));
      assertThat(choice.chooseIn(0, true, 0, clock.nanos())).as("%s", kind).isEqualTo(1);
      assertThat(choice.choose(0, true, 0, clock.nanos())).as("%s", kind).isEqualTo(1);
    }
  }

  @Test
  void aRetryGoesToNoBackupWhileOneOriginIsInAndTheOtherTakesNoConnections() {
    List<Origin> origins = origins(1, 1);
    origins.add(origins.get(0).with(1, true, new OriginHealth(HealthPolicy.DEFAULTS, () -> 0)));
    OriginChoice choice = powerOfTwo(origins);
    putOut(origins.get(1), true);
    assertThat(choice.choose(0, true, 0, clock.nanos())).as("its trial").isEqualTo(1);
    assertThat(choice.choose(0, true, 0, clock.nanos())).isEqualTo(OriginChoice.NOWHERE);
    origins.get(0).health().drain(clock.nanos() + 1);
    assertThat(choice.choose(0, true, 0, clock.nanos()))
        .as("nobody is in who may be asked")
        .isEqualTo(2);
  }

  private List<Integer> keyed(OriginChoice choice, int keys) {
    return IntStream.range(0, keys)
        .mapToObj(key -> choice.choose(HashKey.mix(key), true, NONE, clock.nanos()))
        .toList();
  }

  private static List<Origin> hashed(int count) {
    return IntStream.range(0, count)
        .mapToObj(
            i ->
                new Origin(
                    new OriginUrl(false, "origin" + i, 80),
                    1,
                    new OriginHealth(HealthPolicy.DEFAULTS, () -> 0)))
        .toList();
  }

  private static OriginChoice powerOfTwo(List<Origin> origins) {
    return new PowerOfTwoChoices(origins, new SplittableRandom(42));
  }

  private static List<Origin> origins(int... weights) {
    List<Origin> origins = new ArrayList<>();
    for (int weight : weights) {
      origins.add(
          UpstreamSettings.DEFAULTS.origin(
              new OriginUrl(false, "127.0.0.1", 9000 + origins.size()), weight));
    }
    return origins;
  }

  private void putOut(Origin origin) {
    putOut(origin, false);
  }

  private void putOut(Origin origin, boolean isUnreachable) {
    for (int i = 0; i < HealthPolicy.DEFAULTS.failuresUntilOut(); i++) {
      origin.health().failed(isUnreachable, clock.nanos());
    }
  }

  private List<Integer> chosen(OriginChoice choice, int times) {
    List<Integer> places = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      places.add(choice.choose(0, true, NONE, clock.nanos()));
    }
    return places;
  }
}
