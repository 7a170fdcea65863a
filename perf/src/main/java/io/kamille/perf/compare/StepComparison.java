package io.kamille.perf.compare;

import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadWindow;
import io.kamille.perf.load.RateSchedule;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.report.Table;
import java.util.List;

/** Latency over time while the load jumps up and down again: a situation is a window of time. */
final class StepComparison {

  private static final Figure OFFERED = Figure.of("offered_rate");
  private static final Figure COMPLETED = Figure.of("completed");
  private static final Figure P50 = Figure.of("p50_micros");
  private static final Figure P99 = Figure.of("p99_micros");
  private static final Figure MAX = Figure.of("max_micros");

  private static final List<Column> COLUMNS =
      List.of(
          Column.median("offered/s", OFFERED, 0),
          Column.median("p50 µs", P50, 0),
          Column.median("p99 µs", P99, 0),
          Column.median("max µs", MAX, 0));

  private final RateSchedule schedule;
  private final Samples samples = new Samples("begin_millis", "way");

  StepComparison(RateSchedule schedule) {
    this.schedule = schedule;
  }

  Samples samples() {
    return samples;
  }

  void add(String way, int round, LoadResult load) {
    for (LoadWindow window : load.windows()) {
      String begin = Long.toString(window.beginNanos() / 1_000_000);
      long completed = window.latency().getTotalCount();
      samples.add(
          Sample.of(begin, way, round)
              .with(OFFERED, Math.round(schedule.ratePerSecond(window.beginNanos())))
              .with(COMPLETED, completed)
              .with(P50, micros(window, 50))
              .with(P99, micros(window, 99))
              .with(MAX, micros(window, 100)));
    }
  }

  /** NaN if no request of the window was answered. */
  private static double micros(LoadWindow window, double percentile) {
    return window.latency().getTotalCount() == 0
        ? Double.NaN
        : window.latency().getValueAtPercentile(percentile) / 1e3;
  }

  /** A line for each window and way: medians of the rounds in which requests were answered. */
  Table table() {
    return samples.wholeTable("way", "ms", COLUMNS);
  }

  /** The highest 99th percentile that a window has of one way in one round. */
  double worst(String way, int round) {
    return samples.all().stream()
        .filter(one -> one.server().equals(way) && one.round() == round)
        .mapToDouble(one -> one.of(P99))
        .filter(Double::isFinite)
        .max()
        .orElse(0);
  }
}
