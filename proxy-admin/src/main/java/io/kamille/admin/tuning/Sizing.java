package io.kamille.admin.tuning;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.LongStream;

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
   * @param configuredBytes the budget of the settings
   * @param budgetBytes in force
   * @param unseenBytes set aside for connections that are in neither list
   * @return those that may be told something else now
   */
  List<TunedConnection> share(
      List<TunedConnection> active,
      List<TunedConnection> idle,
      long configuredBytes,
      long budgetBytes,
      long unseenBytes) {
    // A segment train for each connection: no lack of memory takes that.
    long trains = (long) active.size() * SendBufferLaw.TRAIN_BYTES;
    long budget = Math.max(budgetBytes, Math.min(configuredBytes, trains));
    var concerned = new ArrayList<TunedConnection>(active);
    idle.forEach(TunedConnection::idles);
    if (held(idle) > budget / IDLE_PART) {
      idle.forEach(each -> each.told(Math.min(each.told(), SendBufferLaw.LEAST_SIZE_BYTES)));
      concerned.addAll(idle);
    }
    long room = budget - held(idle) - unseenBytes;
    long[] demands = active.stream().mapToLong(each -> each.estimate().demandBytes()).toArray();
    long ceiling = Math.max(ceilingBytes, SendBufferLaw.TRAIN_BYTES);
    long demanded =
        LongStream.of(demands)
            .map(each -> Math.clamp(each, SendBufferLaw.LEAST_SIZE_BYTES, ceiling))
            .sum();
    long spare = Math.max(0, room - demanded);
    long shared = Math.max(0, room - Math.min(spare, budget / NEWCOMERS_PART));
    long[] parts =
        MaxMinAllocator.allocate(demands, shared, SendBufferLaw.LEAST_SIZE_BYTES, ceiling);
    long equal = Math.max(shared / Math.max(parts.length, 1), SendBufferLaw.LEAST_SIZE_BYTES);
    for (int i = 0; i < parts.length; i++) {
      active.get(i).partBytes(parts[i], shared < demanded ? equal : 0);
    }
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

  /**
   * Jain's index (Jain, Chiu and Hawe, 1984) of what connections carried in parts of what their
   * paths could: 1 if all alike, 1/n if one alone carries anything. Whoever's part is NaN does not
   * count.
   */
  static double fairness(DoubleStream met) {
    double[] known = met.filter(each -> !Double.isNaN(each)).toArray();
    double sum = 0;
    double squares = 0;
    for (double each : known) {
      sum += each;
      squares += each * each;
    }
    return squares == 0 ? 1 : sum * sum / (known.length * squares);
  }
}
