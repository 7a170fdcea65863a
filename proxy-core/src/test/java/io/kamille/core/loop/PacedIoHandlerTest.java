package io.kamille.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.loop.LoopMeter.Reading;
import io.kamille.core.loop.SimulatedLoop.Costs;
import io.kamille.core.loop.SimulatedLoop.Handled;
import io.kamille.core.loop.SimulatedLoop.Poll;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The turns of one loop under a simulated clock (Kawai, Kadobayashi, Yamaguchi 2004, Fig. 3). */
class PacedIoHandlerTest {

  private static final long MICRO = 1_000;
  private static final long MILLI = 1_000 * MICRO;
  private static final long SECOND = 1_000 * MILLI;

  @ParameterizedTest
  @ValueSource(longs = {100, 500, 1_000, 5_000, 10_000})
  void noTwoPollsAreCloserThanTheInterval(long micros) {
    long interval = micros * MICRO;
    for (double rate : new double[] {100, 3_000, 30_000, 110_000}) {
      SimulatedLoop loop = new SimulatedLoop(PaceSettings.fixed(interval));
      Poisson.arrivals(loop, 1, rate, 0, SECOND);
      for (int i = 1; i < 500; i++) {
        loop.task(i * 1_937L * MICRO, () -> {});
        loop.timer(i * 1_789L * MICRO, () -> {});
      }
      loop.runUntil(SECOND);
      assertThat(gaps(loop.polls)).isNotEmpty().allMatch(gap -> gap >= interval);
      assertThat(loop.handled).isNotEmpty();
    }
  }

  /** From the return of each poll to the call of the next. */
  private static List<Long> gaps(List<Poll> polls) {
    List<Long> gaps = new ArrayList<>();
    for (int i = 1; i < polls.size(); i++) {
      gaps.add(polls.get(i).calledNanos() - polls.get(i - 1).returnedNanos());
    }
    return gaps;
  }

  @Test
  void whatTheTurnTookIsPartOfTheInterval() {
    SimulatedLoop loop = new SimulatedLoop(PaceSettings.fixed(MILLI));
    loop.arrival(0);
    loop.timer(0, () -> loop.now += 400 * MICRO);
    loop.turn();
    loop.turn();
    loop.arrival(0);
    loop.turn();
    assertThat(gaps(loop.polls)).last().isEqualTo(MILLI);
  }

  @Test
  void aTurnLongerThanTheIntervalIsFollowedByNoPause() {
    SimulatedLoop loop = new SimulatedLoop(PaceSettings.fixed(MILLI));
    loop.arrival(0);
    loop.timer(0, () -> loop.now += 3 * MILLI);
    loop.turn();
    long turnEnd = loop.now;
    loop.arrival(turnEnd);
    loop.turn();
    assertThat(loop.polls.getLast().calledNanos()).isEqualTo(turnEnd);
    assertThat(loop.handler.meter().value(Reading.PAUSES)).isZero();
  }

  @Test
  void anEventOnAnIdleLoopIsHandledAtOnce() {
    SimulatedLoop loop = new SimulatedLoop(PaceSettings.fixed(5 * MILLI));
    loop.arrival(100 * MILLI);
    loop.runUntil(101 * MILLI);
    long soonest = Costs.USUAL.sleep() + Costs.USUAL.event();
    assertThat(loop.handled).extracting(Handled::latencyNanos).containsExactly(soonest);
  }

  @ParameterizedTest
  @ValueSource(longs = {100, 500, 1_000, 5_000, 10_000})
  void aTaskFromAnotherThreadEndsThePauseItFinds(long micros) {
    SimulatedLoop loop = busy(micros);
    List<Long> delays = new ArrayList<>();
    for (int i = 1; i < 900; i++) {
      long at = i * 1_037L * MICRO;
      loop.task(at, () -> delays.add(loop.now - at));
    }
    loop.runUntil(SECOND);
    assertThat(delays).hasSize(899).allMatch(delay -> delay <= longestTurn(loop));
  }

