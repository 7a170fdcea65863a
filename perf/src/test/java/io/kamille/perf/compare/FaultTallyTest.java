package io.kamille.perf.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kamille.perf.load.AnswerSource;
import io.kamille.perf.load.LoadFailure;
import io.kamille.perf.load.LoadOutcome;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Sample;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class FaultTallyTest {

  private final LoadRequest failing = LoadRequest.get("a", "/a", new byte[0]);
  private final LoadRequest other = LoadRequest.get("a", "/b", new byte[0]);
  private final FaultTally tally = new FaultTally(failing, other, millis(1000), millis(2000));

  @Test
  void failuresCountByWhenTheyShouldHaveBeenSent() {
    ended(failing, 999, 1, LoadFailure.RESET);
    ended(failing, 1000, 5000, LoadFailure.TIME_OUT);
    ended(failing, 1250, 1, LoadFailure.WRONG_STATUS);
    ended(failing, 1500, 1, null);
    ended(failing, 2000, 1, LoadFailure.CLOSED);
    assertThat(of(FaultTally.ASKED)).isEqualTo(3);
    assertThat(of(FaultTally.FAILED)).isEqualTo(2);
    assertThat(of(FaultTally.LAST_FAILURE)).isEqualTo(0.25);
    assertThat(of(FaultTally.FAILED_AFTER)).isEqualTo(1);
    assertThat(of(FaultTally.OTHER_FAILED)).isZero();
  }

  @Test
  void withoutAFailureTheLastOneIsAtTheBeginning() {
    ended(failing, 1500, 1, null);
    assertThat(of(FaultTally.LAST_FAILURE)).isZero();
  }

  @Test
  void theWorstWaitIsThatOfTheRouteWhileItFails() {
    ended(failing, 500, 900, null);
    ended(failing, 1500, 40, null);
    ended(failing, 1600, 30, LoadFailure.WRONG_STATUS);
    ended(other, 1500, 800, null);
    assertThat(of(FaultTally.WORST_WAIT)).isEqualTo(40);
  }

  @Test
  void theOtherRouteIsMeasuredFromTheIntendedTimeBeforeAndDuring() {
    ended(other, 500, 2, null);
    ended(other, 1500, 8, null);
    ended(other, 2500, 900, null);
    ended(other, 2500, 1, LoadFailure.RESET);
    assertThat(of(FaultTally.OTHER_BEFORE)).isCloseTo(2000, within(10.0));
    assertThat(of(FaultTally.OTHER_DURING)).isCloseTo(8000, within(10.0));
    assertThat(of(FaultTally.OTHER_FAILED)).isEqualTo(1);
  }

  @Test
  void whatIsPostedCountsByItself() {
    ended(LoadRequest.post("a", "/a?1", new byte[0]), 1500, 900, LoadFailure.RESET);
    ended(LoadRequest.post("a", "/a?2", new byte[0]), 1500, 1, null);
    assertThat(of(FaultTally.POSTED)).isEqualTo(2);
    assertThat(of(FaultTally.POST_FAILED)).isEqualTo(1);
    assertThat(of(FaultTally.ASKED)).isZero();
    assertThat(of(FaultTally.WORST_WAIT)).isZero();
  }

  private double of(Figure figure) {
    return tally.fill(Sample.of("", "", 1)).of(figure);
  }

  private void ended(
      LoadRequest request, int sentMillis, int tookMillis, @Nullable LoadFailure failure) {
    tally.ended(
        new LoadOutcome(
            request,
            millis(sentMillis),
            millis(sentMillis + tookMillis / 2),
            millis(sentMillis + tookMillis),
            AnswerSource.ORIGIN,
            failure));
  }

  private static long millis(int millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }
}
