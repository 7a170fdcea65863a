package io.kamille.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** How long a loop waits busily (Nakagame, Ishikawa 2005). */
class SpinBudgetTest {

  private static final long LIMIT = 80_000;

  private final SpinBudget budget = new SpinBudget();

  SpinBudgetTest() {
    budget.limit(LIMIT);
  }

  private void waits(int times, long nanos) {
    for (int i = 0; i < times; i++) {
      budget.waited(nanos);
    }
  }

  @Test
  void theBudgetBeginsAtZero() {
    assertThat(budget.nanos()).isZero();
  }

  @Test
  void whileWaitsAreShortItGrowsToTheLimit() {
    waits(200, LIMIT / 2);
    assertThat(budget.nanos()).isEqualTo(LIMIT);
  }

  @Test
  void whileWaitsAreLongItShrinksToZero() {
    waits(200, LIMIT / 2);
    waits(200, LIMIT + 1);
    assertThat(budget.nanos()).isZero();
  }

  @Test
  void longWaitsNeverMakeItGrow() {
    waits(1_000, LIMIT + 1);
    assertThat(budget.nanos()).isZero();
  }

  @Test
  void aLowerLimitHoldsAtOnce() {
    waits(200, LIMIT / 2);
    budget.limit(LIMIT / 4);
    assertThat(budget.nanos()).isEqualTo(LIMIT / 4);
    budget.limit(0);
    waits(200, 1);
    assertThat(budget.nanos()).isZero();
  }
}