  /** What a task may wait for: the turn that goes on, or the wake-up of a poll that blocks. */
  private static long longestTurn(SimulatedLoop loop) {
    int most = loop.polls.stream().mapToInt(Poll::events).max().orElseThrow();
    return Costs.USUAL.systemCall() + Costs.USUAL.sleep() + most * Costs.USUAL.event();
  }

  private static SimulatedLoop busy(long intervalMicros) {
    SimulatedLoop loop = new SimulatedLoop(PaceSettings.fixed(intervalMicros * MICRO));
    Poisson.arrivals(loop, 2, 10_000, 0, SECOND);
    return loop;
  }

  @ParameterizedTest
  @ValueSource(longs = {100, 500, 1_000, 5_000, 10_000})
  void aTimerIsNoLaterThanTheTurnThatGoesOn(long micros) {
    SimulatedLoop loop = busy(micros);
    List<Long> delays = new ArrayList<>();
    for (int i = 1; i < 900; i++) {
      long at = i * 1_037L * MICRO;
      loop.timer(at, () -> delays.add(loop.now - at));
    }
    loop.runUntil(SECOND);
    assertThat(delays).hasSize(899).allMatch(delay -> delay <= longestTurn(loop));
  }

  @Test
  void noPauseBeginsWhileATaskWaits() {
    SimulatedLoop loop = new SimulatedLoop(PaceSettings.fixed(MILLI));
    loop.arrival(0);
    loop.turn();
    long pauses = loop.handler.meter().value(Reading.PAUSES);
    long before = loop.now;
    loop.task(before, () -> {});
    loop.timer(before, () -> {});
    loop.turn();
    assertThat(loop.now).isEqualTo(before);
    assertThat(loop.handler.meter().value(Reading.PAUSES)).isEqualTo(pauses);
  }

  @Test
  void afterATaskTheRestOfTheIntervalIsPausedFor() {
    SimulatedLoop loop = new SimulatedLoop(PaceSettings.fixed(MILLI));
    loop.arrival(0);
    loop.arrival(1);
    loop.task(300 * MICRO, () -> {});
    loop.task(600 * MICRO, () -> {});
    loop.runUntil(MILLI);
    loop.arrival(0);
    loop.turn();
    assertThat(gaps(loop.polls)).contains(MILLI).allMatch(gap -> gap >= MILLI);
  }

  @Test
  void noTurnPausesOnceTheLoopStops() {
    SimulatedLoop loop = busy(10_000);
    loop.runUntil(100 * MILLI);
    loop.handler.prepareToDestroy();
    long pauses = loop.handler.meter().value(Reading.PAUSES);
    loop.runUntil(200 * MILLI);
    assertThat(loop.handler.meter().value(Reading.PAUSES)).isEqualTo(pauses);
  }

  @Test
  void offLooksAtNoClockAndNeverPauses() {
    SimulatedLoop loop = new SimulatedLoop(PaceSettings.OFF);
    Poisson.arrivals(loop, 3, 20_000, 0, SECOND);
    loop.runUntil(SECOND);
    assertThat(loop.clockLooks).isZero();
    assertThat(loop.handler.meter().value(Reading.PAUSES)).isZero();
    assertThat(loop.handler.meter().reason()).isEqualTo(PaceReason.OFF);
    assertThat(loop.handler.meter().value(Reading.POLLS)).isEqualTo(loop.polls.size());
    assertThat(loop.handler.meter().value(Reading.EVENTS)).isEqualTo(loop.handled.size());
  }

  @Test
  void anAdaptiveLoopWithLittleToDoLooksAtTheClockOnceIn32Polls() {
    SimulatedLoop loop = new SimulatedLoop(PaceSettings.ADAPTIVE);
    Poisson.arrivals(loop, 3, 2_000, 0, SECOND);
    loop.runUntil(SECOND);
    assertThat(loop.polls).hasSizeGreaterThan(1_500);
    assertThat(loop.clockLooks).isLessThanOrEqualTo(1 + loop.polls.size() / 32);
    assertThat(loop.handler.meter().value(Reading.PAUSES)).isZero();
    assertThat(loop.handler.meter().reason()).isEqualTo(PaceReason.LIGHT_LOAD);
    assertThat(loop.handler.meter().ratio(Reading.UTILISATION)).isPositive();
  }

