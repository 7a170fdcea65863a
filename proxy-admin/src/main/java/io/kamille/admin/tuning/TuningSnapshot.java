package io.kamille.admin.tuning;

import java.util.Map;

/**
 * How the send buffers are shared, in the words of the API.
 *
 * @param model how throughput follows from loss: there is one way
 * @param budgetBytes of the settings
 * @param headroom by what factor a buffer is larger than throughput × round-trip time
 * @param budgetInForceBytes as much, or less under pressure
 * @param memoryPressure 1 is where the kernel, or the process, begins to refuse memory
 * @param allocatedBytes the sum of the parts
 * @param heldBytes what takes memory
 * @param fairness Jain's index of what connections carry in parts of what their paths could
 * @param connections by what their estimate follows from, and {@code idle}
 * @param fixedUntilTheyClose connections whose size is fixed though the kernel should tune it: it
 *     cannot be given back before
 */
public record TuningSnapshot(
    TuningPolicy policy,
    String model,
    long budgetBytes,
    double headroom,
    long periodMillis,
    long budgetInForceBytes,
    double memoryPressure,
    long allocatedBytes,
    long heldBytes,
    double fairness,
    Map<String, Integer> connections,
    int fixedUntilTheyClose) {

  public TuningSnapshot {
    connections = Map.copyOf(connections);
  }
}
