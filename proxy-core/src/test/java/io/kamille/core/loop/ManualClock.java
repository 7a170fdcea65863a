package io.kamille.core.loop;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A clock that stands still until it is moved, for tests and for the lab.
 *
 * <p>Any thread.
 */
public final class ManualClock implements WallClock {

  // Volatile: set by the test, read by loops.
  private volatile long startEpochMillis;
  private final AtomicLong elapsedNanos = new AtomicLong();

  private ManualClock(long startEpochMillis) {
    this.startEpochMillis = startEpochMillis;
  }

  /** A clock that shows {@code epochMillis} and whose monotonic count is zero. */
  public static ManualClock at(long epochMillis) {
    return new ManualClock(epochMillis);
  }

  /** A clock that shows {@code epochSeconds} and whose monotonic count is zero. */
  public static ManualClock atSeconds(long epochSeconds) {
    return new ManualClock(Math.multiplyExact(epochSeconds, 1000L));
  }

  /**
   * Moves the time of day and the monotonic count forward together.
   *
   * @throws IllegalArgumentException if {@code step} is negative
   */
  public void advance(Duration step) {
    if (step.isNegative()) {
      throw new IllegalArgumentException("step: " + step + " (expected: zero or more)");
    }
    elapsedNanos.addAndGet(step.toNanos());
  }

  /** Sets the time of day, back or forward, as an operator may; the monotonic count goes on. */
  public void setTimeOfDay(long epochMillis) {
    startEpochMillis = epochMillis - elapsedNanos.get() / 1_000_000L;
  }

  @Override
  public long epochMillis() {
    return startEpochMillis + elapsedNanos.get() / 1_000_000L;
  }

  @Override
  public long nanos() {
    return elapsedNanos.get();
  }
}
