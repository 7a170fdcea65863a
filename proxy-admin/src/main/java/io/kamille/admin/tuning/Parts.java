package io.kamille.admin.tuning;

import io.kamille.admin.tuning.MaxMinAllocator.Surplus;
import java.util.List;

/** What part of the budget each connection gets, by the policy. Pure. */
final class Parts {

  private Parts() {}

  /**
   * Sets the part of each connection: 0 where the kernel decides.
   *
   * @param budgetBytes to share; at least one segment train for each connection is
   * @param ceilingBytes the most one may get
   */
  static void share(
      List<TunedConnection> connections,
      TuningSettings settings,
      long budgetBytes,
      long ceilingBytes) {
    long[] parts =
        switch (settings.policy()) {
          case OFF, KERNEL -> new long[connections.size()];
          case EQUAL ->
              allocate(new long[connections.size()], budgetBytes, ceilingBytes, Surplus.EQUAL);
          case WINDOW ->
              allocate(
                  windows(connections, settings.headroom()),
                  budgetBytes,
                  ceilingBytes,
                  Surplus.EQUAL);
          case EQUATION ->
              allocate(demands(connections), budgetBytes, ceilingBytes, Surplus.IN_PROPORTION);
        };
    for (int i = 0; i < parts.length; i++) {
      connections.get(i).partBytes(parts[i]);
    }
  }

  private static long[] allocate(long[] demands, long budget, long ceiling, Surplus surplus) {
    return MaxMinAllocator.allocate(
        demands,
        Math.max(budget, (long) demands.length * SendBufferLaw.TRAIN_BYTES),
        SendBufferLaw.LEAST_SIZE_BYTES,
        Math.max(ceiling, SendBufferLaw.TRAIN_BYTES),
        surplus);
  }

  private static long[] windows(List<TunedConnection> connections, double headroom) {
    return connections.stream().mapToLong(each -> (long) (each.windowBytes() * headroom)).toArray();
  }

  private static long[] demands(List<TunedConnection> connections) {
    return connections.stream().mapToLong(each -> each.estimate().demandBytes()).toArray();
  }

  /** Jain's index of how far demands are met; 1 if nobody wants anything. */
  static double fairness(List<TunedConnection> connections) {
    double sum = 0;
    double squares = 0;
    int n = 0;
    for (TunedConnection each : connections) {
      double wanted = Math.max(each.estimate().demandBytes(), SendBufferLaw.TRAIN_BYTES);
      double met = each.partBytes() == 0 ? 1 : Math.min(1, each.partBytes() / wanted);
      sum += met;
      squares += met * met;
      n++;
    }
    return squares == 0 ? 1 : sum * sum / (n * squares);
  }
}
