package io.kamille.launcher.doctor;

/**
 * What a load needs.
 *
 * @param micros of a loop, for a request on average
 * @param loops by that cost, by half of it and by twice as much
 * @param memoryBytes of the store; 0 if nobody said how much is to be stored
 * @param bytesPerResponse of the store, for a response on average
 * @param clientConnections open at once, on average
 * @param originConnections in use at once, on average
 */
public record Need(
    double micros,
    Loops loops,
    long memoryBytes,
    long bytesPerResponse,
    long clientConnections,
    long originConnections) {

  /** How many loops. */
  public record Loops(long least, long middle, long greatest) {}

  /*
   * A request costs a fixed part and a part for each KiB of its response: perf/log, 2026-11-23-hit.
   * The part for each KiB of a miss counts its way in and its way out. Another machine may need
   * half, or twice as much. Beside its content a stored response takes its head and what finds it
   * again: perf/log, 2026-11-22-storage. The arena gives granules of 64 octets.
   */
  private static final double HIT_MICROS = 9;
  private static final double HIT_MICROS_PER_KIB = 0.15;
  private static final double MISS_MICROS = 19;
  private static final double MISS_MICROS_PER_KIB = 0.3;
  private static final int BESIDE_BYTES = 512;
  private static final int GRANULE_BYTES = 64;

  private static final double MICROS = 1e6;
  private static final double NANOS = 1e9;

  /** What that load needs. */
  public static Need of(Demand demand) {
    double kib = demand.objectBytes() / 1024.0;
    double misses = 1 - demand.hitRatio();
    double micros =
        demand.hitRatio() * (HIT_MICROS + kib * HIT_MICROS_PER_KIB)
            + misses * (MISS_MICROS + kib * MISS_MICROS_PER_KIB);
    long each =
        (demand.objectBytes() + BESIDE_BYTES + GRANULE_BYTES - 1) / GRANULE_BYTES * GRANULE_BYTES;
    double clients =
        demand.rate() / demand.requestsPerConnection() * demand.connectionTime().toNanos() / NANOS;
    double origins = demand.rate() * misses * (demand.think().toNanos() / NANOS + micros / MICROS);
    return new Need(
        micros,
        new Loops(loops(demand, micros / 2), loops(demand, micros), loops(demand, micros * 2)),
        Math.multiplyExact(each, demand.storedResponses()),
        each,
        (long) Math.ceil(clients),
        (long) Math.ceil(origins));
  }

  private static long loops(Demand demand, double micros) {
    double busy = demand.rate() * micros / MICROS / demand.utilization();
    return Math.max(1, (long) Math.ceil(busy));
  }
}
