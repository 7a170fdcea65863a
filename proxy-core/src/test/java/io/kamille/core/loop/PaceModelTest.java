package io.kamille.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.loop.LoopMeter.Reading;
import io.kamille.core.loop.SimulatedLoop.Costs;
import io.kamille.core.loop.SimulatedLoop.Handled;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The adaptive interval against a simulated queue: Poisson arrivals from a seed, a loop whose
 * polls, sleeps and events cost fixed times, and the real handler and controller between them.
 */
class PaceModelTest {

  private static final long MICRO = 1_000;
  private static final long MILLI = 1_000 * MICRO;
  private static final long SECOND = 1_000 * MILLI;
  private static final long BUDGET = PaceSettings.ADAPTIVE.latencyBudget().toNanos();
  private static final long SAMPLE = 5 * MILLI;

  /** The interval, every 5 ms from one time to another. */
  private static List<Long> path(SimulatedLoop loop, long toNanos) {
    List<Long> path = new ArrayList<>();
    while (loop.now < toNanos) {
      loop.runUntil(Math.min(toNanos, loop.now + SAMPLE));
      path.add(interval(loop));
    }
    return path;
  }

  private static long interval(SimulatedLoop loop) {
    return loop.handler.meter().value(Reading.INTERVAL_NANOS);
  }

  private static PaceReason reason(SimulatedLoop loop) {
    return loop.handler.meter().reason();
  }

  private static PaceJudgement judgement(SimulatedLoop loop) {
    return Objects.requireNonNull(loop.handler.meter().judgement());
  }

  @ParameterizedTest
  @ValueSource(ints = {10, 500, 1_000, 2_000, 5_000})
  void atLightLoadThereIsNeverAPause(int perSecond) {
    SimulatedLoop loop = SimulatedLoop.byLaw();
    Poisson.arrivals(loop, perSecond, perSecond, 0, 2 * SECOND);
    assertThat(path(loop, 2 * SECOND)).containsOnly(0L);
    assertThat(loop.handler.meter().value(Reading.PAUSES)).isZero();
    assertThat(reason(loop)).isEqualTo(PaceReason.LIGHT_LOAD);
  }

  @ParameterizedTest
  @ValueSource(ints = {12_000, 20_000, 50_000, 90_000})
  void underLoadTheIntervalClimbsToTheBudgetAndStays(int perSecond) {
    SimulatedLoop loop = SimulatedLoop.byLaw();
    Poisson.arrivals(loop, perSecond, perSecond, 0, 3 * SECOND);
    List<Long> climb = path(loop, 200 * MILLI);
    assertThat(climb).isSorted();
    assertThat(climb.getLast()).isEqualTo(BUDGET);
    List<Long> rest = path(loop, 3 * SECOND);
    long below = rest.stream().filter(interval -> interval < BUDGET).count();
    assertThat(below).isLessThanOrEqualTo(rest.size() / 20);
  }

  @Test
  void aStepUpAndDownIsFollowedWithoutOscillation() {
    SimulatedLoop loop = SimulatedLoop.byLaw();
    Poisson.arrivals(loop, 1, 1_000, 0, SECOND);
    Poisson.arrivals(loop, 2, 60_000, SECOND, 3 * SECOND);
    Poisson.arrivals(loop, 3, 1_000, 3 * SECOND, 4 * SECOND);

    assertThat(path(loop, SECOND)).containsOnly(0L);
    List<Long> up = path(loop, SECOND + 150 * MILLI);
    assertThat(up).isSorted();
    assertThat(path(loop, 3 * SECOND)).containsOnly(BUDGET);
    loop.runUntil(3 * SECOND + 5 * MILLI);
    assertThat(path(loop, 4 * SECOND)).containsOnly(0L);
  }

