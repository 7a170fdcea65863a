package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import org.junit.jupiter.api.Test;

class LoadRecorderTest {

  private static final long MILLI = 1_000_000;

  private final LoadRecorder recorder = new LoadRecorder(300 * MILLI, 100 * MILLI);

  @Test
  void latencyRunsFromTheIntendedTimeAndLatenessToWhenItWasNoticed() {
    recorder.due(10 * MILLI, 11 * MILLI);
    recorder.right(10 * MILLI, 15 * MILLI);
    LoadResult result = recorder.result(300 * MILLI, 0);
    assertThat(result.latencyMicros(50)).isBetween(4990.0, 5010.0);
    assertThat(result.latenessMicros(50)).isBetween(999.0, 1001.0);
  }

  @Test
  void aRequestCountsInTheWindowInWhichItShouldHaveBeenSent() {
    recorder.right(99 * MILLI, 250 * MILLI);
    recorder.right(100 * MILLI, 101 * MILLI);
    recorder.right(299 * MILLI, 900 * MILLI);
    assertThat(recorder.result(900 * MILLI, 0).windows())
        .extracting(window -> window.latency().getTotalCount())
        .containsExactly(1L, 1L, 1L);
  }

  @Test
  void failuresAreCountedByKind() {
    recorder.failed(LoadFailure.RESET);
    recorder.failed(LoadFailure.TIME_OUT);
    recorder.failed(LoadFailure.RESET);
    LoadResult result = recorder.result(MILLI, 0);
    assertThat(result.failures())
        .containsOnly(entry(LoadFailure.RESET, 2L), entry(LoadFailure.TIME_OUT, 1L));
    assertThat(result.failed()).isEqualTo(3);
    assertThat(result.completed()).isZero();
  }

  @Test
  void theRateIsThatOfRightResponses() {
    recorder.due(0, 0);
    recorder.due(0, 0);
    recorder.right(0, 1);
    recorder.failed(LoadFailure.WRONG_STATUS);
    assertThat(recorder.result(500 * MILLI, 0).ratePerSecond()).isEqualTo(2);
  }

  @Test
  void aClientWithoutIdleTimeOrBehindItsTimesIsSaturated() {
    assertThat(recorder.result(100 * MILLI, 6 * MILLI).isSaturated()).isFalse();
    assertThat(recorder.result(100 * MILLI, 4 * MILLI).isSaturated()).isTrue();
    recorder.due(0, 2 * MILLI);
    assertThat(recorder.result(100 * MILLI, 100 * MILLI).isSaturated()).isTrue();
  }
}
