package io.kamille.core.loop;

/**
 * How long a loop polls without sleeping before it sleeps (short-term busy wait). Confined to its
 * loop.
 *
 * <p>{@link PacedIoHandler} spins so long if it is not paced, may block, and processors are idle,
 * which {@link LoopWatch} looks after.
 */
final class SpinBudget {

  /*
   * Nakagame, Ishikawa (2005) wait one jiffy at most; we let the waits say. Every wait is known
   * when it is over, spun or slept, and would have paid if it was no longer than the limit. While
   * three of four do, the budget doubles, from an eighth of the limit up to it; while less than
   * half do, it halves, and below an eighth it is zero. So nothing is spun to find out, and at
   * light load nothing is spun at all.
   */
  private static final double SHARE_TO_GROW = 0.75;
  private static final double SHARE_TO_SHRINK = 0.5;
  private static final double SMOOTHING = 1 / 16.0;
  private static final int STEPS = 8;
  private static final int WAITS_PER_STEP = 8;

  private long limitNanos;
  private long budgetNanos;
  private double paidShare;
  private int waits;

  /** The longest budget; zero for no busy wait. */
  void limit(long nanos) {
    limitNanos = nanos;
    budgetNanos = Math.min(budgetNanos, nanos);
  }

  /** How long to spin now. */
  long nanos() {
    return budgetNanos;
  }

  /** A wait is over that took so long, whether spun or slept. */
  void waited(long nanos) {
    if (limitNanos == 0) {
      return;
    }
    paidShare += ((nanos <= limitNanos ? 1 : 0) - paidShare) * SMOOTHING;
    if (++waits == WAITS_PER_STEP) {
      waits = 0;
      step();
    }
  }

  private void step() {
    long least = Math.max(1, limitNanos / STEPS);
    if (paidShare >= SHARE_TO_GROW) {
      budgetNanos = Math.min(limitNanos, Math.max(least, 2 * budgetNanos));
    } else if (paidShare < SHARE_TO_SHRINK) {
      budgetNanos = budgetNanos / 2 < least ? 0 : budgetNanos / 2;
    }
  }
}
