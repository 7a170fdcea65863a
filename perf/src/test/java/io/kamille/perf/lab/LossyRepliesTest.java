package io.kamille.perf.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kamille.perf.load.AnswerSource;
import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.LoadFailure;
import io.kamille.perf.load.LoadOutcome;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.load.RateSchedule;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LossyRepliesTest {

  private static final LoadRequest REQUEST = LoadRequest.get("a", "/", new byte[0]);

  private long nowNanos = 1_000_000_000_000L;
  private final LossyReplies replies = new LossyReplies(Duration.ofSeconds(2), 2, () -> nowNanos);

  private void ended(long intendedMillis, long nowMillis, @Nullable LoadFailure failure) {
    long intended = TimeUnit.MILLISECONDS.toNanos(intendedMillis);
    nowNanos = 1_000_000_000_000L + TimeUnit.MILLISECONDS.toNanos(nowMillis);
    replies.ended(
        new LoadOutcome(REQUEST, intended, intended, intended, AnswerSource.MEMORY, failure));
  }

  @Test
  void repliesCountInTheSecondInWhichTheyAreComplete() {
    ended(100, 1999, null);
    ended(1500, 2000, null);
    ended(2500, 2999, null);
    ended(2600, 3000, null);
    ended(2600, 3100, null);
    ended(2700, 3200, null);
    ended(2700, 3999, null);
    ended(3900, 4000, null);
    assertThat(replies.ratePerSecond()).isEqualTo(3);
    assertThat(replies.rateDeviation()).isEqualTo(1);
  }

  @Test
  void whatIsDueIsCountedInThePartThatCounts() {
    var arrivals = Arrivals.even(RateSchedule.steady(10, Duration.ofSeconds(9)));
    assertThat(replies.duePerSecond(arrivals)).isEqualTo(10);
  }

  @Test
  void replyTimeIsThatOfRequestsThatWereDueInThePartThatCounts() {
    ended(1999, 5000, null);
    ended(2000, 2010, null);
    ended(3999, 4029, null);
    assertThat(replies.meanMillis()).isCloseTo(20, within(0.1));
    assertThat(replies.millis(99)).isCloseTo(30, within(0.1));
  }

  @Test
  void whatFailsIsNoReplyHoweverLateItEnds() {
    ended(1000, 2500, LoadFailure.RESET);
    ended(3000, 9000, LoadFailure.TIME_OUT);
    assertThat(replies.ratePerSecond()).isZero();
    assertThat(replies.failed()).isEqualTo(1);
    assertThat(replies.shed()).isZero();
  }

  @Test
  void whatIsShedHasNotFailed() {
    ended(3000, 3010, LoadFailure.WRONG_STATUS);
    assertThat(replies.shed()).isEqualTo(1);
    assertThat(replies.failed()).isZero();
    assertThat(replies.ratePerSecond()).isZero();
  }
}
