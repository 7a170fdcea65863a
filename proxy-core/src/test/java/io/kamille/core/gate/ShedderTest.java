package io.kamille.core.gate;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.gate.CommandedLaw.Command;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

/** A target of 5 ms. */
class ShedderTest {

  private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

  private final LongAdder shedAtOnce = new LongAdder();
  private final LongAdder shedForwards = new LongAdder();
  private long polls;
  private long now;
  private final CommandedLaw law = new CommandedLaw();
  private final Shedder shedder =
      new Shedder(() -> polls, 5 * MILLI, law::at, shedAtOnce, shedForwards);

  @Test
  void ofAQueueThatStandsTurnAfterTurnWhatTheLoopComesToLateIsShed() {
    turns(1000, 10 * MILLI, 0);
    assertThat(shedsAfter(5 * MILLI)).isFalse();
    assertThat(shedsAfter(5 * MILLI + 1)).isTrue();
    assertThat(shedsForwardAfter(2 * MILLI)).isFalse();
    assertThat(shedsForwardAfter(3 * MILLI)).isTrue();
    assertThat(shedAtOnce.sum()).isEqualTo(1);
    assertThat(shedForwards.sum()).isEqualTo(1);
  }

  @Test
  void turnsBelowTheTargetShedNothing() {
    turns(1000, 4 * MILLI, 0);
    assertThat(shedsAfter(500 * MILLI)).isFalse();
    assertThat(shedsForwardAfter(500 * MILLI)).isFalse();
  }

  @Test
  void aBurstThatIsGoneWithinAWindowIsNoQueue() {
    for (int i = 0; i < 100; i++) {
      turns(4, 20 * MILLI, 0);
      turns(1, 0, 0);
    }
    assertThat(shedsAfter(500 * MILLI)).isFalse();
  }

  @Test
  void oneLongTurnAloneIsNoQueue() {
    turns(1, 500 * MILLI, 100 * MILLI);
    turns(10, 0, 100 * MILLI);
    assertThat(shedsAfter(500 * MILLI)).isFalse();
  }

  @Test
  void pausesBetweenTurnsDoNotCount() {
    turns(1000, MILLI, 20 * MILLI);
    assertThat(shedsAfter(500 * MILLI)).isFalse();
  }

  @Test
  void afterSecondsWithShortTurnsTheOverloadIsOver() {
    turns(1000, 10 * MILLI, 0);
    turns(15, 0, 100 * MILLI);
    assertThat(shedsAfter(6 * MILLI)).isTrue();
    turns(30, 0, 100 * MILLI);
    assertThat(shedsAfter(500 * MILLI)).isFalse();
  }

  @Test
  void withoutATargetNothingIsShedAnyMore() {
    turns(1000, 10 * MILLI, 0);
    shedder.target(0);
    assertThat(shedsAfter(500 * MILLI)).isFalse();
    turns(1000, 10 * MILLI, 0);
    assertThat(shedsAfter(500 * MILLI)).isFalse();
  }

  @Test
  void withAnotherTargetItBeginsAnew() {
    turns(1000, 10 * MILLI, 0);
    shedder.target(2 * MILLI);
    assertThat(shedsAfter(6 * MILLI)).isFalse();
    turns(1000, 10 * MILLI, 0);
    assertThat(shedsAfter(3 * MILLI)).isTrue();
  }

  @Test
  void theShareIsThatOfWhatWasAskedInTheLastWindow() {
    turns(60, 10 * MILLI, 0);
    turns(200, MILLI, 0);
    for (int i = 0; i < 4; i++) {
      shedsForwardAfter(i == 0 ? 4 * MILLI : 0);
    }
    turns(100, MILLI, 0);
    assertThat(shedder.share()).isEqualTo(0.25);
    turns(200, MILLI, 0);
    assertThat(shedder.share()).isZero();
  }

