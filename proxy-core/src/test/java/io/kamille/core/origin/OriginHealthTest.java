package io.kamille.core.origin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.loop.ManualClock;
import io.kamille.core.origin.Standing.Phase;
import io.kamille.core.setting.Sections;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OriginHealthTest {

  private static final HealthPolicy POLICY =
      new HealthPolicy(3, 0.5, Duration.ofSeconds(10), HealthPolicy.DEFAULTS.check());

  private static final HealthPolicy SHORTER =
      new HealthPolicy(5, 0.5, Duration.ofSeconds(1), HealthPolicy.DEFAULTS.check());

  private static final HealthPolicy CHECKED =
      new HealthPolicy(
          3,
          0.5,
          POLICY.outFor(),
          Sections.copy(Sections.of(HealthCheck.SECTION, "{kind: tcp, interval: 1s, timeout: 1s}"))
              .with("rise", 1)
              .with("fall", 1)
              .record());

  private final ManualClock clock = ManualClock.atSeconds(0);
  private final OriginHealth health = new OriginHealth(POLICY, () -> 0);

  @Test
  void onlyFailuresInARowPutAnOriginOut() {
    fail(2);
    answer(200);
    fail(2);
    assertThat(health.isIn()).isTrue();
    assertThat(health.failed(false, clock.nanos())).isEqualTo("3 failures in a row");
    assertThat(health.isIn()).isFalse();
  }

  @Test
  void tooLargeAShareOfErrorsPutsItOutToo() {
    for (int i = 0; i < 20; i++) {
      int status = i % 2 == 0 ? 503 : 200;
      answer(status);
      assertThat(health.isIn()).isTrue();
      health.ended(status, clock.nanos());
    }
    answer(504);
    assertThat(health.ended(504, clock.nanos())).isNotNull();
    assertThat(health.isIn()).isFalse();
  }

  @Test
  void underAnotherPolicyItStandsWhereItStood() {
    fail(3);
    OriginHealth next = health.under(SHORTER);
    assertThat(next.isIn()).isFalse();
    assertThat(next.failuresInAll()).isEqualTo(3);
    clock.advance(Duration.ofMillis(9_999));
    assertThat(next.claimProbe(true, clock.nanos())).as("the while it was given").isFalse();
    clock.advance(Duration.ofMillis(1));
    assertThat(next.claimProbe(true, clock.nanos())).isTrue();
  }

  @Test
  void whatRequestsFindOutThatBeganUnderAnotherPolicyHoldsForBoth() {
    OriginHealth next = health.under(SHORTER);
    fail(3);
    assertThat(next.isIn()).isFalse();
    assertThat(next.failuresInAll()).isEqualTo(3);
    clock.advance(Duration.ofSeconds(10));
    assertThat(probes()).isTrue();
    assertThat(next.claimProbe(true, clock.nanos())).isFalse();
    answer(200);
    assertThat(next.standing().phase()).isEqualTo(Phase.RETURNING);
  }

  @Test
  void underAnotherPolicyADrainGoesOn() {
    health.drain(clock.nanos() + 5);
    assertThat(health.under(SHORTER).drainedNanos(clock.nanos())).isEqualTo(5);
    health.under(SHORTER).endDrain();
    assertThat(health.drainedNanos(clock.nanos())).isZero();
  }

  @Test
  void underTheSamePolicyItIsTheSame() {
    assertThat(health.under(POLICY)).isSameAs(health);
  }

  @Test
  void inAnotherProcessItGoesOnWhereItStands() {
    assertThat(health.words(clock.nanos())).isNull();
    fail(3);
    clock.advance(Duration.ofSeconds(4));
    OriginHealth next = new OriginHealth(POLICY, () -> 0);
    next.take(String.valueOf(health.words(clock.nanos())), 1_000);
    assertThat(next.standing().phase()).isEqualTo(Phase.OUT);
    assertThat(next.claimProbe(true, 1_000 + Duration.ofMillis(5_999).toNanos())).isFalse();
    assertThat(next.claimProbe(true, 1_000 + Duration.ofSeconds(6).toNanos())).isTrue();
  }

  @Test
  void aProbeUnderWayIsTheNextProcesssToSendAgain() {
    fail(3);
    clock.advance(Duration.ofSeconds(10));
    assertThat(probes()).isTrue();
    OriginHealth next = new OriginHealth(POLICY, () -> 0);
    next.take(String.valueOf(health.words(clock.nanos())), 0);
    assertThat(next.claimProbe(true, 0)).isTrue();
  }

  @Test
  void whatIsKnownAlreadyStaysWhateverAnotherProcessSays() {
    fail(3);
    health.take("RETURNING 0 1 0 false FAILURES 0 why", clock.nanos());
    assertThat(health.standing().phase()).isEqualTo(Phase.OUT);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "OUT",
        "OUT 1 1 1 true NONE 0 a",
        "OUT -1 1 1 true RATIO 0 a",
        "A 1 1 1 a b 0 a"
      })
  void aStandingThatIsNotUnderstoodIsRefused(String words) {
    assertThatThrownBy(() -> health.take(words, 0)).isInstanceOf(IllegalArgumentException.class);
    assertThat(health.isIn()).isTrue();
  }

  @Test
  void errorsThatTellNothingOfTheOriginAsAWholeDoNot() {
    for (int i = 0; i < 100; i++) {
      answer(500);
      assertThat(health.ended(500, clock.nanos())).isNull();
    }
    assertThat(health.isIn()).isTrue();
  }

  @Test
  void nobodyProbesBeforeTheWhileIsOver() {
    fail(3);
    clock.advance(Duration.ofMillis(9_999));
    assertThat(probes()).isFalse();
  }

  @Test
  void oneRequestProbesAndNoOtherUntilItHasEnded() {
    fail(3);
    clock.advance(Duration.ofSeconds(10));
    assertThat(probes()).isTrue();
    assertThat(probes()).isFalse();
    assertThat(health.answered(200, clock.nanos())).isTrue();
    assertThat(health.isIn()).isTrue();
  }

  @Test
  void aProbeOfWhichNothingIsHeardIsRepeated() {
    fail(3);
    clock.advance(Duration.ofSeconds(10));
    assertThat(probes()).isTrue();
    clock.advance(Duration.ofSeconds(10));
    assertThat(probes()).isTrue();
  }

  @Test
  void eachFailedProbeDoublesTheWhileUpToALimit() {
    fail(3);
    clock.advance(Duration.ofSeconds(10));
    for (int seconds : new int[] {20, 40, 80, 120, 120}) {
      assertThat(probes()).isTrue();
      fail(1);
      clock.advance(Duration.ofSeconds(seconds).minusMillis(1));
      assertThat(probes()).as("within %s s", seconds).isFalse();
      clock.advance(Duration.ofMillis(1));
    }
  }

  @Test
  void chanceMakesAWhileLongerByAQuarterAtMost() {
    OriginHealth unlucky = new OriginHealth(POLICY, () -> 1);
    for (int i = 0; i < 3; i++) {
      unlucky.failed(false, clock.nanos());
    }
    assertThat(unlucky.standing().nanos() - clock.nanos())
        .isEqualTo(Duration.ofMillis(12_500).toNanos());
  }

  @Test
  void aProbeAnsweredWithAnErrorHasFailed() {
    fail(3);
    clock.advance(Duration.ofSeconds(10));
    assertThat(probes()).isTrue();
    answer(503);
    assertThat(health.standing().phase()).isEqualTo(Phase.OUT);
    clock.advance(Duration.ofSeconds(19));
    assertThat(probes()).isFalse();
  }

  @Test
  void itsShareGrowsFromATenthToTheWhole() {
    assertThat(health.sharePercent(clock.nanos())).isEqualTo(100);
    fail(3);
    assertThat(health.sharePercent(clock.nanos())).isZero();
    answer(200);
    assertThat(health.sharePercent(clock.nanos())).isEqualTo(10);
    clock.advance(Duration.ofSeconds(10));
    assertThat(health.sharePercent(clock.nanos())).isEqualTo(55);
    clock.advance(Duration.ofSeconds(10));
    assertThat(health.sharePercent(clock.nanos())).isEqualTo(100);
  }

  @Test
  void whoFailsAgainBeforeItIsBackIsOutForLonger() {
    fail(3);
    answer(200);
    clock.advance(Duration.ofSeconds(19));
    answer(200);
    fail(3);
    clock.advance(Duration.ofSeconds(19));
    assertThat(probes()).isFalse();
    clock.advance(Duration.ofSeconds(1));
    assertThat(probes()).isTrue();
  }

  @Test
  void whoHasFullyReturnedIsAsGoodAsNew() {
    fail(3);
    answer(200);
    clock.advance(Duration.ofSeconds(20));
    answer(200);
    assertThat(health.standing().phase()).isEqualTo(Phase.IN);
    fail(3);
    clock.advance(Duration.ofSeconds(10));
    assertThat(probes()).isTrue();
  }

  @Test
  void onlyAProbeBringsBackWhoWasOutForAShareOfFailures() {
    for (int i = 0; i < 20; i++) {
      health.ended(502, clock.nanos());
    }
    answer(200);
    assertThat(health.isIn()).isFalse();
    clock.advance(Duration.ofSeconds(10));
    assertThat(probes()).isTrue();
    answer(200);
    assertThat(health.standing().phase()).isEqualTo(Phase.RETURNING);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 100})
  void whatFailedWhileItWasOutIsNotHeldAgainstWhoReturns(long outSeconds) {
    OriginHealth returning = new OriginHealth(outFor(Duration.ofSeconds(1)), () -> 0);
    for (int i = 0; i < 50; i++) {
      // The last 30 were under way when it was put out
      returning.ended(503, clock.nanos());
    }
    assertThat(returning.isIn()).isFalse();
    clock.advance(Duration.ofSeconds(outSeconds));
    assertThat(returning.claimProbe(true, clock.nanos())).isTrue();
    for (int i = 0; i < 51; i++) {
      // Their content still runs
      returning.answered(200, clock.nanos());
    }
    assertThat(returning.standing().phase()).isEqualTo(Phase.RETURNING);
    assertThat(returning.ended(503, clock.nanos())).isNull();
    assertThat(returning.isIn()).isTrue();
  }

  @Test
  void oneErrorAMinuteWhileLongAnswersRunPutsNobodyOut() {
    for (int i = 0; i < 200; i++) {
      answer(200);
    }
    for (int minute = 0; minute < 60; minute++) {
      answer(503);
      assertThat(health.ended(503, clock.nanos())).isNull();
      clock.advance(Duration.ofMinutes(1));
    }
    assertThat(health.isIn()).isTrue();
  }

  @Test
  void checksPutItOutAndAloneBringItBack() {
    OriginHealth checked = health.under(CHECKED);
    assertThat(checked.checksFailed("its check failed: status 500", false, clock.nanos())).isTrue();
    assertThat(checked.standing().why()).isEqualTo("its check failed: status 500");
    clock.advance(Duration.ofHours(1));
    assertThat(checked.claimProbe(true, clock.nanos())).isFalse();
    checked.answered(200, clock.nanos());
    assertThat(checked.isIn()).isFalse();
    assertThat(checked.checksPassed(clock.nanos())).isTrue();
    assertThat(checked.standing().phase()).isEqualTo(Phase.RETURNING);
    assertThat(checked.sharePercent(clock.nanos())).as("slow start").isEqualTo(10);
  }

  @Test
  void checksThatPassDoNotOverruleTheRequestsOfUsers() {
    OriginHealth checked = health.under(CHECKED);
    fail(3);
    assertThat(checked.checksPassed(clock.nanos())).isFalse();
    assertThat(checked.isIn()).isFalse();
    clock.advance(Duration.ofSeconds(10));
    assertThat(checked.claimProbe(true, clock.nanos())).isTrue();
  }

  @Test
  void checksThatPassEndThatItTakesNoConnections() {
    for (int i = 0; i < 3; i++) {
      health.failed(true, clock.nanos());
    }
    assertThat(health.checksPassed(clock.nanos())).isTrue();
    assertThat(health.isIn()).isTrue();
  }

  @Test
  void withoutChecksAnyMoreARequestProbesIt() {
    health.under(CHECKED).checksFailed("its check failed", true, clock.nanos());
    assertThat(health.claimProbe(true, clock.nanos())).isTrue();
    answer(200);
    assertThat(health.isIn()).isTrue();
  }

  @Test
  void itSaysSinceWhenItIsOut() {
    clock.advance(Duration.ofSeconds(7));
    fail(3);
    long since = clock.nanos();
    clock.advance(Duration.ofSeconds(10));
    assertThat(probes()).isTrue();
    fail(1);
    assertThat(health.standing().sinceNanos()).isEqualTo(since);
    assertThat(health.standing().why()).contains("3 failures in a row");
  }

  private static HealthPolicy outFor(Duration duration) {
    return new HealthPolicy(3, 0.5, duration, HealthPolicy.DEFAULTS.check());
  }

  @Test
  void whoAsksToBeLeftAloneIsNotAskedSooner() {
    health.awayFor(45, clock.nanos());
    assertThat(health.isIn()).as("one 503 puts nobody out").isTrue();
    fail(3);
    clock.advance(Duration.ofSeconds(44));
    assertThat(probes()).isFalse();
    clock.advance(Duration.ofSeconds(1));
    assertThat(probes()).isTrue();
  }

  @Test
  void nobodyIsLeftAloneBeyondTheLimitOrForWhatIsLongAgo() {
    health.awayFor(Integer.MAX_VALUE, clock.nanos());
    fail(3);
    clock.advance(Duration.ofMinutes(2));
    assertThat(probes()).isTrue();
    health.awayFor(0, clock.nanos());
    fail(1);
    clock.advance(Duration.ofSeconds(20));
    assertThat(probes()).isTrue();
  }

  /** Up for two seconds, down for two, asked a hundred times a second while it is in. */
  @Test
  void whoFlapsFailsFewerThanOneRequestInAThousand() {
    int failed = 0;
    for (int i = 0; i < 60_000; i++) {
      boolean isUp = clock.nanos() / 2_000_000_000L % 2 == 0;
      boolean isAsked = health.sharePercent(clock.nanos()) > 0 || probes();
      if (isAsked && isUp) {
        answer(200);
        health.ended(200, clock.nanos());
      } else if (isAsked) {
        fail(1);
        failed++;
      }
      clock.advance(Duration.ofMillis(10));
    }
    assertThat(failed).isBetween(3, 60);
  }

  @Test
  void itIsUnreachableOnlyWhileItIsOutAndTakesNoConnection() {
    health.failed(true, clock.nanos());
    health.failed(true, clock.nanos());
    assertThat(health.isBarred()).isFalse();
    health.failed(true, clock.nanos());
    assertThat(health.isBarred()).isTrue();
    health.reached();
    assertThat(health.isBarred()).isFalse();
    assertThat(health.isIn()).isFalse();
  }

  @Test
  void oneTrialAtATimeUntilItIsJudgedOrLapses() {
    assertThat(health.claimTrial(clock.nanos())).isTrue();
    assertThat(health.claimTrial(clock.nanos())).isFalse();
    fail(1);
    assertThat(health.claimTrial(clock.nanos())).isTrue();
    clock.advance(Duration.ofSeconds(10));
    assertThat(health.claimTrial(clock.nanos())).isTrue();
  }

  private void fail(int times) {
    for (int i = 0; i < times; i++) {
      health.failed(false, clock.nanos());
    }
  }

  private void answer(int status) {
    health.answered(status, clock.nanos());
  }

  private boolean probes() {
    return health.claimProbe(true, clock.nanos());
  }
}
