package io.kamille.perf.compare;

import io.kamille.perf.report.Spread;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

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

  /** Those for hits of 1 KiB over 200 connections. */
  static List<PacingGoal> ofSmallHits() {
    return List.of(
        p50(1000, 1.05),
        p99(1000, 1.05),
        cpu(1000, 1.0),
        p50(2000, 1.05),
        p99(2000, 1.05),
        cpu(2000, 1.0),
        cpu(10_000, 0.85),
        added(10_000, 500),
        cpu(20_000, 0.85),
        added(20_000, 500),
        cpu(50_000, 0.9),
        p99(50_000, 1.0),
        capacity(1.1));
  }

  private static PacingGoal cpu(int rate, double limit) {
    return new PacingGoal(
        String.format(Locale.ROOT, "%,d/s: CPU per request at most %.2f × off", rate, limit),
        limit,
        false,
        s -> s.ratio(ADAPTIVE, OFF, rate, PacingSample::cpuMicrosPerRequest));
  }

  private static PacingGoal p50(int rate, double limit) {
    return new PacingGoal(
        String.format(Locale.ROOT, "%,d/s: p50 at most %.2f × off", rate, limit),
        limit,
        false,
        s -> s.ratio(ADAPTIVE, OFF, rate, PacingSample::p50Micros));
  }

  private static PacingGoal p99(int rate, double limit) {
    return new PacingGoal(
        String.format(Locale.ROOT, "%,d/s: p99 at most %.2f × off", rate, limit),
        limit,
        false,
        s -> s.ratio(ADAPTIVE, OFF, rate, PacingSample::p99Micros));
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
