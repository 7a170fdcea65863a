package io.kamille.admin.tuning;

import java.util.Map;

/**
 * How the send buffers are shared.
 *
 * @param budgetBytes of the settings, or less under pressure
 * @param pressure of memory: 1 is where the kernel, or the process, begins to refuse
 * @param allocatedBytes the sum of the parts
 * @param heldBytes what takes memory
 * @param fairness Jain's index of what connections carry in parts of what their paths could
 * @param connections by what their estimate follows from, and {@code idle}
 * @param fixed connections whose size is fixed though the kernel should tune it: it cannot be given
 *     back before they close
 */
public record TuningSnapshot(
    TuningSettings settings,
    long budgetBytes,
    double pressure,
    long allocatedBytes,
    long heldBytes,
    double fairness,
    Map<String, Integer> connections,
    int fixed) {

  public TuningSnapshot {
    connections = Map.copyOf(connections);
  }
}
