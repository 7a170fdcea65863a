package io.kamille.core.origin.pool;

import org.jspecify.annotations.Nullable;

/**
 * The idle connections of a pool, newest first: the one used last is lent next, its memory is warm
 * and its origin has had the least time to close it; the surplus ages at the other end and is
 * closed from there. Confined to its loop.
 *
 * <p>A connection is itself the link: taking and giving back allocate nothing.
 */
final class IdleList<C extends PooledConnection<C>> {

  private @Nullable C newest;
  private @Nullable C oldest;
  private int size;

  int size() {
    return size;
  }

  /** The one that is idle longest. */
  @Nullable C oldest() {
    return oldest;
  }

  /** Takes the one out that was used last. */
  @Nullable C takeNewest() {
    C connection = newest;
    if (connection != null) {
      remove(connection);
    }
    return connection;
  }

  /** A connection is idle from now on. */
  void add(C connection, long nowNanos) {
    connection.isIdle = true;
    connection.idleSinceNanos = nowNanos;
    connection.older = newest;
    if (newest == null) {
      oldest = connection;
    } else {
      newest.newer = connection;
    }
    newest = connection;
    size++;
  }

  /** Takes {@code connection} out, which is idle. */
  void remove(C connection) {
    C older = connection.older;
    C newer = connection.newer;
    if (older == null) {
      oldest = newer;
    } else {
      older.newer = newer;
    }
    if (newer == null) {
      newest = older;
    } else {
      newer.older = older;
    }
    connection.older = null;
    connection.newer = null;
    connection.isIdle = false;
    size--;
  }
}
