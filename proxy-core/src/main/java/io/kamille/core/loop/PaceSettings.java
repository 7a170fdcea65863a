package io.kamille.core.loop;

import java.time.Duration;

/**
 * How the loops of a group pace themselves.
 *
 * @param mode who chooses the interval between two polls
 * @param intervalNanos the interval when it is fixed; otherwise without meaning
 * @param latencyBudgetNanos the longest wait, at the 99th percentile, that an adaptive interval may
 *     add to a response
 * @param spinLimitNanos the longest busy wait before a loop blocks; zero for none
 */
public record PaceSettings(
    Mode mode, long intervalNanos, long latencyBudgetNanos, long spinLimitNanos) {

  /** Who chooses the interval between two polls. */
  public enum Mode {
    /** There is none: the loop polls whenever it has nothing else to do. */
    OFF,
    /** The operator. */
    FIXED,
    /** The loop, by its load. */
    ADAPTIVE
  }

  private static final long DEFAULT_BUDGET_NANOS = 500_000;

  /** No pacing, no busy wait. */
  public static final PaceSettings OFF = new PaceSettings(Mode.OFF, 0, DEFAULT_BUDGET_NANOS, 0);

  /** The loop chooses, within half a millisecond. */
  public static final PaceSettings ADAPTIVE =
      new PaceSettings(Mode.ADAPTIVE, 0, DEFAULT_BUDGET_NANOS, 0);

  public PaceSettings {
    if (mode == Mode.FIXED && intervalNanos <= 0) {
      throw new IllegalArgumentException("intervalNanos: " + intervalNanos + " (expected: > 0)");
    }
    if (latencyBudgetNanos <= 0) {
      throw new IllegalArgumentException(
          "latencyBudgetNanos: " + latencyBudgetNanos + " (expected: > 0)");
    }
    if (spinLimitNanos < 0) {
      throw new IllegalArgumentException("spinLimitNanos: " + spinLimitNanos + " (expected: >= 0)");
    }
  }

  /** A fixed interval, no busy wait. */
  public static PaceSettings fixed(long intervalNanos) {
    return new PaceSettings(Mode.FIXED, intervalNanos, DEFAULT_BUDGET_NANOS, 0);
  }

  /** The same with another limit of the busy wait. */
  public PaceSettings withSpinLimit(long nanos) {
    return new PaceSettings(mode, intervalNanos, latencyBudgetNanos, nanos);
  }

  /** The same with another latency budget. */
  public PaceSettings withLatencyBudget(long nanos) {
    return new PaceSettings(mode, intervalNanos, nanos, spinLimitNanos);
  }

  /** The same, but the interval is chosen so. */
  public PaceSettings with(Pacing pacing) {
    return new PaceSettings(
        pacing.mode(), pacing.interval().toNanos(), latencyBudgetNanos, spinLimitNanos);
  }

  /** Who chooses the interval. */
  public Pacing pacing() {
    return new Pacing(mode, Duration.ofNanos(intervalNanos));
  }
}
