package io.kamille.core.client;

import java.util.function.LongSupplier;

/**
 * The time at which a loop last looked at the clock, once for a burst of reads: good enough for
 * deadlines and start times. Monotonic nanoseconds. Confined to its loop.
 */
public final class LoopTime {

  private final LongSupplier clock;
  private long nowNanos;

  /** The time of {@code clock}, which gives monotonic nanoseconds. */
  public LoopTime(LongSupplier clock) {
    this.clock = clock;
  }

  /** Looks at the clock. */
  public void update() {
    nowNanos = clock.getAsLong();
  }

  /** The time of the last look. */
  public long nowNanos() {
    return nowNanos;
  }

  /** The time this moment. The last look stays as it is. */
  public long exactNanos() {
    return clock.getAsLong();
  }
}
