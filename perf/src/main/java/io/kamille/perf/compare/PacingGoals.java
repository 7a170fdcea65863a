package io.kamille.perf.compare;

import static io.kamille.perf.compare.LoadFigures.P50;
import static io.kamille.perf.compare.LoadFigures.P99;
import static io.kamille.perf.compare.PacingComparison.CPU;

import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.Samples;
import java.util.List;
import java.util.Locale;

/** What adaptive pacing is to reach beside none, for hits of 1 KiB over 200 connections. */
final class PacingGoals {

  private static final String OFF = "off";
  private static final String ADAPTIVE = "adaptive";

  private PacingGoals() {}

  /** Those whose rates were measured. */
  static List<Goal> of(Samples samples, Samples capacities) {
    return List.of(
            ratio(1000, "p50", P50, 1.05),
            ratio(1000, "p99", P99, 1.05),
            ratio(1000, "CPU per request", CPU, 1.0),
            ratio(2000, "p50", P50, 1.05),
            ratio(2000, "p99", P99, 1.05),
            ratio(2000, "CPU per request", CPU, 1.0),
            ratio(10_000, "CPU per request", CPU, 0.85),
            added(10_000, 500),
            ratio(20_000, "CPU per request", CPU, 0.85),
            added(20_000, 500),
            ratio(50_000, "CPU per request", CPU, 0.9),
            ratio(50_000, "p99", P99, 1.0),
            Goal.atLeast(
                1.1,
                "capacity at least 1.10 × off",
                all -> capacities.ratio(CapacitySearch.RATE, "", ADAPTIVE, OFF)))
        .stream()
        .filter(goal -> goal.measured().apply(samples).isPresent())
        .toList();
  }

  private static Goal ratio(int rate, String name, Figure figure, double limit) {
    return Goal.atMost(
        limit,
        String.format(Locale.ROOT, "%,d/s: %s at most %.2f × off", rate, name, limit),
        samples -> samples.ratio(figure, Integer.toString(rate), ADAPTIVE, OFF));
  }

  private static Goal added(int rate, double micros) {
    return Goal.atMost(
        micros,
        String.format(Locale.ROOT, "%,d/s: p99 at most off + %.0f µs", rate, micros),
        samples -> samples.difference(P99, Integer.toString(rate), ADAPTIVE, OFF));
  }
}
