package io.kamille.admin.tuning;

import io.kamille.admin.tuning.MaxMinAllocator.Surplus;
import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.LongStream;

/** What part of the budget each connection gets, by the policy. Pure. */
final class Parts {

  private Parts() {}

  /**
   * Sets the part of each connection: 0 where the kernel decides.
   *
   * @param budgetBytes to share
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
        budget,
        SendBufferLaw.LEAST_SIZE_BYTES,
        Math.max(ceiling, SendBufferLaw.TRAIN_BYTES),
        surplus);
  }

  /** Below which no lack of memory takes the budget: a segment train for each connection. */
  static long trains(int connections, long configuredBytes) {
    return Math.min(configuredBytes, (long) connections * SendBufferLaw.TRAIN_BYTES);
  }

  /** What they can use all together; with equal parts that is anything. */
  static long demand(List<TunedConnection> connections, TuningSettings settings) {
    long[] demands =
        switch (settings.policy()) {
          case WINDOW -> windows(connections, settings.headroom());
          case EQUATION -> demands(connections);
          case OFF, KERNEL, EQUAL -> new long[connections.size()];
        };
    return LongStream.of(demands).map(each -> Math.max(each, SendBufferLaw.LEAST_SIZE_BYTES)).sum();
  }

  private static long[] windows(List<TunedConnection> connections, double headroom) {
    return connections.stream().mapToLong(each -> (long) (each.windowBytes() * headroom)).toArray();
  }

  private static long[] demands(List<TunedConnection> connections) {
    return connections.stream().mapToLong(each -> each.estimate().demandBytes()).toArray();
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
