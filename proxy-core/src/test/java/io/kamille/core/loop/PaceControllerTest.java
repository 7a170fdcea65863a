package io.kamille.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The trial of intervals and its verdict, fed by hand under a clock that the test moves. */
class PaceControllerTest {

  private static final long MICRO = 1_000;
  private static final long MILLI = 1_000 * MICRO;
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final long MINUTE = 60 * SECOND;
  private static final long BUDGET = PaceSettings.LATENCY_BUDGET.toNanos();
  private static final double COST = 10_000;

  private PaceController controller = new PaceController(1);
  private final Random noise = new Random(1);
  private long now = 17;
  private double rate = 20_000;
  private long cap = BUDGET;
  private double deviation;
  private double forwardedShare;
  private long forwardedNanos;
  private boolean isForwardedByChance;
  private long gapNanos;

  /** What an interval of cap/4, cap/2 and cap saves, and which part of the requests still comes. */
  private double[] saving = {0, 0.1, 0.2};

  private double[] answered = {1, 1, 1};

  /** One window. */
  private void step() {
    long interval = controller.intervalNanos();
    int which = interval == 0 ? -1 : interval > cap / 2 ? 2 : interval > cap / 4 ? 1 : 0;
    long nanos = controller.windowNanos();
    long done = Math.round(rate * nanos / SECOND * (which < 0 ? 1 : answered[which]));
    double cost = COST * (1 + noise.nextGaussian() * deviation);
    long cpu = Math.round(done * cost * (which < 0 ? 1 : 1 - saving[which]));
    long polls = interval == 0 ? done : nanos / interval;
    long forwarded =
        isForwardedByChance
            ? noise.doubles(done).filter(draw -> draw < forwardedShare).count()
            : Math.round(done * forwardedShare);
    long elapsed = nanos + gapNanos;
    now += elapsed;
    controller.window(
        new LoadSample(
            elapsed, polls, done, done, forwarded, forwarded * forwardedNanos, cpu / 2, cpu),
        now);
  }

  private void run(long nanos) {
    for (long end = now + nanos; now < end; ) {
      step();
    }
  }

  /** Until the next verdict; how long that takes. */
  private long untilJudged() {
    long before = judgedAt();
    long begin = now;
    while (judgedAt() == before) {
      step();
      assertThat(now - begin).as("a verdict comes").isLessThan(80 * MINUTE);
    }
    return now - begin;
  }

  private long judgedAt() {
    PaceJudgement found = controller.judgement();
    return found == null ? -1 : found.nanos();
  }

  private PaceJudgement judged() {
    untilJudged();
    return judgement();
  }

