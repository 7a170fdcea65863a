package io.kamille.core.origin.pool;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A connection that a {@link ConnectionPool} can lend. Confined to its loop. */
public abstract class PooledConnection<C extends PooledConnection<C>> {

  // The pool's own: how often it is lent, when it was last used, its place among all, and the list
  // of those that can be lent next.
  boolean isGone;
  int lent;
  int place;
  long lastUsedNanos;
  @Nullable List<C> list;

  /** How many requests it can carry at a time; 0 if it is to carry no more. */
  protected int places() {
    return 1;
  }

  /**
   * Comes by every tick of the pool while the connection is lent: the time to look at deadlines.
   */
  protected abstract void tick(long nowNanos);

  /**
   * A tick of it has thrown this, which is a fault of ours: the connection ends, and whoever uses
   * it is told.
   */
  protected abstract void caught(Throwable fault);

  /** Whether its socket is open: the end of an idle one is known a moment before it is told. */
  protected abstract boolean isOpen();

  /** Whether its address still counts as the origin's. */
  protected abstract boolean isCurrent();

  /** Closes the connection, which is idle and no longer wanted. */
  protected abstract void close();
}