  @Test
  void aStepCausesNoWaitBeyondTheBudget() {
    SimulatedLoop off = new SimulatedLoop(PaceSettings.OFF);
    SimulatedLoop adaptive = SimulatedLoop.byLaw();
    for (SimulatedLoop loop : List.of(off, adaptive)) {
      Poisson.arrivals(loop, 1, 1_000, 0, SECOND);
      Poisson.arrivals(loop, 2, 60_000, SECOND, 2 * SECOND);
      Poisson.arrivals(loop, 3, 1_000, 2 * SECOND, 3 * SECOND);
      loop.runUntil(3 * SECOND);
    }
    assertThat(percentile(adaptive.handled, 0.99))
        .isLessThanOrEqualTo(percentile(off.handled, 0.99) + BUDGET);
  }

  private static long percentile(List<Handled> handled, double share) {
    return handled.stream()
        .mapToLong(Handled::latencyNanos)
        .sorted()
        .skip((long) (handled.size() * share))
        .findFirst()
        .orElseThrow();
  }

  @ParameterizedTest
  @ValueSource(ints = {10_000, 20_000, 50_000})
  void pacingSavesProcessorTimeAndKeepsTheLatencyBudget(int perSecond) {
    SimulatedLoop off = new SimulatedLoop(PaceSettings.OFF);
    SimulatedLoop adaptive = SimulatedLoop.byLaw();
    for (SimulatedLoop loop : List.of(off, adaptive)) {
      Poisson.arrivals(loop, 7, perSecond, 0, 2 * SECOND);
      loop.runUntil(2 * SECOND);
    }
    assertThat(adaptive.cpuNanos).isLessThan(off.cpuNanos * 9 / 10);
    assertThat(percentile(adaptive.handled, 0.99))
        .isLessThanOrEqualTo(percentile(off.handled, 0.99) + BUDGET);
  }

  @ParameterizedTest
  @ValueSource(ints = {6_000, 7_000, 8_000, 9_000})
  void betweenTheBoundsTheIntervalDoesNotFlutter(int perSecond) {
    SimulatedLoop loop = SimulatedLoop.byLaw();
    Poisson.arrivals(loop, perSecond, perSecond, 0, 5 * SECOND);
    int departures = 0;
    long last = 0;
    for (long interval : path(loop, 5 * SECOND)) {
      departures += last == 0 && interval > 0 ? 1 : 0;
      last = interval;
    }
    assertThat(departures).isLessThanOrEqualTo(10);
  }

