package io.kamille.perf.compare;

import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadWindow;
import io.kamille.perf.load.RateSchedule;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.report.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Latency over time while the load jumps up and down again: a situation is a window of time. */
final class StepComparison {

  private static final Figure OFFERED = Figure.of("offered_rate");
  private static final Figure COMPLETED = Figure.of("completed");
  private static final Figure P50 = Figure.of("p50_micros");
  private static final Figure P99 = Figure.of("p99_micros");
  private static final Figure MAX = Figure.of("max_micros");

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

  /** A line for each window: medians of the rounds in which requests of it were answered. */
  Table table(List<String> ways) {
    var titles = new ArrayList<>(List.of("ms", "offered/s"));
    ways.forEach(way -> titles.addAll(List.of(way + " p50 µs", "p99 µs", "max µs")));
    var table = new Table(titles.toArray(String[]::new));
    for (String window : samples.all().stream().map(Sample::situation).distinct().toList()) {
      var cells = new ArrayList<>(List.of(window, median(OFFERED, window, ways.getFirst())));
      for (String way : ways) {
        cells.add(median(P50, window, way));
        cells.add(median(P99, window, way));
        cells.add(median(MAX, window, way));
      }
      table.row(cells);
    }
    return table;
  }

  private String median(Figure figure, String window, String way) {
    return samples
        .spread(figure, window, way)
        .map(spread -> String.format(Locale.ROOT, "%.0f", spread.median()))
        .orElse("–");
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
