package io.kamille.cache.fill;

import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Until when what is stored may be served without asking the origin about it. Any thread. */
public final class StoreCurrentness {

  private volatile @Nullable LongSupplier untilNanos;

  /** Goes by this from now on, by {@link System#nanoTime}; before, it never ends. */
  public void follow(LongSupplier untilNanos) {
    this.untilNanos = untilNanos;
  }

  /** Whether a purge may have been missed. */
  public boolean hasEnded() {
    LongSupplier until = untilNanos;
    return until != null && until.getAsLong() - System.nanoTime() < 0;
  }
}
