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
import org.junit.jupiter.params.provider.ValueSource;

/** The judge of pauses, fed by hand under a clock that the test moves. */
class PaceJudgeTest {

  private static final long SAMPLE = TimeUnit.MILLISECONDS.toNanos(10);
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final long MINUTE = 60 * SECOND;
  private static final double LEAST = 0.1;
  private static final double COST = 10_000;

  private PaceJudge judge = new PaceJudge(LEAST, 1);
  private final Random noise = new Random(1);
  private long now = 17;
  private double rate = 20_000;
  private double saving = 0.2;
  private double deviation;
  private double drawn;
  private long drawnNanos;

  /** Ten milliseconds in which the law wants to pause; the noise changes each second. */
  private void step() {
    boolean mayPause = judge.allows(now);
    if (now >= drawnNanos) {
      drawnNanos = now + PaceJudge.WINDOW_NANOS;
      drawn = noise.nextGaussian() * deviation;
    }
    now += SAMPLE;
    judge.saw(sample(rate, COST * (1 + drawn) * (mayPause ? 1 - saving : 1)), mayPause, now);
  }

  private static LoadSample sample(double perSecond, double costNanos) {
    long events = Math.round(perSecond * SAMPLE / SECOND);
    long cpu = Math.round(events * costNanos);
    return new LoadSample(SAMPLE, 20, events, events, 0, 0, cpu, cpu);
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
    PaceJudgement found = judge.judgement();
    return found == null ? -1 : found.nanos();
  }

  private PaceJudgement judged() {
    untilJudged();
    return judgement();
  }

  private PaceJudgement judgement() {
    return Objects.requireNonNull(judge.judgement());
  }

  @Test
  void nothingIsTriedUntilTheLawWantsToPause() {
    for (int i = 0; i < 1_000; i++) {
      now += SAMPLE;
      judge.saw(sample(rate, COST), false, now);
    }
    assertThat(judge.forbids()).isFalse();
    assertThat(judge.judgement()).isNull();
  }

