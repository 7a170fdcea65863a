package io.kamille.perf.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kamille.perf.lab.PeakSeries.Sort;
import io.kamille.perf.lab.PeakServer.Mode;
import io.kamille.perf.lab.PeakShape.Stretch;
import io.kamille.perf.load.AnswerSource;
import io.kamille.perf.load.LoadFailure;
import io.kamille.perf.load.LoadOutcome;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.report.Finding;
import io.kamille.perf.report.Samples;
import java.util.List;
import org.junit.jupiter.api.Test;

class PeakSeriesTest {

  private static final PeakShape SHAPE = new PeakShape(160, 640, 2, 0);
  private static final PeakShape BEHIND = new PeakShape(40, 160, 2, 0);

  private static final LoadRequest OLD = LoadRequest.get("a", "/old", new byte[0]);
  private static final LoadRequest NEW = LoadRequest.get("a", "/new", new byte[0]);

  private final PeakSeries series = new PeakSeries(SHAPE.seconds(), OLD::equals);

  private void answer(int second, LoadRequest request, AnswerSource source, int millis) {
    long begun = second * 1_000_000_000L;
    long first = begun + millis * 1_000_000L;
    series.ended(new LoadOutcome(request, begun, begun, first, source, null));
  }

  private void fail(int second) {
    long begun = second * 1_000_000_000L;
    series.ended(new LoadOutcome(OLD, begun, begun, 0, AnswerSource.ORIGIN, LoadFailure.CLOSED));
  }

  private void everySecond(int... hitMillis) {
    for (int second = 0; second < hitMillis.length; second++) {
      answer(second, OLD, AnswerSource.MEMORY, hitMillis[second]);
    }
  }

  /** What comes of the goals of a mode. */
  private List<String> goals(Mode mode, PeakShape shape, boolean isSwitched) {
    var all = new Samples("load", "mode");
    String load = Integer.toString((int) shape.peakRate());
    all.add(
        MemoryAtPeak.sample(load, mode, 1, shape, series).with(MemoryAtPeak.SWITCHED, isSwitched));
    return MemoryAtPeak.goals(load)
        .map(goal -> goal.verdict(all))
        .filter(verdict -> !verdict.startsWith("unknown"))
        .toList();
  }

  private List<String> goals(Mode mode) {
    return goals(mode, SHAPE, true);
  }

  @Test
  void aRepeatThatTheOriginAnswersIsNoHitAndARepeatAllTheSame() {
    answer(0, OLD, AnswerSource.DISK, 10);
    answer(0, OLD, AnswerSource.ORIGIN, 300);
    answer(0, NEW, AnswerSource.ORIGIN, 400);
    var first = new Stretch(0, 1);
    assertThat(series.hitRatio(first)).isCloseTo(1 / 3.0, within(1e-9));
    assertThat(series.memoryShare(first)).isZero();
    assertThat(series.millis(new Stretch(0, 1), Sort.HITS, 100)).isCloseTo(10, within(0.2));
    assertThat(series.millis(new Stretch(0, 1), Sort.REPEATS, 100)).isCloseTo(300, within(5.0));
    assertThat(series.millis(new Stretch(0, 1), Sort.ALL, 100)).isCloseTo(400, within(5.0));
  }

  @Test
  void aFailureHasNoTime() {
    series.ended(new LoadOutcome(OLD, 0, 0, 0, AnswerSource.ORIGIN, LoadFailure.CLOSED));
    assertThat(series.failures()).isOne();
    assertThat(series.millis(new Stretch(0, 1), Sort.ALL, 50)).isNaN();
  }

  @Test
  void secondsInARowAboveALimitAreCounted() {
    everySecond(1, 1, 9, 9, 1, 9);
    assertThat(series.longestAbove(new Stretch(0, 6), 2)).isEqualTo(2);
  }

  @Test
  void aSecondInWhichEveryRequestFailedIsAboveAnyLimit() {
    everySecond(1, 1, 9);
    for (int second = 3; second < 5; second++) {
      fail(second);
    }
    answer(5, OLD, AnswerSource.MEMORY, 1);
    fail(5);
    assertThat(series.longestAbove(new Stretch(0, 6), 2)).isEqualTo(3);
    assertThat(series.longestAbove(new Stretch(5, 6), 2)).isZero();
  }

  @Test
  void hitsThatStayFlatWhileRepeatsWaitForTheOriginMissTheGoals() {
    everySecond(10, 10, 10, 10, 10, 10);
    for (int second = 2; second < 6; second++) {
      answer(second, OLD, AnswerSource.ORIGIN, 90);
      answer(second, OLD, AnswerSource.ORIGIN, 90);
    }
    List<String> goals = goals(Mode.AUTO);
    assertThat(goals.getFirst()).startsWith("missed");
    assertThat(goals.getLast()).contains("on the way out").startsWith("missed");
  }

  @Test
  void aMedianThatStaysFlatReachesTheGoals() {
    everySecond(10, 10, 10, 10, 10, 10);
    assertThat(goals(Mode.AUTO)).hasSize(3).allMatch(goal -> goal.startsWith("met "));
  }

  @Test
  void aMedianThatRisesMissesThem() {
    everySecond(10, 10, 90, 90, 90, 90);
    List<String> goals = goals(Mode.AUTO);
    assertThat(goals.getFirst()).startsWith("missed");
    assertThat(goals.getLast()).contains("on the way out").startsWith("missed");
  }

  @Test
  void peakModeThatBeginsOffThePeakIsNoSwitch() {
    Stretch noticed = SHAPE.noticed();
    assertThat(new TierLog.Change(0, "peak", "").isPeakWithin(noticed)).isFalse();
    assertThat(new TierLog.Change(3, "peak", "").isPeakWithin(noticed)).isTrue();
    assertThat(new TierLog.Change(3, "normal", "").isPeakWithin(noticed)).isFalse();
    assertThat(new TierLog.Change(5.5, "peak", "").isPeakWithin(noticed)).isFalse();
  }

  @Test
  void aGoalWhoseCauseWasNotThereIsUntested() {
    everySecond(10, 10, 10, 10, 10, 10);
    assertThat(goals(Mode.AUTO, SHAPE, false)).allMatch(goal -> goal.startsWith("untested "));
    assertThat(goals(Mode.DISK, BEHIND, false)).allMatch(goal -> goal.startsWith("untested "));
  }

  @Test
  void whatWasNotMeasuredHoldsNoClaim() {
    assertThat(MemoryAtPeak.findings(new Samples("load", "mode")))
        .extracting(Finding::today)
        .containsOnly(Finding.Today.NOT_TESTED);
  }

  @Test
  void aDiskThatIsBehindIsSlowerThanOffThePeak() {
    everySecond(10, 10, 900, 900, 900, 900);
    assertThat(goals(Mode.DISK, BEHIND, false)).hasSize(1).allMatch(g -> g.startsWith("met "));
  }

  @Test
  void aSecondAboveTheLimitOnTheWayIsAllowed() {
    everySecond(10, 10, 90, 10, 10, 10);
    assertThat(goals(Mode.AUTO).get(1)).contains("on the way in").startsWith("met ");
  }
}