  @Test
  void anAdaptiveLoopStopsTimingItsTurnsWhenTheLoadIsGone() {
    SimulatedLoop loop = new SimulatedLoop(PaceSettings.ADAPTIVE);
    Poisson.arrivals(loop, 3, 30_000, 0, SECOND);
    Poisson.arrivals(loop, 4, 2_000, SECOND, 4 * SECOND);
    loop.runUntil(SECOND);
    assertThat(loop.handler.meter().value(Reading.PAUSES)).isPositive();
    loop.runUntil(2 * SECOND);
    int looks = loop.clockLooks;
    int polls = loop.polls.size();
    loop.runUntil(4 * SECOND);
    assertThat(loop.clockLooks - looks).isLessThanOrEqualTo(1 + (loop.polls.size() - polls) / 32);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 2_000})
  void aTaskWakesAnAdaptiveLoopWithLittleToDo(int perSecond) {
    SimulatedLoop loop = new SimulatedLoop(PaceSettings.ADAPTIVE);
    if (perSecond > 0) {
      Poisson.arrivals(loop, 5, perSecond, 0, SECOND);
    }
    List<Long> ran = new ArrayList<>();
    loop.task(700 * MILLI, () -> ran.add(loop.now));
    loop.runUntil(SECOND);
    assertThat(ran).singleElement().satisfies(at -> assertThat(at).isLessThan(701 * MILLI));
  }

  @Test
  void aTaskWakesALoopThatIsNotPaced() {
    SimulatedLoop loop = new SimulatedLoop(PaceSettings.OFF);
    List<Long> ran = new ArrayList<>();
    loop.task(7 * MILLI, () -> ran.add(loop.now));
    loop.runUntil(8 * MILLI);
    assertThat(ran).containsExactly(7 * MILLI + Costs.USUAL.sleep());
  }

  @Test
  void anotherPaceHoldsFromTheNextTurn() {
    SimulatedLoop loop = new SimulatedLoop(PaceSettings.OFF);
    Poisson.arrivals(loop, 4, 20_000, 0, SECOND);
    loop.runUntil(100 * MILLI);
    loop.control.settings(PaceSettings.fixed(MILLI));
    loop.turn();
    int last = loop.polls.size();
    loop.runUntil(300 * MILLI);
    assertThat(gaps(loop.polls.subList(last, loop.polls.size())))
        .isNotEmpty()
        .allMatch(gap -> gap >= MILLI);
    assertThat(loop.handler.meter().reason()).isEqualTo(PaceReason.FIXED);
    loop.control.settings(PaceSettings.OFF);
    loop.turn();
    long pauses = loop.handler.meter().value(Reading.PAUSES);
    loop.runUntil(SECOND);
    assertThat(loop.handler.meter().value(Reading.PAUSES)).isEqualTo(pauses);
  }

  @Test
  void progressIsOddDuringATurnAndEvenWhileTheLoopWaits() {
    for (PaceSettings settings : List.of(PaceSettings.OFF, PaceSettings.fixed(MILLI))) {
      SimulatedLoop loop = new SimulatedLoop(settings);
      List<Long> seen = new ArrayList<>();
      loop.arrival(MILLI);
      loop.timer(2 * MILLI, () -> seen.add(loop.handler.meter().value(Reading.PROGRESS) & 1));
      loop.outside(1_500 * MICRO, () -> seen.add(loop.handler.meter().value(Reading.PROGRESS) & 1));
      loop.runUntil(3 * MILLI);
      assertThat(seen).containsExactly(0L, 1L);
    }
  }

  @Test
  void anInterruptedLoopStillPauses() {
    SimulatedLoop loop = busy(1_000);
    loop.runUntil(10 * MILLI);
    Thread.currentThread().interrupt();
    loop.runUntil(20 * MILLI);
    assertThat(Thread.interrupted()).isFalse();
  }

  @Test
  void busyTimeIsTheTimeOfTurnsAlone() {
    SimulatedLoop loop = busy(1_000);
    loop.runUntil(SECOND);
    LoopMeter meter = loop.handler.meter();
    long worked = loop.handled.size() * Costs.USUAL.event();
    assertThat(meter.value(Reading.BUSY_NANOS)).isBetween(worked - longestTurn(loop), worked);
    assertThat(meter.ratio(Reading.UTILISATION)).isBetween(0.06, 0.10);
    assertThat(meter.turns().snapshot().sumNanos()).isEqualTo(meter.value(Reading.BUSY_NANOS));
  }

  @Test
  void aTurnWithANewSocketIsFollowedByOnePollWithoutAPause() {
    SimulatedLoop loop = new SimulatedLoop(PaceSettings.ADAPTIVE);
    Poisson.arrivals(loop, 5, 30_000, 0, 7 * SECOND);
    loop.runUntil(6 * SECOND);
    long interval = loop.handler.meter().value(Reading.INTERVAL_NANOS);
    assertThat(interval).isPositive();
    int before = loop.polls.size();
    loop.isRegistering = true;
    loop.runUntil(6_100 * MILLI);
    int between = loop.polls.size();
    for (int i = 1; i < 900; i++) {
      loop.task(6_100 * MILLI + 100L * i * MICRO, () -> {});
    }
    loop.runUntil(6_200 * MILLI);
    onePollInTwoIsEarly(gaps(loop.polls.subList(before, between)), interval);
    onePollInTwoIsEarly(gaps(loop.polls.subList(between, loop.polls.size())), interval);
  }

  private static void onePollInTwoIsEarly(List<Long> gaps, long interval) {
    long shortGaps = gaps.stream().filter(gap -> gap < interval).count();
    assertThat(shortGaps).isBetween(gaps.size() / 2L - 1, gaps.size() / 2L + 1);
    for (int i = 1; i < gaps.size(); i++) {
      assertThat(Math.max(gaps.get(i - 1), gaps.get(i))).isGreaterThanOrEqualTo(interval);
    }
  }

  @Test
  void aBusyWaitFindsWhatComesWithinItsBudget() {
    SimulatedLoop loop = new SimulatedLoop(PaceSettings.OFF.withSpin(Duration.ofNanos(50 * MICRO)));
    loop.control.hasIdleProcessors(true);
    loop.afterEvent(ended -> loop.arrival(ended + 20 * MICRO));
    loop.arrival(0);
    loop.runUntil(100 * MILLI);
    LoopMeter meter = loop.handler.meter();
    assertThat(meter.value(Reading.PAID_SPINS)).isGreaterThan(1_000);
    assertThat(loop.handled.getLast().latencyNanos())
        .isLessThan(Costs.USUAL.event() + Costs.USUAL.sleep());
  }

  @Test
  void nothingIsSpunAtLightLoad() {
    SimulatedLoop loop = new SimulatedLoop(PaceSettings.OFF.withSpin(Duration.ofNanos(50 * MICRO)));
    loop.control.hasIdleProcessors(true);
    Poisson.arrivals(loop, 6, 1_000, 0, SECOND);
    loop.runUntil(SECOND);
    assertThat(loop.handler.meter().value(Reading.SPINS)).isZero();
  }

  @Test
  void nothingIsSpunWhileProcessorsAreBusy() {
    SimulatedLoop loop = new SimulatedLoop(PaceSettings.OFF.withSpin(Duration.ofNanos(50 * MICRO)));
    loop.afterEvent(ended -> loop.arrival(ended + 20 * MICRO));
    loop.arrival(0);
    loop.runUntil(100 * MILLI);
    assertThat(loop.handler.meter().value(Reading.SPINS)).isZero();
  }
}
