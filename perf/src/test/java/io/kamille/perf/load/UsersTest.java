package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kamille.perf.load.UserResult.Count;
import org.junit.jupiter.api.Test;

/** Two users with a limit of 10 s; everything counts. */
class UsersTest {

  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1000 * MILLI;

  private final UserTally tally = new UserTally(0, 1000 * SECOND);
  private final Users users = users(false);

  private Users users(boolean areRude) {
    return new Users(2, areRude, 10 * SECOND, tally);
  }

  private UserResult result() {
    return tally.result(0);
  }

  @Test
  void whatComesDueBehindARequestWaitsForItsAnswer() {
    assertThat(users.want(0, 0)).isTrue();
    assertThat(users.want(0, MILLI)).isFalse();
    assertThat(users.want(1, MILLI)).isTrue();
    assertThat(users.busy()).isEqualTo(2);
    assertThat(users.answered(0, 2 * MILLI, false)).isTrue();
    assertThat(users.intendedNanos(0)).isEqualTo(MILLI);
    assertThat(users.answered(0, 3 * MILLI, false)).isFalse();
    assertThat(users.isBusy(0)).isFalse();
    assertThat(result().of(Count.GOOD)).isEqualTo(2);
  }

  @Test
  void aStallIsChargedForAllThatCameMeanwhile() {
    for (int i = 0; i < 100; i++) {
      users.want(0, i * MILLI);
    }
    for (int i = 0; i < 100; i++) {
      users.answered(0, SECOND, false);
    }
    UserResult result = result();
    assertThat(result.latency().getTotalCount()).isEqualTo(100);
    assertThat(result.latencyMicros(100)).isCloseTo(1_000_000, within(1000.0));
    assertThat(result.latencyMicros(1)).isCloseTo(901_000, within(1000.0));
  }

  @Test
  void aUserWhoIsToldToWaitSendsNothingAndIsCounted() {
    users.want(0, 0);
    users.want(0, MILLI);
    assertThat(users.shed(0, 10 * MILLI, 1)).isFalse();
    assertThat(users.want(0, SECOND)).isFalse();
    assertThat(users.busy()).isZero();
    assertThat(users.want(1, SECOND)).isTrue();
    assertThat(users.want(0, SECOND + 10 * MILLI)).isTrue();
    assertThat(result().of(Count.OFFERED)).isEqualTo(5);
    assertThat(result().of(Count.SHED)).isEqualTo(1);
    assertThat(result().of(Count.TURNED_AWAY)).isEqualTo(2);
  }

  @Test
  void aUserWhoIsShedWithoutATimeAsksAgain() {
    users.want(0, 0);
    users.want(0, MILLI);
    assertThat(users.shed(0, 10 * MILLI, 0)).isTrue();
    assertThat(result().of(Count.TURNED_AWAY)).isZero();
  }

  @Test
  void aRudeUserDoesNotWait() {
    Users rude = users(true);
    rude.want(0, 0);
    rude.want(0, MILLI);
    assertThat(rude.shed(0, 10 * MILLI, 2)).isTrue();
    assertThat(rude.shed(0, 10 * MILLI, 2)).isFalse();
    assertThat(rude.want(0, 20 * MILLI)).isTrue();
    assertThat(result().of(Count.TURNED_AWAY)).isZero();
  }

  @Test
  void whatIsNotAnsweredWithinTheLimitIsLost() {
    users.want(0, 0);
    users.want(0, SECOND);
    users.want(0, 9 * SECOND);
    long now = 11 * SECOND + 1;
    users.giveUpWaiting(0, now);
    assertThat(users.isOverdue(0, 10 * SECOND)).isFalse();
    assertThat(users.isOverdue(0, now)).isTrue();
    assertThat(users.timedOut(0)).isTrue();
    assertThat(users.intendedNanos(0)).isEqualTo(9 * SECOND);
    assertThat(users.isOverdue(0, now)).isFalse();
    assertThat(result().of(Count.TIMED_OUT)).isEqualTo(2);
  }

  @Test
  void onlyWhatCameDueWithinTheWindowCountsAndGoodputIsWhatWasAnsweredInIt() {
    var windowed = new UserTally(SECOND, 2 * SECOND);
    var counted = new Users(1, false, 10 * SECOND, windowed);
    counted.want(0, 0);
    counted.want(0, SECOND);
    counted.want(0, SECOND + MILLI);
    counted.answered(0, SECOND, true);
    counted.answered(0, 2 * SECOND - 1, false);
    counted.answered(0, 3 * SECOND, false);
    UserResult result = windowed.result(0);
    assertThat(result.of(Count.OFFERED)).isEqualTo(2);
    assertThat(result.of(Count.GOOD)).isEqualTo(2);
    assertThat(result.of(Count.GOOD_FORWARDED)).isEqualTo(1);
    assertThat(result.latency().getTotalCount()).isEqualTo(2);
    assertThat(result.goodput()).isEqualTo(2);
  }
}
