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
  private static final long BUDGET = PaceSettings.LATENCY_BUDGET.toNanos();
  private static final long SAMPLE = 5 * MILLI;

  /** A trial is over by then. */
  private static final long TRIAL = 6 * SECOND;

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

  /** An adaptive loop. */
  private static SimulatedLoop adaptive() {
    return new SimulatedLoop(PaceSettings.ADAPTIVE);
  }

  @ParameterizedTest
  @ValueSource(ints = {10, 500, 1_000, 2_000, 5_000})
  void atLightLoadThereIsNeverAPause(int perSecond) {
    SimulatedLoop loop = adaptive();
    Poisson.arrivals(loop, perSecond, perSecond, 0, 2 * SECOND);
    assertThat(path(loop, 2 * SECOND)).containsOnly(0L);
    assertThat(loop.handler.meter().value(Reading.PAUSES)).isZero();
    assertThat(reason(loop)).isEqualTo(PaceReason.LIGHT_LOAD);
    assertThat(loop.handler.meter().judgement()).isNull();
  }

  @ParameterizedTest
  @ValueSource(ints = {12_000, 20_000, 50_000})
  void pausesThatPayAreKeptAfterATrial(int perSecond) {
    SimulatedLoop loop = adaptive();
    Poisson.arrivals(loop, perSecond, perSecond, 0, TRIAL + SECOND);
    loop.runUntil(TRIAL);
    PaceJudgement found = judgement(loop);
    assertThat(found.allowsPauses()).isTrue();
    assertThat(found.saving()).isBetween(0.15, 0.5);
    assertThat(found.waitNanos()).isBetween(BUDGET / 4, BUDGET);
    assertThat(path(loop, TRIAL + SECOND)).containsOnly(BUDGET);
  }

  @ParameterizedTest
  @ValueSource(ints = {10_000, 50_000})
  void pausesThatDoNotPayEndWithATrialAndTurnsAreNotTimed(int perSecond) {
    long event = perSecond == 10_000 ? 60_000 : 16_000;
    SimulatedLoop loop = new SimulatedLoop(PaceSettings.ADAPTIVE, Costs.USUAL.withEvent(event));
    Poisson.arrivals(loop, 23, perSecond, 0, TRIAL + SECOND);
    loop.runUntil(TRIAL);
    assertThat(judgement(loop).allowsPauses()).isFalse();
    assertThat(reason(loop)).isEqualTo(PaceReason.SAVES_TOO_LITTLE);
    int looks = loop.clockLooks;
    int polls = loop.polls.size();
    assertThat(path(loop, TRIAL + SECOND)).containsOnly(0L);
    assertThat(loop.clockLooks - looks).isLessThanOrEqualTo(1 + (loop.polls.size() - polls) / 32);
  }

  @Test
  void aStepDownAndUpIsFollowedWithinAWindow() {
    SimulatedLoop loop = adaptive();
    Poisson.arrivals(loop, 2, 60_000, 0, TRIAL);
    Poisson.arrivals(loop, 3, 1_000, TRIAL, TRIAL + SECOND);
    Poisson.arrivals(loop, 4, 60_000, TRIAL + SECOND, TRIAL + 2 * SECOND);

    loop.runUntil(TRIAL);
    assertThat(interval(loop)).isEqualTo(BUDGET);
    loop.runUntil(TRIAL + 110 * MILLI);
    assertThat(path(loop, TRIAL + SECOND)).containsOnly(0L);
    loop.runUntil(TRIAL + SECOND + 110 * MILLI);
    assertThat(path(loop, TRIAL + 2 * SECOND)).containsOnly(BUDGET);
  }

  @Test
  void aStepCausesNoWaitBeyondTheBudget() {
    SimulatedLoop off = new SimulatedLoop(PaceSettings.OFF);
    SimulatedLoop adaptive = adaptive();
    for (SimulatedLoop loop : List.of(off, adaptive)) {
      Poisson.arrivals(loop, 1, 1_000, 0, SECOND);
      Poisson.arrivals(loop, 2, 60_000, SECOND, TRIAL + 2 * SECOND);
      Poisson.arrivals(loop, 3, 1_000, TRIAL + 2 * SECOND, TRIAL + 3 * SECOND);
      loop.runUntil(TRIAL + 3 * SECOND);
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
    SimulatedLoop adaptive = adaptive();
    for (SimulatedLoop loop : List.of(off, adaptive)) {
      Poisson.arrivals(loop, 7, perSecond, 0, TRIAL + 2 * SECOND);
      loop.runUntil(TRIAL);
      loop.handled.clear();
      loop.cpuNanos = 0;
      loop.runUntil(TRIAL + 2 * SECOND);
    }
    assertThat(adaptive.cpuNanos).isLessThan(off.cpuNanos * 9 / 10);
    assertThat(percentile(adaptive.handled, 0.99))
        .isLessThanOrEqualTo(percentile(off.handled, 0.99) + BUDGET);
  }

  @Test
  void whatPausesEndLateIsTakenFromTheInterval() {
    SimulatedLoop loop =
        new SimulatedLoop(PaceSettings.ADAPTIVE, Costs.USUAL.withLateness(40 * MICRO));
    Poisson.arrivals(loop, 11, 30_000, 0, TRIAL);
    loop.runUntil(TRIAL);
    assertThat(interval(loop)).isBetween(BUDGET - 42 * MICRO, BUDGET - 38 * MICRO);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4, 16, 32})
  void clientsThatWaitForTheirAnswersAreNotSlowedDown(int connections) {
    SimulatedLoop off = closedLoop(new SimulatedLoop(PaceSettings.OFF), connections);
    SimulatedLoop adaptive = closedLoop(adaptive(), connections);
    off.runUntil(20 * SECOND);
    adaptive.runUntil(20 * SECOND);
    assertThat(adaptive.handled.size()).isGreaterThan(off.handled.size() * 93 / 100);
    assertThat(interval(adaptive)).isZero();
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
    SimulatedLoop loop = adaptive();
    Poisson.arrivals(loop, 13, 150_000, 0, TRIAL);
    loop.runUntil(TRIAL / 2);
    long pauses = loop.handler.meter().value(Reading.PAUSE_NANOS);
    loop.runUntil(TRIAL);
    assertThat(loop.handler.meter().value(Reading.PAUSE_NANOS)).isEqualTo(pauses);
  }
}
