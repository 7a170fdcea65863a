package io.kamille.core.origin.pool;

import io.kamille.core.exchange.Failure;

/** Someone who waits for a connection of a pool. Confined to its loop. */
public interface Waiter<C extends PooledConnection<C>> {

  /** Whether its content is still to come. Always the same answer. */
  default boolean isUpload() {
    return false;
  }

  /**
   * Here it is. To be given back to the pool, or to be forgotten by it; for an upload, the pool has
   * to be told once that it has come to its end.
   */
  void lend(C connection);

  /** There will be none. */
  void refuse(Failure why);
}
