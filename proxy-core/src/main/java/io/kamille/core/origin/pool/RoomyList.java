package io.kamille.core.origin.pool;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The connections of a pool that carry requests and can carry more. Confined to its loop. */
final class RoomyList<C extends PooledConnection<C>> {

  private final List<C> roomy = new ArrayList<>();

  /** Whether a connection has a place that may be lent. */
  static boolean hasPlace(PooledConnection<?> connection) {
    return !connection.isGone
        && connection.lent < connection.places()
        && (connection.lent == 0 || connection.isCurrent());
  }

  /** The places of a connection have changed, or how many are lent. */
  void sort(C connection) {
    boolean isRoomy = connection.lent > 0 && hasPlace(connection);
    if (isRoomy != connection.isRoomy) {
      connection.isRoomy = isRoomy;
      if (isRoomy) {
        roomy.add(connection);
      } else {
        roomy.remove(connection);
      }
    }
  }

  /** The one that was full, or carried nothing, before the others. */
  @Nullable C newest() {
    while (!roomy.isEmpty()) {
      C newest = roomy.getLast();
      if (newest.isCurrent()) {
        return newest;
      }
      newest.isRoomy = false;
      roomy.removeLast();
    }
    return null;
  }
}