  @Test
  void theShareIsZeroSoonAfterTheLastRequest() {
    turns(60, 10 * MILLI, 0);
    turns(200, MILLI, 0);
    shedsForwardAfter(4 * MILLI);
    turns(100, MILLI, 0);
    assertThat(shedder.share()).isEqualTo(1);
    sweepAfter(1000 * MILLI);
    assertThat(shedder.share()).as("published within the last second").isEqualTo(1);
    sweepAfter(1000 * MILLI);
    assertThat(shedder.share()).isZero();
  }

  @Test
  void whatWaitedForSomethingElseIsJudgedByHowLongItHasWaitedForTheLoop() {
    turns(1000, 10 * MILLI, 0);
    beginTurn(500 * MILLI);
    shedder.comesTo(now - 5 * MILLI, now);
    assertThat(shedder.shedsAtOnce()).isFalse();
    assertThat(shedder.shedsForward()).isTrue();
    shedder.comesTo(now - 5 * MILLI - 1, now);
    assertThat(shedder.shedsAtOnce()).isTrue();
    shedder.comesTo(now, now);
    assertThat(shedder.shedsForward()).isFalse();
  }

  @Test
  void whatIsUnderWayIsNotLate() {
    turns(1000, 10 * MILLI, 0);
    beginTurn(500 * MILLI);
    shedder.done();
    assertThat(shedder.shedsAtOnce()).isFalse();
    assertThat(shedder.shedsForward()).isFalse();
  }

  @Test
  void afterTwoSecondsWithoutARequestTheOverloadIsOverOnceTheLoopHasLookedAgain() {
    turns(1000, 10 * MILLI, 0);
    sweepAfter(1000 * MILLI);
    sweepAfter(999 * MILLI);
    sweepAfter(MILLI);
    assertThat(shedsAfter(6 * MILLI)).isTrue();
    sweepAfter(1000 * MILLI);
    sweepAfter(1000 * MILLI);
    sweepAfter(1000 * MILLI);
    assertThat(shedsAfter(500 * MILLI)).isFalse();
  }

  @Test
  void aPauseOfTheLoopItselfEndsNoOverload() {
    turns(1000, 10 * MILLI, 0);
    for (int pause = 0; pause < 3; pause++) {
      sweepAfter(10_000 * MILLI);
      assertThat(shedsAfter(6 * MILLI)).isTrue();
    }
  }

  @Test
  void whereTheLawShedsForwardsNothingIsShedAtOnce() {
    law.shed(Command.FORWARDS);
    for (int i = 0; i < 1000; i++) {
      assertThat(shedder.shedsAtOnce()).isFalse();
      assertThat(shedder.shedsForward()).isTrue();
    }
    assertThat(shedForwards.sum()).isEqualTo(1000);
    assertThat(shedAtOnce.sum()).isZero();
  }

  @Test
  void clientsAreHeldBackForNoLongerThanTheyAreToldToWait() {
    for (int i = 0; i < 1000; i++) {
      int seconds = shedder.retryAfterSeconds();
      assertThat(seconds).isBetween(1, 3);
      assertThat(shedder.holdNanos(seconds))
          .isBetween((seconds - 1) * 1000L * MILLI, seconds * 1000L * MILLI);
    }
  }

  /** Whether a request is shed that the loop comes to so long after its turn began. */
  private boolean shedsAfter(long nanos) {
    beginTurn(nanos);
    return shedder.shedsAtOnce();
  }

  /** The same of one that would be forwarded. */
  private boolean shedsForwardAfter(long nanos) {
    beginTurn(nanos);
    return shedder.shedsForward();
  }

  private void sweepAfter(long nanos) {
    now += nanos;
    shedder.sweep(now);
  }

  private void beginTurn(long nanos) {
    polls++;
    shedder.read(now);
    now += nanos;
    shedder.read(now);
  }

  /** Turns with a read at the beginning and one at the end, each after a pause. */
  private void turns(int count, long lengthNanos, long pauseNanos) {
    for (int i = 0; i < count; i++) {
      polls++;
      now += pauseNanos;
      shedder.read(now);
      now += lengthNanos;
      shedder.read(now);
    }
  }
}
