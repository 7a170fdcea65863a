package io.kamille.core.origin.send;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.origin.send.Retry.Where;
import io.kamille.core.origin.wire.OriginProgress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Whether and where a request is sent once more: each line of the rule. */
class RetryTest {

  private static final Failure BROKE = Failure.of(ErrorType.CONNECTION_TERMINATED, "broke");

  @ParameterizedTest
  @CsvSource({
    // progress, idempotent, free, bound, can pay: where, paid
    "UNKNOWN, true,  false, false, true,  ANOTHER_OR_SAME, true",
    "UNKNOWN, true,  false, true,  true,  ANOTHER_OR_SAME, true",
    "UNKNOWN, true,  false, false, false, NOWHERE,         false",
    "UNKNOWN, true,  true,  false, false, ANOTHER_OR_SAME, false",
    "UNKNOWN, true,  true,  true,  false, SAME,            false",
    "UNKNOWN, false, false, false, true,  NOWHERE,         false",
    "UNKNOWN, false, true,  true,  true,  NOWHERE,         false",
    "RESET,   true,  false, false, true,  ANOTHER_OR_SAME, true",
    "RESET,   false, false, false, true,  NOWHERE,         false",
    "NONE,    false, false, false, true,  ANOTHER_OR_SAME, true",
    "NONE,    false, true,  false, false, ANOTHER_OR_SAME, false",
    "BEGUN,   true,  false, false, true,  NOWHERE,         false"
  })
  void anAttemptThatBrokeIsRepeatedWhereThatCannotDoHarm(
      OriginProgress progress,
      boolean isIdempotent,
      boolean isFree,
      boolean isBound,
      boolean canPay,
      Where where,
      boolean isPaid) {
    assertThat(Retry.afterAttempt(BROKE, progress, isIdempotent, isFree, isBound, canPay))
        .isEqualTo(new Retry(where, isPaid));
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "CONNECTION_TERMINATED")
  void nothingElseIsRepeated(ErrorType kind) {
    Failure why = new Failure(kind, 0, "test");
    assertThat(Retry.afterAttempt(why, OriginProgress.UNKNOWN, true, false, false, true))
        .isEqualTo(Retry.NONE);
  }

  @Test
  void withoutAConnectionAnotherOriginIsAsked() {
    Failure refused = Failure.of(ErrorType.CONNECTION_REFUSED, "refused");
    assertThat(Retry.withoutConnection(refused, true, false, true))
        .isEqualTo(new Retry(Where.ANOTHER, true));
    assertThat(Retry.withoutConnection(refused, true, true, false))
        .as("it was sent already, and its own origin refuses it")
        .isEqualTo(new Retry(Where.ANOTHER, false));
    assertThat(Retry.withoutConnection(refused, true, false, false)).isEqualTo(Retry.NONE);
    assertThat(Retry.withoutConnection(refused, false, true, true)).isEqualTo(Retry.NONE);
  }

  @Test
  void aLimitOfOursIsNoReasonToAskAnotherOrigin() {
    Failure full = Failure.of(ErrorType.CONNECTION_LIMIT_REACHED, "full");
    assertThat(Retry.withoutConnection(full, true, true, true)).isEqualTo(Retry.NONE);
  }

  @Test
  void aUsedConnectionIsFoundClosedSomeTimes() {
    assertThat(Retry.isStale(BROKE, OriginProgress.UNKNOWN, false, false, 0)).isTrue();
    assertThat(Retry.isStale(BROKE, OriginProgress.UNKNOWN, false, false, 2)).isTrue();
    assertThat(Retry.isStale(BROKE, OriginProgress.UNKNOWN, false, false, 3)).isFalse();
    assertThat(Retry.isStale(BROKE, OriginProgress.UNKNOWN, true, false, 0)).isFalse();
    assertThat(Retry.isStale(BROKE, OriginProgress.BEGUN, false, false, 0)).isFalse();
    assertThat(Retry.isStale(BROKE, OriginProgress.RESET, false, true, 0)).isFalse();
  }

  @Test
  void aSharedConnectionIsFoundClosedOnce() {
    assertThat(Retry.isStale(BROKE, OriginProgress.UNKNOWN, false, true, 0)).isTrue();
    assertThat(Retry.isStale(BROKE, OriginProgress.UNKNOWN, false, true, 1)).isFalse();
  }

  @Test
  void whatAnOriginHasNotProcessedIsSentAgainForNothingButNotWithoutEnd() {
    assertThat(Retry.isUntouched(OriginProgress.NONE, 0)).isTrue();
    assertThat(Retry.isUntouched(OriginProgress.NONE, 99)).isTrue();
    assertThat(Retry.isUntouched(OriginProgress.NONE, 100)).isFalse();
    assertThat(Retry.isUntouched(OriginProgress.LEFT, 99)).isTrue();
    assertThat(Retry.isUntouched(OriginProgress.LEFT, 100)).isFalse();
    assertThat(Retry.isUntouched(OriginProgress.UNKNOWN, 0)).isFalse();
    assertThat(Retry.untouchedCost(OriginProgress.NONE)).as("refused: twenty times").isEqualTo(5);
    assertThat(Retry.untouchedCost(OriginProgress.LEFT)).as("left: a hundred times").isOne();
  }
}
