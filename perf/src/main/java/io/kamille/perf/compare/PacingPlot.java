package io.kamille.perf.compare;

import io.kamille.perf.report.LineChart;
import io.kamille.perf.report.LineChart.Axis;
import io.kamille.perf.report.LineChart.Point;
import io.kamille.perf.report.Samples;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The drawing of fixed intervals. */
final class PacingPlot {

  private PacingPlot() {}

  /**
   * Processor time over the interval, as a multiple of none at all, a line for each rate; empty
   * with less than three intervals.
   */
  static Optional<String> svg(
      Samples samples, Subject subject, List<String> ways, List<Integer> rates) {
    List<String> fixed = ways.stream().filter(way -> Character.isDigit(way.charAt(0))).toList();
    if (fixed.size() < 3) {
      return Optional.empty();
    }
    double longest = fixed.stream().mapToDouble(PacingPlot::micros).max().orElseThrow();
    var chart =
        new LineChart(
            subject.label() + ": what a fixed interval saves",
            new Axis("interval between two polls, µs (0: off)", 0, longest),
            new Axis("CPU time per request, × " + ways.getFirst(), 0.5, 1.5));
    for (int rate : rates) {
      var points = new ArrayList<>(List.of(new Point(0, 1)));
      for (String way : fixed) {
        samples
            .ratio(PacingComparison.CPU, Integer.toString(rate), way, ways.getFirst())
            .ifPresent(ratio -> points.add(new Point(micros(way), ratio.median())));
      }
      chart.line(String.format(Locale.ROOT, "%,d/s", rate), points);
    }
    return Optional.of(chart.svg());
  }

  private static double micros(String way) {
    int number = Integer.parseInt(way.replaceAll("[a-z]", ""));
    return way.endsWith("ms") ? number * 1000.0 : number;
  }
}
