package io.kamille.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The law of the adaptive interval, fed by hand. */
class PaceControllerTest {

  private static final long MICRO = 1_000;
  private static final long MILLI = 1_000 * MICRO;
  private static final long WINDOW = 10 * MILLI;
  private static final long BUDGET = 500 * MICRO;
  private static final long POLL = 8 * MICRO;
  private static final long EVENT = 8 * MICRO;

  private final PaceController controller = new PaceController(PaceSettings.ADAPTIVE, 0, 1);
  private long now;

  /** A window in which so many events per second came, each with a poll of its own. */
  private void window(double perSecond) {
    window(perSecond, 1);
  }

  private void window(double perSecond, double eventsPerPoll) {
    long events = Math.round(perSecond * WINDOW / 1e9);
    long polls = Math.round(events / eventsPerPoll);
    now += WINDOW;
    controller.window(
        new LoadSample(
            WINDOW, polls, events, 0, 0, 0, events * EVENT, events * EVENT + polls * POLL),
        now);
  }

  private void climb(double perSecond) {
    for (int i = 0; i < 6; i++) {
      window(perSecond);
    }
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
  }

  @Test
  void atLightLoadTheIntervalIsZero() {
    for (int i = 0; i < 100; i++) {
      window(7_000);
    }
    assertThat(controller.intervalNanos()).isZero();
    assertThat(controller.reason()).isEqualTo(PaceReason.LIGHT_LOAD);
  }

