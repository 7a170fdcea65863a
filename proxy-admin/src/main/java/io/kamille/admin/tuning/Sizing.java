package io.kamille.admin.tuning;

import java.util.ArrayList;
import java.util.List;

/** Shares the budget between connections, and says what each may have now. Guarded by the tuner. */
final class Sizing {

  /*
   * A connection that is idle has no part, and keeps its size as long as all such sizes are a
   * quarter of the budget at the most: it may need it at once. An eighth of the budget is for those
   * that begin, unless others have a use for it.
   */
  private static final int IDLE_PART = 4;
  private static final int NEWCOMERS_PART = 8;

  private final Newcomers newcomers;
  private final long ceilingBytes;

  /** Nobody gets more than the ceiling. */
  Sizing(Newcomers newcomers, long ceilingBytes) {
    this.newcomers = newcomers;
    this.ceilingBytes = ceilingBytes;
  }

  /**
   * Tells each what it may have.
   *
   * @param budgetBytes in force
   * @param unseenBytes set aside for connections that are in neither list
   * @return those that may be told something else now
   */
  List<TunedConnection> share(
      List<TunedConnection> active,
      List<TunedConnection> idle,
      TuningSettings settings,
      long budgetBytes,
      long unseenBytes) {
    long budget = Math.max(budgetBytes, Parts.trains(active.size(), settings.budgetBytes()));
    var concerned = new ArrayList<TunedConnection>(active);
    idle.forEach(TunedConnection::idles);
    if (held(idle) > budget / IDLE_PART) {
      idle.forEach(each -> each.told(Math.min(each.told(), SendBufferLaw.LEAST_SIZE_BYTES)));
      concerned.addAll(idle);
    }
    long room = budget - held(idle) - unseenBytes;
    long spare = Math.max(0, budget - Parts.demand(active, settings));
    long shared = Math.max(0, room - Math.min(spare, budget / NEWCOMERS_PART));
    Parts.share(active, settings, shared, ceilingBytes);
    tell(active, shared);
    newcomers.leave(active.size(), room - held(active));
    return concerned;
  }

  private static void tell(List<TunedConnection> active, long room) {
    long[] next =
        Sizes.next(
            active.stream().mapToLong(TunedConnection::told).toArray(),
            active.stream().mapToLong(TunedConnection::sizeHeld).toArray(),
            active.stream().mapToLong(TunedConnection::partBytes).toArray(),
            room,
            SendBufferLaw.LEAST_SIZE_BYTES);
    for (int i = 0; i < next.length; i++) {
      active.get(i).told(next[i]);
    }
  }

  private static long held(List<TunedConnection> connections) {
    return connections.stream().mapToLong(TunedConnection::sizeHeld).sum();
  }
}