  private PaceJudgement judgement() {
    return Objects.requireNonNull(controller.judgement());
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, 100, 2_000, 7_900})
  void atLightLoadNothingIsTried(double perSecond) {
    rate = perSecond;
    for (int i = 0; i < 1_000; i++) {
      step();
      assertThat(controller.intervalNanos()).isZero();
      assertThat(controller.reason()).isEqualTo(PaceReason.LIGHT_LOAD);
    }
    assertThat(controller.judgement()).isNull();
  }

  @Test
  void theIntervalThatSavesTheMostIsKept() {
    assertThat(untilJudged()).isLessThan(6 * SECOND);
    PaceJudgement found = judgement();
    assertThat(found.allowsPauses()).isTrue();
    assertThat(found.intervalNanos()).isEqualTo(BUDGET);
    assertThat(found.saving()).isCloseTo(0.2, within(1e-4));
    assertThat(found.uncertainty()).isLessThan(1e-4);
    assertThat(found.nanos()).isEqualTo(now);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
    assertThat(controller.reason()).isEqualTo(PaceReason.SAVES);
  }

  @Test
  void aShorterIntervalIsKeptIfItSavesMore() {
    saving = new double[] {0.15, 0.3, 0.2};
    assertThat(judged().intervalNanos()).isEqualTo(BUDGET / 2);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET / 2);
  }

  @Test
  void anIntervalThatGathersLessThanTwoEventsIsNotTried() {
    rate = 10_000;
    saving = new double[] {0.9, 0.2, 0.15};
    while (controller.judgement() == null) {
      assertThat(controller.intervalNanos()).isNotEqualTo(BUDGET / 4);
      step();
    }
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET / 2);
  }

  @ParameterizedTest
  @ValueSource(doubles = {-0.3, 0, 0.12})
  void pausesThatSaveTooLittleStayOut(double share) {
    saving = new double[] {share - 0.1, share - 0.1, share};
    assertThat(untilJudged()).as("given up early").isLessThan(2 * SECOND);
    assertThat(judgement().allowsPauses()).isFalse();
    assertThat(judgement().saving()).isCloseTo(share, within(1e-4));
    assertThat(controller.intervalNanos()).isZero();
    assertThat(controller.reason()).isEqualTo(PaceReason.SAVES_TOO_LITTLE);
  }

  @Test
  void oneSpoiledWindowInTwentyChangesNothing() {
    int windows = 0;
    while (controller.judgement() == null) {
      deviation = ++windows % 40 == 0 ? 3 : 0.02;
      step();
    }
    assertThat(judgement().allowsPauses()).isTrue();
    assertThat(judgement().saving()).isCloseTo(0.2, within(0.03));
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.05, 0.4})
  void noiseIsSeldomTakenForASaving(double amount) {
    double least = PaceController.LEAST_SAVING;
    saving = new double[] {least, least, least};
    deviation = amount;
    int allowed = 0;
    for (int seed = 0; seed < 400; seed++) {
      controller = new PaceController(seed);
      allowed += judged().allowsPauses() ? 1 : 0;
    }
    assertThat(allowed).as("of 400, of which one in 56 may be").isLessThan(18);
  }

  @Test
  void inEachBlockEachIntervalAndNoneHasAWindowInAnyOrder() {
    List<Long> first = new ArrayList<>();
    saving = new double[] {0.2, 0.2, 0.2};
    while (controller.reason() != PaceReason.TRYING) {
      step();
    }
    for (int block = 0; block < PaceController.BLOCKS; block++) {
      List<Long> intervals = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        intervals.add(controller.intervalNanos());
        step();
        step();
      }
      assertThat(intervals).containsExactlyInAnyOrder(0L, BUDGET / 4, BUDGET / 2, BUDGET);
      first.add(intervals.getFirst());
    }
    assertThat(first).contains(0L, BUDGET / 4, BUDGET / 2, BUDGET);
    assertThat(controller.reason()).isEqualTo(PaceReason.SAVES);
  }

  @Test
  void whileThingsSettleNothingIsMeasured() {
    while (controller.reason() != PaceReason.TRYING) {
      step();
    }
    for (boolean isSettling = true; controller.judgement() == null; isSettling = !isSettling) {
      assertThat(controller.windowNanos()).isEqualTo((isSettling ? 10 : 50) * MILLI);
      saving = isSettling ? new double[] {-1, -1, -1} : new double[] {0, 0, 0.2};
      step();
    }
    assertThat(judgement().saving()).isCloseTo(0.2, within(1e-4));
  }

  @Test
  void processorTimeIsThatOfARequestAndNotOfAnEvent() {
    while (controller.judgement() == null) {
      boolean isPaused = controller.intervalNanos() > 0;
      long nanos = controller.windowNanos();
      long done = 20_000 * nanos / SECOND;
      long cpu = isPaused ? 8_000 * done : 10_000 * done;
      now += nanos;
      controller.window(
          new LoadSample(nanos, 20, isPaused ? done / 4 : done, done, 0, 0, cpu, cpu), now);
    }
    assertThat(judgement().saving()).isCloseTo(0.2, within(1e-6));
  }

  @Test
  void theWaitIsHalfOfTheGapAndOfTheBatchBesideThatWithoutPauses() {
    saving = new double[] {0, 0, 0.2};
    long paced = (500 * MICRO + 40 * MICRO) / 2;
    long unpaced = (long) (0.1 * 5_000 + 5_000) / 2;
    assertThat(judged().waitNanos()).isCloseTo(paced - unpaced, within(50L));
  }

  @Test
  void clientsThatAskLessOftenBecauseOfPausesGetNone() {
    answered = new double[] {0.95, 0.85, 0.5};
    saving = new double[] {0.3, 0.3, 0.3};
    rate = 60_000;
    untilJudged();
    assertThat(judgement().intervalNanos()).as("95 % may be chance").isEqualTo(BUDGET / 4);
    controller = new PaceController(1);
    answered = new double[] {0.9, 0.85, 0.5};
    assertThat(judged().allowsPauses()).isFalse();
    assertThat(controller.intervalNanos()).isZero();
    assertThat(controller.reason()).isEqualTo(PaceReason.CLOSED_LOOP);
  }

  @Test
  void clientsThatAskFarLessOftenAreToldFromPausesThatSaveNothing() {
    answered = new double[] {0.5, 0.5, 0.5};
    saving = new double[] {0.3, 0.3, 0.3};
    untilJudged();
    assertThat(controller.reason()).isEqualTo(PaceReason.CLOSED_LOOP);
    controller = new PaceController(1);
    answered = new double[] {0.85, 0.85, 0.85};
    saving = new double[] {0, 0, 0};
    untilJudged();
    assertThat(controller.reason()).isEqualTo(PaceReason.SAVES_TOO_LITTLE);
  }

  @Test
  void aWindowWithAGapInTheTrafficIsMeasuredAgain() {
    int windows = 0;
    int gaps = 0;
    while (controller.judgement() == null) {
      boolean isLast = controller.intervalNanos() == BUDGET;
      boolean hasGap = isLast && windows++ % 20 == 7;
      gapNanos = hasGap ? SECOND : 0;
      gaps += hasGap ? 1 : 0;
      step();
    }
    assertThat(gaps).isBetween(1, 3);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
    assertThat(controller.reason()).isEqualTo(PaceReason.SAVES);
  }

  @Test
  void aTrialWhoseWindowsHaveGapsWithoutEndEnds() {
    rate = 100_000;
    gapNanos = 60 * MILLI;
    assertThat(pausedNanos(MINUTE)).isBetween(2 * SECOND, 10 * SECOND);
    assertThat(controller.judgement()).isNull();
  }

  /** For how long there were pauses in that time. */
  private long pausedNanos(long nanos) {
    long paused = 0;
    for (long end = now + nanos; now < end; ) {
      long begin = now;
      boolean isPaused = controller.intervalNanos() > 0;
      step();
      paused += isPaused ? now - begin : 0;
    }
    return paused;
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -5, Long.MIN_VALUE})
  void countsThatStandStillOrFallBackAllowNothing(long count) {
    while (controller.judgement() == null) {
      long nanos = controller.windowNanos();
      long events = controller.intervalNanos() > 0 ? count : 1_000;
      now += nanos;
      controller.window(
          new LoadSample(nanos, count, events, count, count, count, count, count), now);
    }
    assertThat(judgement().allowsPauses()).isFalse();
  }

  @Test
  void aTrialEndsWithTheLoad() {
    run(SECOND);
    assertThat(controller.reason()).isEqualTo(PaceReason.TRYING);
    rate = 1_000;
    run(SECOND);
    assertThat(controller.reason()).isEqualTo(PaceReason.LIGHT_LOAD);
    assertThat(controller.judgement()).isNull();
    rate = 20_000;
    assertThat(judged().allowsPauses()).isTrue();
  }

  @Test
  void aLoadThatComesAndGoesIsTriedOnceInThirtySeconds() {
    long paused = 0;
    for (int i = 0; i < 100; i++) {
      rate = 20_000;
      paused += pausedNanos(2_500 * MILLI);
      rate = 1_000;
      paused += pausedNanos(500 * MILLI);
    }
    assertThat(controller.judgement()).isNull();
    assertThat(paused).isBetween(2 * SECOND, 30 * SECOND);
    rate = 20_000;
    step();
    step();
    assertThat(controller.reason()).isIn(PaceReason.OTHER_LOAD, PaceReason.TRYING);
  }

  @Test
  void itIsTriedAgainAtGrowingDistances() {
    untilJudged();
    long trial = 5 * SECOND;
    for (long seconds : new long[] {30, 60, 120, 240, 480, 960, 1_920, 3_840, 3_840}) {
      long took = untilJudged();
      assertThat(took).isBetween(seconds * SECOND, seconds * SECOND + trial);
    }
  }

  @Test
  void anotherVerdictIsDoubtedSooner() {
    untilJudged();
    untilJudged();
    saving = new double[] {0, 0, 0};
    assertThat(judged().allowsPauses()).isFalse();
    assertThat(untilJudged()).isBetween(30 * SECOND, 35 * SECOND);
  }

  @ParameterizedTest
  @ValueSource(doubles = {10_000, 40_000})
  void anotherLoadIsNotPausedForUntilItIsTried(double another) {
    for (int i = 0; i < 4; i++) {
      untilJudged();
    }
    rate = another;
    run(2 * SECOND);
    assertThat(controller.intervalNanos()).isPositive();
    run(2 * SECOND);
    assertThat(controller.intervalNanos()).isZero();
    assertThat(controller.reason()).isEqualTo(PaceReason.OTHER_LOAD);
    assertThat(untilJudged()).isBetween(26 * SECOND, 32 * SECOND);
    assertThat(controller.reason()).isEqualTo(PaceReason.SAVES);
  }

  @Test
  void aLoadThatChangesForAMomentOrALittleIsTheSame() {
    untilJudged();
    untilJudged();
    rate = 40_000;
    run(2 * SECOND);
    rate = 26_000;
    run(40 * SECOND);
    assertThat(judgement().nanos()).isLessThan(now - 40 * SECOND);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
  }

  @Test
  void pausesThatGatherNothingEndWithTheWindow() {
    untilJudged();
    rate = 500;
    step();
    assertThat(controller.intervalNanos()).isZero();
    assertThat(controller.reason()).isEqualTo(PaceReason.LIGHT_LOAD);
    rate = 20_000;
    step();
    assertThat(controller.intervalNanos()).as("known").isEqualTo(BUDGET);
  }

  @Test
  void betweenTheBoundsNothingChanges() {
    rate = 9_000;
    untilJudged();
    rate = 7_000;
    run(SECOND);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
    rate = 5_900;
    run(SECOND);
    rate = 7_000;
    run(SECOND);
    assertThat(controller.intervalNanos()).isZero();
  }

  @Test
  void whatPausesEndLateIsTakenFromTheBudget() {
    late(40 * MICRO);
    untilJudged();
    assertThat(controller.intervalNanos()).isBetween(459 * MICRO, 461 * MICRO);
  }

  private void late(long nanos) {
    for (int i = 0; i < 100; i++) {
      controller.late(nanos);
    }
  }

  @Test
  void latenessTakesAQuarterAtMost() {
    late(10 * MILLI);
    untilJudged();
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET * 3 / 4);
  }

  @Test
  void aResetKeepsWhatWasFound() {
    run(2 * SECOND);
    controller.reset();
    assertThat(untilJudged()).as("the trial goes on").isLessThan(4 * SECOND);
    controller.reset();
    assertThat(controller.intervalNanos()).isZero();
    step();
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
  }

  @Test
  void whereRequestsWaitForAnOriginTooTheIntervalIsHalf() {
    forwarding(0.5, MILLI);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET / 2);
  }

  @Test
  void fewForwardedRequestsChangeNothing() {
    forwarding(0.004, MILLI);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
  }

  @Test
  void forwardedRequestsThatTakeLongDoNotFeelASecondWait() {
    forwarding(0.5, 21 * BUDGET);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
  }

  @Test
  void aShareOfForwardedRequestsBetweenTheBoundsChangesNothing() {
    forwarding(0.008, MILLI);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
    forwardedShare = 0.5;
    run(4 * SECOND);
    assertThat(controller.intervalNanos()).as("to be tried").isZero();
    forwarding(0.008, MILLI);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET / 2);
    forwardedShare = 0;
    untilJudged();
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
  }

  @ParameterizedTest
  @CsvSource({"10000, 0.005", "10000, 0.0075", "20000, 0.01", "20000, 0.012"})
  void aShareOfForwardedRequestsNearTheBoundsUpsetsNoTrial(double perSecond, double share) {
    rate = perSecond;
    forwardedShare = share;
    forwardedNanos = MILLI;
    isForwardedByChance = true;
    saving = new double[] {0, 0.2, 0.3};
    int trials = 0;
    int lost = 0;
    for (int seed = 0; seed < 20; seed++) {
      controller = new PaceController(seed);
      PaceReason before = controller.reason();
      for (long end = now + MINUTE; now < end; before = controller.reason()) {
        step();
        PaceReason after = controller.reason();
        trials += before != PaceReason.TRYING && after == PaceReason.TRYING ? 1 : 0;
        boolean hasEndedSo =
            after == PaceReason.OTHER_LOAD
                || (before == PaceReason.TRYING && after == PaceReason.LIGHT_LOAD);
        lost += hasEndedSo && before != after ? 1 : 0;
      }
    }
    assertThat(trials).isGreaterThanOrEqualTo(2 * 20);
    assertThat(lost).as("trials and verdicts that a change upset, in 20 minutes").isLessThan(3);
  }

  @Test
  void aRealChangeOfTheForwardedShareIsNoticedWithinSeconds() {
    forwarding(0, MILLI);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
    forwardedShare = 1;
    assertThat(pausedNanos(10 * SECOND)).isLessThan(4 * SECOND);
    untilJudged();
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET / 2);
    forwardedShare = 0;
    assertThat(pausedNanos(10 * SECOND)).isLessThan(6 * SECOND);
    untilJudged();
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
  }

  @Test
  void aMomentInWhichAllRequestsAreForwardedIsNoChange() {
    forwarding(0, MILLI);
    forwardedShare = 1;
    run(SECOND);
    forwardedShare = 0;
    run(4 * SECOND);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
  }

  /** A trial at 100,000/s, of which a share is forwarded and takes so long. */
  private void forwarding(double share, long nanos) {
    rate = 100_000;
    forwardedShare = share;
    forwardedNanos = nanos;
    saving = new double[] {0.1, 0.2, 0.3};
    untilJudged();
  }
}
