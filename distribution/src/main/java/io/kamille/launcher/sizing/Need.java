package io.kamille.launcher.sizing;

/**
 * What a load needs. Figures come as a range, since costs do.
 *
 * @param micros of a loop, for a request on average
 * @param loops by the median, and by the least and the greatest cost
 * @param memoryBytes of the store; 0 if nobody said how much is to be stored
 * @param bytesPerResponse of the store, for a response on average
 * @param clientConnections open at once, on average
 * @param originConnections in use at once, on average
 */
public record Need(
    Cost micros,
    Loops loops,
    long memoryBytes,
    long bytesPerResponse,
    long clientConnections,
    long originConnections) {

  /** How many loops. */
  public record Loops(long least, long middle, long greatest) {}

  /*
   * Beside its content a stored response takes its head and what finds it again: perf/log,
   * 2026-11-22-storage. The arena gives granules of 64 octets.
   */
  static final int BESIDE_BYTES = 512;

  private static final int GRANULE_BYTES = 64;

  /**
   * What measurements of the same thing are to be off by at least: loopback is not a network, and
   * tomorrow's requests are not today's.
   */
  static final double LEAST_ERROR = 0.15;

  private static final double MICROS = 1e6;
  private static final double NANOS = 1e9;

  /** What that load needs at those costs. */
  public static Need of(Demand demand, Calibration calibration) {
    Cost measured =
        calibration
            .hit()
            .at(demand.objectBytes())
            .times(demand.hitRatio())
            .plus(calibration.miss().at(demand.objectBytes()).times(1 - demand.hitRatio()));
    var micros =
        new Cost(
            Math.min(measured.least(), measured.median() * (1 - LEAST_ERROR)),
            measured.median(),
            Math.max(measured.greatest(), measured.median() * (1 + LEAST_ERROR)));
    long each =
        (demand.objectBytes() + BESIDE_BYTES + GRANULE_BYTES - 1) / GRANULE_BYTES * GRANULE_BYTES;
    double clients =
        demand.rate() / demand.requestsPerConnection() * demand.connectionTime().toNanos() / NANOS;
    double origins =
        demand.rate()
            * (1 - demand.hitRatio())
            * (demand.think().toNanos() / NANOS + micros.median() / MICROS);
    return new Need(
        micros,
        new Loops(
            loops(demand, micros.least()),
            loops(demand, micros.median()),
            loops(demand, micros.greatest())),
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