  @Test
  void whatPausesEndLateIsTakenFromTheInterval() {
    Costs late = Costs.USUAL.withLateness(40 * MICRO);
    SimulatedLoop loop = SimulatedLoop.byLaw(late);
    Poisson.arrivals(loop, 11, 30_000, 0, SECOND);
    loop.runUntil(SECOND);
    assertThat(interval(loop)).isBetween(BUDGET - 42 * MICRO, BUDGET - 38 * MICRO);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4, 16, 32})
  void clientsThatWaitForTheirAnswersAreNotSlowedDown(int connections) {
    SimulatedLoop off = closedLoop(new SimulatedLoop(PaceSettings.OFF), connections);
    SimulatedLoop adaptive = closedLoop(SimulatedLoop.byLaw(), connections);
    off.runUntil(8 * SECOND);
    adaptive.runUntil(8 * SECOND);
    assertThat(adaptive.handled.size()).isGreaterThan(off.handled.size() * 93 / 100);
  }

  /** Each connection asks again 30 µs after its answer. */
  private static SimulatedLoop closedLoop(SimulatedLoop loop, int connections) {
    loop.afterEvent(ended -> loop.arrival(ended + 30 * MICRO));
    for (int i = 0; i < connections; i++) {
      loop.arrival(i);
    }
    return loop;
  }

  @Test
  void beyondCapacityTheLoopDoesNotPause() {
    SimulatedLoop loop = SimulatedLoop.byLaw();
    Poisson.arrivals(loop, 13, 150_000, 0, SECOND);
    loop.runUntil(500 * MILLI);
    long pauses = loop.handler.meter().value(Reading.PAUSE_NANOS);
    loop.runUntil(SECOND);
    assertThat(loop.handler.meter().value(Reading.PAUSE_NANOS)).isEqualTo(pauses);
  }

  @Test
  void pacingRaisesTheCapacityOfALoop() {
    Costs costs = new Costs(3_000, 5_000, 7_000, 0);
    SimulatedLoop off = new SimulatedLoop(PaceSettings.OFF, costs);
    SimulatedLoop adaptive = SimulatedLoop.byLaw(costs);
    for (SimulatedLoop loop : List.of(off, adaptive)) {
      Poisson.arrivals(loop, 17, 110_000, 0, SECOND);
      loop.runUntil(SECOND);
    }
    assertThat(adaptive.cpuNanos).isLessThan(off.cpuNanos);
  }

  @Test
  void pausesThatPayAreKeptAfterATrial() {
    SimulatedLoop loop = new SimulatedLoop(PaceSettings.ADAPTIVE);
    Poisson.arrivals(loop, 23, 20_000, 0, 15 * SECOND);
    loop.runUntil(14 * SECOND);
    PaceJudgement found = judgement(loop);
    assertThat(found.allowsPauses()).isTrue();
    assertThat(found.saving()).isBetween(0.2, 0.4);
    assertThat(found.waitNanos()).isBetween(BUDGET / 2, BUDGET);
    assertThat(path(loop, 15 * SECOND)).containsOnly(BUDGET);
  }

  @Test
  void pausesThatDoNotPayEndWithATrialAndTurnsAreNotTimed() {
    SimulatedLoop loop = new SimulatedLoop(PaceSettings.ADAPTIVE, Costs.USUAL.withEvent(36_000));
    Poisson.arrivals(loop, 23, 13_000, 0, 15 * SECOND);
    loop.runUntil(14 * SECOND);
    assertThat(judgement(loop).allowsPauses()).isFalse();
    assertThat(reason(loop)).isEqualTo(PaceReason.SAVES_TOO_LITTLE);
    int looks = loop.clockLooks;
    int polls = loop.polls.size();
    assertThat(path(loop, 15 * SECOND)).containsOnly(0L);
    assertThat(loop.clockLooks - looks).isLessThanOrEqualTo(1 + (loop.polls.size() - polls) / 32);
  }

  @Test
  void whereThereIsNoGainTurnsAreSeldomTimed() {
    SimulatedLoop loop = new SimulatedLoop(PaceSettings.ADAPTIVE, Costs.USUAL.withEvent(50_000));
    Poisson.arrivals(loop, 23, 10_000, 0, 10 * SECOND);
    assertThat(path(loop, 10 * SECOND)).containsOnly(0L);
    assertThat(reason(loop)).isEqualTo(PaceReason.NO_GAIN);
    assertThat(loop.clockLooks).isLessThan(loop.polls.size() / 3);
  }

  @Test
  void atLightLoadNothingIsTried() {
    SimulatedLoop loop = new SimulatedLoop(PaceSettings.ADAPTIVE);
    Poisson.arrivals(loop, 23, 5_000, 0, 5 * SECOND);
    assertThat(path(loop, 5 * SECOND)).containsOnly(0L);
    assertThat(loop.handler.meter().judgement()).isNull();
  }

  @Test
  void longTurnsInARowAreFollowedByAShorterInterval() {
    SimulatedLoop loop = SimulatedLoop.byLaw();
    Poisson.arrivals(loop, 19, 30_000, 0, SECOND);
    loop.runUntil(500 * MILLI);
    assertThat(interval(loop)).isEqualTo(BUDGET);
    while (reason(loop) != PaceReason.BACKLOG) {
      assertThat(loop.now).as("told within three such turns").isLessThan(SECOND / 2 + 20 * MILLI);
      loop.timer(loop.now, () -> loop.now += 5 * MILLI);
      loop.turn();
    }
    assertThat(interval(loop)).isLessThan(BUDGET);
  }
}
