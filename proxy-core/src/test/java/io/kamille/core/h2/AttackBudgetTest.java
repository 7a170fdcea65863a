package io.kamille.core.h2;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a connection may ask for without giving anything in return. */
class AttackBudgetTest {

  private static final int FIRST = 400;
  private static final int MOST = 1_000;

  private final AttackBudget budget = new AttackBudget(0);

  /** How many control frames are taken at this time before the connection ends. */
  private int left(long nowNanos) {
    int taken = 0;
    while (budget.spend(AttackBudget.CONTROL, nowNanos)) {
      taken++;
    }
    return taken;
  }

  @Test
  void aConnectionBeginsWithSomethingAndItIsUsedUp() {
    assertThat(left(0)).isEqualTo(FIRST);
  }

  @Test
  void timeGivesTwentyPointsASecondUpToTheMost() {
    left(0);
    // One point was spent that was not there.
    assertThat(left(TimeUnit.SECONDS.toNanos(1))).isEqualTo(20 - 1);
    assertThat(left(TimeUnit.DAYS.toNanos(1))).isEqualTo(MOST - 1);
  }

  @Test
  void timeThatIsNoWholePointIsNotLost() {
    left(0);
    long half = TimeUnit.MILLISECONDS.toNanos(25);
    budget.spend(0, half);
    assertThat(budget.spend(0, 2 * half)).as("the debt of one point is paid").isTrue();
  }

  @Test
  void requestsThatEndAndContentThatIsTakenPayForWhatTheyNeed() {
    left(0);
    for (int i = 0; i < 10; i++) {
      budget.finished();
      budget.sentData(256, false);
      budget.sentData(1, true);
    }
    assertThat(left(0)).isEqualTo(10 * (4 + 10 + 4) - 1);
  }

  @Test
  void contentThatGoesOctetByOctetPaysNothing() {
    // CVE-2019-9511: the client opens its window by little; more always waits.
    left(0);
    for (int i = 0; i < MOST; i++) {
      budget.sentData(255, false);
      budget.sentData(0, true);
    }
    assertThat(left(0)).isZero();
  }
}
