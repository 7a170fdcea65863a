package io.kamille.core.admission;

import static org.assertj.core.api.Assertions.assertThat;

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
  private final Shedder shedder = new Shedder(() -> polls, 5 * MILLI, shedAtOnce, shedForwards);

  @Test
  void aQueueThatStandsTurnAfterTurnIsShed() {
    turns(60, 10 * MILLI, 0);
    assertThat(shedder.share()).isPositive();
    turns(1000, 10 * MILLI, 0);
    assertThat(shedder.share()).isGreaterThan(1);
  }

  @Test
  void turnsBelowTheTargetShedNothing() {
    turns(1000, 4 * MILLI, 0);
    assertThat(shedder.share()).isZero();
  }

  @Test
  void aBurstThatIsGoneWithinAWindowIsNoQueue() {
    for (int i = 0; i < 100; i++) {
      turns(4, 20 * MILLI, 0);
      turns(1, 0, 0);
    }
    assertThat(shedder.share()).isZero();
  }

  @Test
  void oneLongTurnAloneIsNoQueue() {
    turns(1, 500 * MILLI, 100 * MILLI);
    turns(10, 0, 100 * MILLI);
    assertThat(shedder.share()).isZero();
  }

  @Test
  void pausesBetweenTurnsDoNotCount() {
    turns(1000, MILLI, 20 * MILLI);
    assertThat(shedder.share()).isZero();
  }

  @Test
  void theShareFallsWithTimeHoweverFewRequestsCome() {
    turns(1000, 10 * MILLI, 0);
    turns(20, 0, 900 * MILLI);
    assertThat(shedder.share()).isZero();
  }

  @Test
  void afterASecondWithoutARequestTheLoopPassesForIdle() {
    turns(1000, 10 * MILLI, 0);
    now += 1000 * MILLI;
    turns(1, 0, 0);
    assertThat(shedder.share()).isZero();
  }

  @Test
  void withoutATargetNothingIsShedAnyMore() {
    turns(1000, 10 * MILLI, 0);
    shedder.target(0);
    turns(1, 10 * MILLI, 0);
    assertThat(shedder.share()).isZero();
    turns(1000, 10 * MILLI, 0);
    assertThat(shedder.share()).isZero();
  }

  @Test
  void upToOneNothingIsShedAtOnce() {
    shedder.force(1);
    for (int i = 0; i < 1000; i++) {
      assertThat(shedder.shedsAtOnce()).isFalse();
      assertThat(shedder.shedsForward()).isTrue();
    }
    assertThat(shedForwards.sum()).isEqualTo(1000);
    assertThat(shedAtOnce.sum()).isZero();
  }

  @Test
  void clientsAreHeldBackForBetweenHalfASecondAndOneAndAHalf() {
    for (int i = 0; i < 1000; i++) {
      assertThat(shedder.holdNanos()).isBetween(500 * MILLI, 1500 * MILLI);
    }
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
