package io.kamille.core.loop;

import java.time.Duration;

/**
 * Who chooses the interval between two polls of a loop.
 *
 * @param interval when it is fixed, else zero
 */
public record Pacing(Mode mode, Duration interval) {

  /** Who chooses the interval. */
  public enum Mode {
    /** There is none: the loop polls whenever it has nothing else to do. */
    OFF,
    /** The operator. */
    FIXED,
    /** The loop, by its load. */
    ADAPTIVE
  }

  public static final Pacing OFF = new Pacing(Mode.OFF, Duration.ZERO);
  public static final Pacing ADAPTIVE = new Pacing(Mode.ADAPTIVE, Duration.ZERO);

  public Pacing {
    if (mode == Mode.FIXED && !interval.isPositive()) {
      throw new IllegalArgumentException("interval: " + interval + " (expected: positive)");
    }
  }

  /** An interval that the operator has chosen. */
  public static Pacing fixed(Duration interval) {
    return new Pacing(Mode.FIXED, interval);
  }
}
