package io.kamille.perf.compare;

import io.kamille.cache.index.Policy;
import io.kamille.cache.index.PolicyChoice;
import io.kamille.cache.index.PolicySimulation;
import io.kamille.cache.index.PolicySimulation.Result;
import io.kamille.cache.index.Trace;
import io.kamille.cache.index.Traces;
import io.kamille.perf.report.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What policies hit on made-up traces: a simulation, the same on every machine. */
@Command
public final class StorageMeasurement implements Callable<Integer> {

  private static final long MIB = 1L << 20;
  private static final double GOAL_POINTS = 0.5;
  private static final double PERCENT = 100;

  @Option(names = "--requests", description = "of each trace (${DEFAULT-VALUE})")
  private long requests = 2_000_000;

  @Override
  public Integer call() {
    printHitRatios(64 * MIB);
    printHitRatios(256 * MIB);
    return 0;
  }

  private void printHitRatios(long capacity) {
    System.out.printf(
        Locale.ROOT,
        "%nhits of the second half of %,d requests, objects / octets in %%, %d MiB%n%n",
        requests,
        capacity / MIB);
    var table =
        new Table(
            "trace",
            "auto",
            "tinylfu",
            "lru",
            "caffeine",
            "auto ends with",
            "near the better",
            "not below caffeine");
    for (Trace trace : Traces.all()) {
      Result[] results = new Result[PolicyChoice.values().length];
      List<String> cells = new ArrayList<>(List.of(trace.name()));
      for (PolicyChoice choice : PolicyChoice.values()) {
        Result result = PolicySimulation.run(trace, choice, capacity, requests, requests / 2);
        results[choice.ordinal()] = result;
        cells.add(text(result));
      }
      Result caffeine = PolicySimulation.runCaffeine(trace, capacity, requests, requests / 2);
      cells.add(text(caffeine));
      Result auto = results[PolicyChoice.AUTO.ordinal()];
      double better =
          Math.max(
              results[PolicyChoice.LRU.ordinal()].objects(),
              results[PolicyChoice.TINYLFU.ordinal()].objects());
      cells.add(auto.last() == Policy.LRU ? "lru" : "tinylfu");
      boolean isReached = (better - auto.objects()) * PERCENT <= GOAL_POINTS;
      cells.add(isReached ? "reached" : "missed");
      cells.add(auto.objects() >= caffeine.objects() ? "reached" : "missed");
      table.row(cells);
    }
    System.out.println(table);
  }

  private static String text(Result result) {
    return String.format(
        Locale.ROOT, "%.1f / %.1f", result.objects() * PERCENT, result.bytes() * PERCENT);
  }
}