  @Test
  void pacingBeginsAfterTwoWindowsAndClimbsAStepPerWindow() {
    window(60_000);
    assertThat(controller.intervalNanos()).isZero();
    window(60_000);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET / 8);
    assertThat(controller.reason()).isEqualTo(PaceReason.CLIMBING);
    window(60_000);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET / 4);
    window(60_000);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET / 2);
    window(60_000);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
    assertThat(controller.reason()).isEqualTo(PaceReason.AT_BUDGET);
  }

  @Test
  void theFirstStepGathersTwoEvents() {
    window(10_000);
    window(10_000);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET / 2);
  }

  @Test
  void anIdleLoopIsNotPacedHoweverLargeItsBatches() {
    for (int i = 0; i < 20; i++) {
      window(4_000, 40);
    }
    assertThat(controller.intervalNanos()).isZero();
  }

  @Test
  void aLoopWhoseTimeGoesElsewhereIsNotPaced() {
    for (int i = 0; i < 20; i++) {
      now += WINDOW;
      long cpu = 200 * EVENT / 16;
      controller.window(new LoadSample(WINDOW, 200, 200, 0, 0, 0, cpu, cpu + 200 * POLL), now);
    }
    assertThat(controller.intervalNanos()).isZero();
    assertThat(controller.reason()).isEqualTo(PaceReason.LIGHT_LOAD);
  }

  @Test
  void wherePollsCostNextToNothingNothingIsPaced() {
    for (int i = 0; i < 20; i++) {
      now += WINDOW;
      long busy = 200 * 20 * MICRO;
      controller.window(new LoadSample(WINDOW, 20, 200, 0, 0, 0, busy, busy + 20 * MICRO), now);
    }
    assertThat(controller.intervalNanos()).isZero();
    assertThat(controller.reason()).isEqualTo(PaceReason.NO_GAIN);
  }

  @Test
  void betweenTheBoundsNothingChanges() {
    for (int i = 0; i < 20; i++) {
      window(7_000);
    }
    assertThat(controller.intervalNanos()).isZero();
    climb(12_000);
    for (int i = 0; i < 12; i++) {
      window(12_000, 6);
    }
    for (int i = 0; i < 20; i++) {
      window(7_000, 4);
      assertThat(controller.intervalNanos()).as("window %d", i).isEqualTo(BUDGET);
    }
  }

  @Test
  void emptyPausesEndPacingAtOnce() {
    climb(10_000);
    for (int i = 0; i < 12; i++) {
      window(10_000, 5);
    }
    assertThat(controller.turn(0, POLL, true, 900 * MICRO)).isFalse();
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
    assertThat(controller.turn(0, POLL, true, 900 * MICRO)).isTrue();
    assertThat(controller.intervalNanos()).isZero();
    assertThat(controller.reason()).isEqualTo(PaceReason.LIGHT_LOAD);
  }

  @Test
  void atAHighRateOneEmptyPauseIsEnough() {
    climb(60_000);
    assertThat(controller.turn(1, EVENT, true, 900 * MICRO)).isTrue();
    assertThat(controller.intervalNanos()).isZero();
  }

  @Test
  void pausesThatGatherSomethingAreNotEmpty() {
    climb(10_000);
    for (int i = 0; i < 50; i++) {
      assertThat(controller.turn(1, EVENT, true, POLL)).isFalse();
    }
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
  }

  @Test
  void twoTurnsInARowFarAboveTheMeanAreABacklog() {
    climb(20_000);
    for (int i = 0; i < 50; i++) {
      controller.turn(10, 10 * EVENT, true, POLL);
    }
    controller.turn(10, 2 * MILLI, true, POLL);
    controller.turn(10, 10 * EVENT, true, POLL);
    controller.turn(10, 2 * MILLI, true, POLL);
    assertThat(controller.intervalNanos()).as("a hiccup, and another").isEqualTo(BUDGET);
    controller.turn(10, 2 * MILLI, true, POLL);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET / 4);
    assertThat(controller.reason()).isEqualTo(PaceReason.BACKLOG);
    window(20_000, 10);
    assertThat(controller.intervalNanos()).as("rests for a window").isEqualTo(BUDGET / 4);
    window(20_000, 10);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET / 2);
  }

  @Test
  void twoBatchesInARowFarAboveTheMeanAreABacklog() {
    climb(20_000);
    for (int i = 0; i < 50; i++) {
      controller.turn(10, 10 * EVENT, true, POLL);
    }
    controller.turn(60, 10 * EVENT, true, POLL);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
    controller.turn(60, 10 * EVENT, true, POLL);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET / 4);
  }

  @Test
  void clientsThatAskLessOftenBecauseOfPausesEndThem() {
    climb(60_000);
    for (int i = 0; i < 8; i++) {
      window(40_000, 20);
      assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
    }
    window(40_000, 20);
    assertThat(controller.intervalNanos()).isZero();
    assertThat(controller.reason()).isEqualTo(PaceReason.CLOSED_LOOP);
    assertThat(unpacedMillis()).isBetween(1_000L, 1_020L);
    assertThat(controller.intervalNanos()).isPositive();
  }

  @Test
  void requestsThatGatherOnAConnectionAreNotFewer() {
    answering(600, 600, 6);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
    answering(450, 600, 30);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
  }

  @Test
  void fewerRequestsEndPausesThoughEventsAreAsMany() {
    answering(600, 600, 6);
    answering(600, 400, 10);
    assertThat(controller.reason()).isEqualTo(PaceReason.CLOSED_LOOP);
  }

  /** Windows with so many events and so many requests answered. */
  private void answering(long events, long requests, int windows) {
    for (int i = 0; i < windows; i++) {
      now += WINDOW;
      long busy = events * EVENT;
      controller.window(
          new LoadSample(WINDOW, events, events, requests, 0, 0, busy, busy + events * POLL), now);
    }
  }

  /** For how long the interval stays zero at 60,000 events/s. */
  private long unpacedMillis() {
    long begin = now;
    while (controller.intervalNanos() == 0) {
      window(60_000);
    }
    return (now - begin) / MILLI;
  }

  @Test
  void eachTimeItHappensTheTruceIsTwiceAsLong() {
    for (long expected : new long[] {1_000, 2_000, 4_000}) {
      climbFrom(60_000);
      for (int i = 0; i < 10; i++) {
        window(40_000, 20);
      }
      assertThat(controller.reason()).isEqualTo(PaceReason.CLOSED_LOOP);
      assertThat(unpacedMillis()).isBetween(expected, expected + 20);
    }
  }

  private void climbFrom(double perSecond) {
    while (controller.intervalNanos() < BUDGET) {
      window(perSecond);
    }
  }

  @Test
  void aRateThatFallsByChanceEndsNothing() {
    climb(20_000);
    for (int i = 0; i < 30; i++) {
      window(19_000, 10);
    }
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
  }

  @Test
  void theQuestionIsAskedAgainEveryTenSeconds() {
    climb(60_000);
    long begin = now;
    while (controller.intervalNanos() > 0) {
      window(60_000, 30);
    }
    assertThat((now - begin) / MILLI).isBetween(9_900L, 10_000L);
    assertThat(controller.reason()).isEqualTo(PaceReason.ASKING_AGAIN);
    assertThat(unpacedMillis()).isBetween(50L, 70L);
  }

  @Test
  void turnsLongerThanTheIntervalAreSaidToSaturate() {
    climb(100_000);
    for (int i = 0; i < 60; i++) {
      controller.turn(70, 560 * MICRO, false, POLL);
    }
    for (int i = 0; i < 12; i++) {
      window(100_000, 70);
    }
    assertThat(controller.reason()).isEqualTo(PaceReason.SATURATED);
  }

  @Test
  void theLatenessOfPausesIsTakenFromTheBudget() {
    for (int i = 0; i < 100; i++) {
      controller.late(40 * MICRO);
    }
    window(60_000);
    for (int i = 0; i < 5; i++) {
      window(60_000);
    }
    assertThat(controller.intervalNanos()).isBetween(459 * MICRO, 461 * MICRO);
  }

  @Test
  void latenessTakesAQuarterAtMost() {
    for (int i = 0; i < 100; i++) {
      controller.late(10 * MILLI);
    }
    for (int i = 0; i < 6; i++) {
      window(60_000);
    }
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET * 3 / 4);
  }

  @Test
  void anotherBudgetBeginsAnew() {
    climb(60_000);
    controller.reset(PaceSettings.ADAPTIVE.withLatencyBudget(Duration.ofNanos(MILLI)));
    assertThat(controller.intervalNanos()).isZero();
    for (int i = 0; i < 6; i++) {
      window(60_000);
    }
    assertThat(controller.intervalNanos()).isEqualTo(MILLI);
  }

  @Test
  void aPollCostsWhatTheTurnsDoNotTake() {
    window(10_000);
    assertThat(controller.pollCostNanos()).isEqualTo(POLL);
  }

  @Test
  void whereRequestsWaitForAnOriginTooTheIntervalIsHalf() {
    forwarding(0.5, MILLI, 12);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET / 2);
  }

  @Test
  void fewForwardedRequestsChangeNothing() {
    forwarding(0.004, MILLI, 12);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
  }

  @Test
  void forwardedRequestsThatTakeLongDoNotFeelASecondWait() {
    forwarding(0.5, 21 * BUDGET, 12);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
  }

  @Test
  void aShareOfForwardedRequestsBetweenTheBoundsChangesNothing() {
    forwarding(0.008, MILLI, 12);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
    forwarding(0.5, MILLI, 1);
    forwarding(0.008, MILLI, 400);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET / 2);
    forwarding(0, MILLI, 400);
    assertThat(controller.intervalNanos()).isEqualTo(BUDGET);
  }

  /** Windows at 100,000/s, of which a share is forwarded and takes so long. */
  private void forwarding(double share, long nanos, int windows) {
    for (int i = 0; i < windows; i++) {
      now += WINDOW;
      long forwarded = Math.round(1000 * share);
      long busy = 1000 * EVENT;
      controller.window(
          new LoadSample(
              WINDOW, 1000, 1000, 1000, forwarded, forwarded * nanos, busy, busy + 1000 * POLL),
          now);
    }
  }
}
