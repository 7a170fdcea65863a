package io.kamille.core.origin.wire;

import io.kamille.core.origin.pool.PooledConnection;

/** A connection to an origin, whatever the version of HTTP. Confined to its loop. */
public abstract class RequestConnection extends PooledConnection<RequestConnection> {

  /**
   * Whether what becomes of the next request tells of the origin. A connection that was used and is
   * idle may be closed by the origin any moment: that says nothing.
   */
  public abstract boolean isFresh();

  /** Whether it carries several requests at a time. */
  public boolean isShared() {
    return false;
  }

  /** What carries the request for which the pool has lent a place; the request follows at once. */
  public abstract OriginExchange exchange();
}
