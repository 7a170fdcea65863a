package io.kamille.perf.compare;

import io.kamille.perf.report.Spread;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * What adaptive pacing is to reach beside none. The median decides.
 *
 * @param isFloor whether the limit is the least value that meets the goal, not the greatest
 */
record PacingGoal(
    String claim,
    double limit,
    boolean isFloor,
    Function<PacingSamples, Optional<Spread>> measured) {

  private static final String OFF = "off";
  private static final String ADAPTIVE = "adaptive";

  private static final Property CPU =
      new Property("CPU per request", PacingSample::cpuMicrosPerRequest);
  private static final Property P50 = new Property("p50", PacingSample::p50Micros);
  private static final Property P99 = new Property("p99", PacingSample::p99Micros);

  /** Those for hits of 1 KiB over 200 connections. */
  static List<PacingGoal> ofSmallHits() {
    return List.of(
        ratio(1000, P50, 1.05),
        ratio(1000, P99, 1.05),
        ratio(1000, CPU, 1.0),
        ratio(2000, P50, 1.05),
        ratio(2000, P99, 1.05),
        ratio(2000, CPU, 1.0),
        ratio(10_000, CPU, 0.85),
        added(10_000, 500),
        ratio(20_000, CPU, 0.85),
        added(20_000, 500),
        ratio(50_000, CPU, 0.9),
        ratio(50_000, P99, 1.0),
        capacity(1.1));
  }

  /** What of a round is looked at. */
  private record Property(String name, ToDoubleFunction<PacingSample> of) {}

  private static PacingGoal ratio(int rate, Property property, double limit) {
    return new PacingGoal(
        String.format(Locale.ROOT, "%,d/s: %s at most %.2f × off", rate, property.name(), limit),
        limit,
        false,
        s -> s.ratio(ADAPTIVE, OFF, rate, property.of()));
  }

  private static PacingGoal added(int rate, double micros) {
    return new PacingGoal(
        String.format(Locale.ROOT, "%,d/s: p99 at most off + %.0f µs", rate, micros),
        micros,
        false,
        s -> s.difference(ADAPTIVE, OFF, rate, PacingSample::p99Micros));
  }

  private static PacingGoal capacity(double limit) {
    return new PacingGoal(
        String.format(Locale.ROOT, "capacity at least %.2f × off", limit),
        limit,
        true,
        s -> s.capacityRatio(ADAPTIVE, OFF));
  }

  /** One line about what came of it. */
  String verdict(PacingSamples samples) {
    return Goal.verdict(
        claim, measured.apply(samples), value -> isFloor ? value >= limit : value <= limit);
  }
}
