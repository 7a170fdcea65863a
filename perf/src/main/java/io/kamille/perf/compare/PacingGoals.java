package io.kamille.perf.compare;

import static io.kamille.perf.compare.LoadFigures.P50;
import static io.kamille.perf.compare.PacingComparison.CPU;

import io.kamille.perf.report.Goal;
import io.kamille.perf.report.Samples;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** What adaptive pacing is to reach beside none: it saves CPU time, or stays out of the way. */
final class PacingGoals {

  static final String OFF = "off";
  static final String ADAPTIVE = "adaptive";

  private static final double SAVES = 0.9;
  private static final int ADDED_MICROS = 50;

  private PacingGoals() {}

  /** Those of these rates that were measured. */
  static List<Goal> of(Samples samples, List<Integer> rates) {
    return rates.stream()
        .flatMap(rate -> of(samples, rate))
        .filter(goal -> goal.measured().apply(samples).isPresent())
        .toList();
  }

  private static Stream<Goal> of(Samples samples, int rate) {
    String situation = Integer.toString(rate);
    Goal cpu =
        Goal.atMost(
            1.02,
            String.format(Locale.ROOT, "%,d/s: CPU per request at most 1.02 × off", rate),
            all -> all.ratio(CPU, situation, ADAPTIVE, OFF));
    boolean saves =
        samples
            .ratio(CPU, situation, ADAPTIVE, OFF)
            .filter(ratio -> ratio.median() <= SAVES)
            .isPresent();
    Goal delay =
        Goal.atMost(
            ADDED_MICROS,
            String.format(
                Locale.ROOT,
                "%,d/s: p50 at most off + %d µs, as little is saved",
                rate,
                ADDED_MICROS),
            all -> all.difference(P50, situation, ADAPTIVE, OFF));
    return saves ? Stream.of(cpu) : Stream.of(cpu, delay);
  }
}
