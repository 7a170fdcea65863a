package io.kamille.launcher.doctor;

import java.time.Duration;

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

  /**
   * The load that is to be served.
   *
   * @param rate of requests, each second
   * @param objectBytes mean length of the responses' content
   * @param hitRatio share of the requests answered from the store, 0 to 1
   * @param storedResponses that are to be kept for it; 0 if not known
   * @param think how long the origin takes for a miss
   * @param requestsPerConnection of clients, on average
   * @param connectionTime how long a client's connection stays open, on average
   * @param utilization share of its time that a loop may be busy on average, above 0, at most 1
   */
  public record Demand(
      double rate,
      long objectBytes,
      double hitRatio,
      long storedResponses,
      Duration think,
      double requestsPerConnection,
      Duration connectionTime,
      double utilization) {}

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
