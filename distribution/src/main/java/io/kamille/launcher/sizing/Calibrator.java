package io.kamille.launcher.sizing;

import io.kamille.launcher.appliance.Totals;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Measures what requests cost a running appliance with one loop, over loopback. The kernel's work
 * for what is sent counts, since it happens on the loop's thread; a client and an origin in the
 * same process do not. Confined.
 */
public final class Calibrator {

  private static final int ROUNDS = 3;

  /** The last requests may not be counted yet when the totals are read. */
  private static final double HIT_SHARE = 0.99;

  private final InetSocketAddress server;
  private final Supplier<Totals> totals;
  private final Duration part;
  private final Consumer<String> progress;

  /**
   * For an appliance that has {@link CalibrationOrigin} behind it.
   *
   * @param totals what it has done so far
   * @param part how long one measurement takes, and how long it is warmed up for each kind
   * @param progress is told what is being measured
   */
  public Calibrator(
      InetSocketAddress server, Supplier<Totals> totals, Duration part, Consumer<String> progress) {
    this.server = server;
    this.totals = totals;
    this.part = part;
    this.progress = progress;
  }

  /** Measures all: sixteen parts. */
  public Calibration measure(String version) throws IOException {
    return new Calibration(Calibration.thisMachine(), version, measure(true), measure(false));
  }

  private CostBySize measure(boolean isHit) throws IOException {
    return new CostBySize(
        measure(isHit, CostBySize.SMALL_BYTES), measure(isHit, CostBySize.LARGE_BYTES));
  }

  private Cost measure(boolean isHit, int bytes) throws IOException {
    progress.accept((isHit ? "hits" : "misses") + " of " + (bytes >> 10) + " KiB");
    try (var client = new CalibrationClient(server)) {
      String path = isHit ? "/hit" : "/miss";
      measure(client, path, bytes);
      double[] micros = new double[ROUNDS];
      for (int round = 0; round < ROUNDS; round++) {
        Totals done = measure(client, path, bytes);
        if (isHit && done.hits() < HIT_SHARE * done.requests()) {
          throw new IOException("what was stored was not answered from the store");
        }
        micros[round] = done.cpuNanos() / 1e3 / Math.max(1, done.requests());
      }
      return Cost.of(micros);
    }
  }

  private Totals measure(CalibrationClient client, String path, int bytes) throws IOException {
    Totals before = totals.get();
    long end = System.nanoTime() + part.toNanos();
    do {
      client.ask(path, bytes);
    } while (System.nanoTime() - end < 0);
    Totals after = totals.get();
    return new Totals(
        after.requests() - before.requests(),
        after.failures() - before.failures(),
        after.hits() - before.hits(),
        after.cpuNanos() - before.cpuNanos(),
        after.connections());
  }
}