  @Test
  void pausesThatSaveEnoughAreAllowed() {
    assertThat(untilJudged()).isEqualTo(12 * SECOND);
    PaceJudgement found = judgement();
    assertThat(found.allowsPauses()).isTrue();
    assertThat(found.saving()).isCloseTo(0.2, within(1e-6));
    assertThat(found.uncertainty()).isLessThan(1e-6);
    assertThat(found.pairs()).isEqualTo(6);
    assertThat(found.nanos()).isEqualTo(now);
    assertThat(judge.forbids()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(doubles = {-0.3, 0, 0.09})
  void pausesThatSaveTooLittleStayOut(double share) {
    saving = share;
    PaceJudgement found = judged();
    assertThat(found.allowsPauses()).isFalse();
    assertThat(found.saving()).isCloseTo(share, within(1e-6));
    assertThat(judge.forbids()).isTrue();
    assertThat(judge.reason()).isEqualTo(PaceReason.SAVES_TOO_LITTLE);
    assertThat(judge.allows(now)).isFalse();
  }

  @Test
  void noiseKeepsPausesOut() {
    deviation = 0.4;
    PaceJudgement found = judged();
    assertThat(found.allowsPauses()).isFalse();
    assertThat(found.uncertainty()).isGreaterThan(0.1);
  }

  @Test
  void aSavingThatNoiseHidesAtFirstIsFoundInMorePairs() {
    deviation = 0.12;
    PaceJudgement found = judged();
    assertThat(found.allowsPauses()).isTrue();
    assertThat(found.pairs()).isGreaterThan(6);
    assertThat(found.saving() - found.uncertainty()).isGreaterThanOrEqualTo(LEAST);
  }

  @Test
  void pausesThatSaveJustTooLittleAreSeldomAllowed() {
    saving = LEAST;
    deviation = 0.05;
    int allowed = 0;
    for (int seed = 0; seed < 400; seed++) {
      judge = new PaceJudge(LEAST, seed);
      allowed += judged().allowsPauses() ? 1 : 0;
    }
    assertThat(allowed).as("of 400, of which 5 % may be").isLessThan(28);
  }

  @Test
  void eachPairHasBothKindsOfWindowInAnyOrder() {
    List<Boolean> kinds = new ArrayList<>();
    saving = LEAST;
    deviation = 0.2;
    while (judge.judgement() == null) {
      long begin = now;
      boolean mayPause = judge.allows(now);
      while (now - begin < PaceJudge.WINDOW_NANOS) {
        step();
      }
      kinds.add(mayPause);
    }
    List<Boolean> first = new ArrayList<>();
    for (int i = 0; i < kinds.size(); i += 2) {
      assertThat(kinds.get(i)).isNotEqualTo(kinds.get(i + 1));
      first.add(kinds.get(i));
    }
    assertThat(first).contains(true, false);
  }

  @Test
  void whileATrialForbidsPausesTheReasonSaysSo() {
    while (!judge.forbids()) {
      step();
    }
    assertThat(judge.reason()).isEqualTo(PaceReason.JUDGING);
  }

  @Test
  void processorTimeIsThatOfARequestAndNotOfAnEvent() {
    while (judge.judgement() == null) {
      boolean mayPause = judge.allows(now);
      now += SAMPLE;
      long cpu = mayPause ? 1_600_000 : 2_000_000;
      judge.saw(
          new LoadSample(SAMPLE, 20, mayPause ? 50 : 200, 200, 0, 0, cpu, cpu), mayPause, now);
    }
    assertThat(judgement().saving()).isCloseTo(0.2, within(1e-6));
  }

  @Test
  void theWaitIsHalfOfTheGapAndOfTheBatchBesideThatWithoutPauses() {
    while (judge.judgement() == null) {
      boolean mayPause = judge.allows(now);
      now += SAMPLE;
      long busy = 2_000_000;
      judge.saw(
          new LoadSample(SAMPLE, mayPause ? 20 : 200, 200, 0, 0, 0, busy, 2 * busy), mayPause, now);
    }
    long paced = (500_000 + 100_000) / 2;
    long unpaced = (2_000 + 10_000) / 2;
    assertThat(judgement().waitNanos()).isEqualTo(paced - unpaced);
  }

  @Test
  void windowsOfUnequalLoadAreNotCompared() {
    while (judge.judgement() == null) {
      rate = judge.allows(now) ? 16_000 : 20_000;
      step();
    }
    assertThat(judgement().allowsPauses()).isFalse();
    assertThat(judgement().pairs()).isZero();
    assertThat(judgement().uncertainty()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -5, Long.MIN_VALUE})
  void countsThatStandStillOrFallBackAllowNothing(long count) {
    while (judge.judgement() == null) {
      boolean mayPause = judge.allows(now);
      now += SAMPLE;
      judge.saw(
          new LoadSample(SAMPLE, count, count, count, count, count, count, count), mayPause, now);
    }
    PaceJudgement found = judgement();
    assertThat(found.allowsPauses()).isFalse();
    assertThat(found.saving()).isZero();
    assertThat(found.pairs()).isZero();
  }

  @Test
  void aTrialSurvivesALongSilence() {
    run(3 * SECOND);
    now += 90 * MINUTE;
    assertThat(judged().allowsPauses()).isTrue();
  }

  @Test
  void theJudgeAsksAgainAtGrowingDistances() {
    untilJudged();
    for (long minutes : new long[] {4, 8, 16, 32, 64, 64}) {
      long took = untilJudged();
      assertThat(took - 12 * SECOND).isBetween(minutes * MINUTE, minutes * MINUTE + SECOND);
    }
  }

  @Test
  void anotherVerdictIsDoubtedSooner() {
    untilJudged();
    untilJudged();
    saving = 0;
    assertThat(judged().allowsPauses()).isFalse();
    assertThat(untilJudged()).isBetween(4 * MINUTE, 4 * MINUTE + 14 * SECOND);
  }

  @ParameterizedTest
  @ValueSource(doubles = {10_000, 40_000})
  void anotherLoadIsTriedAnew(double another) {
    untilJudged();
    rate = another;
    assertThat(untilJudged()).isBetween(30 * SECOND, 46 * SECOND);
  }

  @Test
  void aLoadThatChangesForAMomentOrALittleIsTheSame() {
    untilJudged();
    run(40 * SECOND);
    rate = 40_000;
    run(2 * SECOND);
    rate = 26_000;
    run(20 * SECOND);
    assertThat(judgement().nanos()).isLessThan(now - MINUTE);
    assertThat(judge.forbids()).isFalse();
  }

  @Test
  void withoutALeastSavingPausesNeedNoProof() {
    judge = new PaceJudge(0, 1);
    saving = -1;
    for (int i = 0; i < 10_000; i++) {
      step();
      assertThat(judge.forbids()).isFalse();
    }
    assertThat(judge.judgement()).isNull();
  }
}
