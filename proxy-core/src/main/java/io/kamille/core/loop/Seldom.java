package io.kamille.core.loop;

import java.util.concurrent.atomic.AtomicLong;

/** Whether what could be done very often, such as to log a line, is due again. Any thread. */
public final class Seldom {

  private static final long NEVER = Long.MIN_VALUE;

  private final long everyNanos;
  private final AtomicLong lastNanos = new AtomicLong(NEVER);

  /** Due at once, and then each time after so long. */
  public Seldom(long everyNanos) {
    this.everyNanos = everyNanos;
  }

  /** Whether it is due, by the monotonic clock: of many who ask, one does it. */
  public boolean isDue(long nowNanos) {
    long last = lastNanos.get();
    return (last == NEVER || nowNanos - last >= everyNanos)
        && lastNanos.compareAndSet(last, nowNanos);
  }
}
