package io.kamille.cache.fill;

import java.util.function.LongSupplier;

/** Until when what is stored may be served without asking the origin about it. Any thread. */
public final class StoreLease {

  private static final LongSupplier FOR_EVER = () -> Long.MAX_VALUE;

  private volatile LongSupplier untilNanos = FOR_EVER;

  /** Goes by this from now on; by {@link System#nanoTime}. */
  public void follow(LongSupplier untilNanos) {
    this.untilNanos = untilNanos;
  }

  /** Whether a purge may have been missed. */
  public boolean hasEnded() {
    LongSupplier until = untilNanos;
    return until != FOR_EVER && until.getAsLong() - System.nanoTime() < 0;
  }
}
