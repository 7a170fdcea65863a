package io.kamille.perf.compare;

import io.kamille.perf.load.LoadFailure;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Sample;
import java.util.Map;
import java.util.stream.Collectors;

/** The figures of a load that comes by the clock. Latency counts from the intended send time. */
public final class LoadFigures {

  static final Figure OFFERED = Figure.of("offered");

  /** Requests answered rightly. */
  public static final Figure COMPLETED = Figure.of("completed");

  public static final Figure FAILED = Figure.of("failed");

  /** How many of what kind. */
  static final Figure FAILURES = Figure.of("failures");

  static final Figure NANOS = Figure.of("nanos");

  public static final Figure MEAN = Figure.of("mean_micros");
  public static final Figure P50 = Figure.of("p50_micros");
  public static final Figure P99 = Figure.of("p99_micros");
  static final Figure P999 = Figure.of("p999_micros");
  static final Figure MAX = Figure.of("max_micros");

  /** How late the client itself was. */
  static final Figure LATE_P50 = Figure.of("late_p50_micros");

  static final Figure LATE_P99 = Figure.of("late_p99_micros");

  /** How much of the time the client had something to do, 0 to 1. */
  static final Figure BUSY = Figure.of("client_busy");

  /** Whether the client was at its limit, so that the numbers say as much about it. */
  public static final Figure LIMITED = Figure.of("client_limited");

  private static final Figure PLANNED = Figure.of("planned_nanos");
  private static final Figure IN_PLAN = Figure.of("answered_in_plan");

  /** Right answers per second that came while requests were due. */
  public static final Figure RATE = IN_PLAN.per(PLANNED).times(1e9);

  private LoadFigures() {}

  /** Adds to a sample what a load saw. */
  public static Sample with(Sample sample, LoadResult load) {
    return sample
        .with(OFFERED, load.offered())
        .with(COMPLETED, load.completed())
        .with(FAILED, load.failed())
        .with(FAILURES, text(load.failures()))
        .with(NANOS, load.nanos())
        .with(PLANNED, load.plannedNanos())
        .with(IN_PLAN, load.answeredInPlan())
        .with(MEAN, load.latency().getMean() / 1e3)
        .with(P50, load.latencyMicros(50))
        .with(P99, load.latencyMicros(99))
        .with(P999, load.latencyMicros(99.9))
        .with(MAX, load.latencyMicros(100))
        .with(LATE_P50, load.latenessMicros(50))
        .with(LATE_P99, load.latenessMicros(99))
        .with(BUSY, load.busyRatio())
        .with(LIMITED, load.isSaturated());
  }

  static String text(Map<LoadFailure, Long> failures) {
    return failures.entrySet().stream()
        .map(entry -> entry.getKey() + " " + entry.getValue())
        .collect(Collectors.joining(";"));
  }

  /** Says in which of these rounds the client was at its limit. */
  static void noteLimits(Comparison comparison, Iterable<Sample> samples) {
    for (Sample sample : samples) {
      if (sample.is(LIMITED)) {
        comparison.note(
            "%s, %s, round %d: the client was at its limit, or kept from its core; the numbers are"
                + " its as well",
            sample.server(), sample.situation(), sample.round());
      }
    }
  }
}
