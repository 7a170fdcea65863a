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
 * @param leastSaving the share of processor time that adaptive pauses must be shown to save, 0–1;
 *     zero if they need no proof
 */
public record PaceSettings(
    Mode mode,
    long intervalNanos,
    long latencyBudgetNanos,
    long spinLimitNanos,
    double leastSaving) {

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
  private static final double DEFAULT_SAVING = 0.1;

  /** No pacing, no busy wait. */
  public static final PaceSettings OFF =
      new PaceSettings(Mode.OFF, 0, DEFAULT_BUDGET_NANOS, 0, DEFAULT_SAVING);

  /** The loop chooses, within half a millisecond, and pauses if that saves a tenth. */
  public static final PaceSettings ADAPTIVE =
      new PaceSettings(Mode.ADAPTIVE, 0, DEFAULT_BUDGET_NANOS, 0, DEFAULT_SAVING);

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
    if (!(leastSaving >= 0 && leastSaving <= 1)) {
      throw new IllegalArgumentException("leastSaving: " + leastSaving + " (expected: 0 to 1)");
    }
  }

  /** A fixed interval, no busy wait. */
  public static PaceSettings fixed(long intervalNanos) {
    return new PaceSettings(Mode.FIXED, intervalNanos, DEFAULT_BUDGET_NANOS, 0, DEFAULT_SAVING);
  }

  /** The same with another limit of the busy wait. */
  public PaceSettings withSpinLimit(long nanos) {
    return new PaceSettings(mode, intervalNanos, latencyBudgetNanos, nanos, leastSaving);
  }

  /** The same with another latency budget. */
  public PaceSettings withLatencyBudget(long nanos) {
    return new PaceSettings(mode, intervalNanos, nanos, spinLimitNanos, leastSaving);
  }

  /** The same with another least saving. */
  public PaceSettings withLeastSaving(double share) {
    return new PaceSettings(mode, intervalNanos, latencyBudgetNanos, spinLimitNanos, share);
  }

  /** The same, but the interval is chosen so. */
  public PaceSettings with(Pacing pacing) {
    return new PaceSettings(
        pacing.mode(),
        pacing.interval().toNanos(),
        latencyBudgetNanos,
        spinLimitNanos,
        leastSaving);
  }

  /** Who chooses the interval. */
  public Pacing pacing() {
    return new Pacing(mode, Duration.ofNanos(intervalNanos));
  }
}
