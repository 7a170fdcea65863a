package io.kamille.perf.lab;

import io.kamille.perf.report.Comparison;
import io.kamille.perf.report.LineChart;
import io.kamille.perf.report.LineChart.Axis;
import io.kamille.perf.report.LineChart.Point;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Spread;
import io.kamille.perf.report.Table;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;

/** All cells of the matrix, and what is said of them. Any thread. */
final class PacedPoints {

  private final List<PacedPoint> all = new CopyOnWriteArrayList<>();

  void add(PacedPoint point) {
    all.add(point);
  }

  List<PacedPoint> of(String setting) {
    return all.stream().filter(point -> point.setting().equals(setting)).toList();
  }

  private List<PacedPoint> of(String setting, int rate, int interval) {
    return of(setting).stream()
        .filter(point -> point.rate() == rate && point.intervalMicros() == interval)
        .toList();
  }

  private List<Integer> rates(String setting) {
    return of(setting).stream().map(PacedPoint::rate).distinct().toList();
  }

  private List<Integer> intervals(String setting) {
    return of(setting).stream().map(PacedPoint::intervalMicros).distinct().toList();
  }

  /** An interval in milliseconds, without needless digits. */
  static String millis(int micros) {
    return String.format(Locale.ROOT, micros % 1000 == 0 ? "%.0f" : "%.1f", micros / 1e3);
  }

  /** Medians, a row for each rate and interval; a star marks a client at its own limit. */
  Table table(String setting) {
    var table =
        new Table(
            "offered/s",
            "interval ms",
            "replies/s",
            "failed",
            "mean ms",
            "p50 ms",
            "p99 ms",
            "CPU µs/reply",
            "kernel %",
            "polls/s",
            "events/poll");
    for (int rate : rates(setting)) {
      for (int interval : intervals(setting)) {
        List<PacedPoint> rounds = of(setting, rate, interval);
        if (!rounds.isEmpty()) {
          table.row(row(rate, interval, rounds));
        }
      }
    }
    return table;
  }

  private static List<String> row(int rate, int interval, List<PacedPoint> rounds) {
    boolean isClientLimited = rounds.stream().anyMatch(PacedPoint::isClientLimited);
    return List.of(
        rate + (isClientLimited ? " *" : ""),
        millis(interval),
        median(rounds, PacedPoint::repliesPerSecond, 0),
        Long.toString(rounds.stream().mapToLong(PacedPoint::failed).sum()),
        median(rounds, point -> point.meanMicros() / 1e3, 2),
        median(rounds, point -> point.p50Micros() / 1e3, 2),
        median(rounds, point -> point.p99Micros() / 1e3, 2),
        median(rounds, PacedPoint::cpuMicros, 1),
        median(rounds, point -> point.kernelShare() * 100, 0),
        median(rounds, PacedPoint::pollsPerSecond, 0),
        median(rounds, PacedPoint::eventsPerPoll, 1));
  }

  private static String median(
      List<PacedPoint> rounds, ToDoubleFunction<PacedPoint> property, int decimals) {
    double median = Spread.of(rounds, property).median();
    return Double.isNaN(median) ? "–" : String.format(Locale.ROOT, "%." + decimals + "f", median);
  }

  /** Mean response time and CPU time over the rate, a line for each interval. */
  void plots(String setting, Report report) {
    String file = setting.replaceAll("[^A-Za-z0-9]+", "-").toLowerCase(Locale.ROOT);
    chart(setting + ": mean response time", "ms", setting, point -> point.meanMicros() / 1e3)
        .ifPresent(svg -> report.plot(file + "-mean", svg));
    chart(setting + ": CPU time for a reply", "µs", setting, PacedPoint::cpuMicros)
        .ifPresent(svg -> report.plot(file + "-cpu", svg));
  }

  private Optional<String> chart(
      String title, String unit, String setting, ToDoubleFunction<PacedPoint> property) {
    List<Integer> rates = rates(setting);
    double highest =
        of(setting).stream().mapToDouble(property).filter(Double::isFinite).max().orElse(0);
    if (rates.size() < 2 || highest <= 0) {
      return Optional.empty();
    }
    var chart =
        new LineChart(
            title,
            new Axis("requests offered per second", 0, rates.getLast()),
            new Axis(unit, 0, highest));
    for (int interval : intervals(setting)) {
      var points = new ArrayList<Point>();
      for (int rate : rates) {
        double[] values =
            of(setting, rate, interval).stream()
                .mapToDouble(property)
                .filter(Double::isFinite)
                .toArray();
        if (values.length > 0) {
          points.add(new Point(rate, Spread.of(values).median()));
        }
      }
      if (!points.isEmpty()) {
        chart.line(millis(interval) + " ms", points);
      }
    }
    return Optional.of(chart.svg());
  }

  /**
   * Sentences about the highest rate, where the interval that serves most replies is compared with
   * none, and about CPU time at the rate in the middle.
   */
  List<String> findings(String setting) {
    List<Integer> rates = rates(setting);
    var findings = new ArrayList<String>();
    if (rates.isEmpty()) {
      return findings;
    }
    int top = rates.getLast();
    int middle = rates.get(rates.size() / 2);
    best(setting, top, PacedPoint::repliesPerSecond, 1)
        .flatMap(
            interval -> sentence(setting, top, interval, "replies/s", PacedPoint::repliesPerSecond))
        .ifPresent(findings::add);
    best(setting, middle, PacedPoint::cpuMicros, -1)
        .flatMap(
            interval ->
                sentence(setting, middle, interval, "CPU time/reply", PacedPoint::cpuMicros))
        .ifPresent(findings::add);
    return findings;
  }

  /** The interval with the greatest median of a property, or the least if {@code sign} is −1. */
  private Optional<Integer> best(
      String setting, int rate, ToDoubleFunction<PacedPoint> property, int sign) {
    return intervals(setting).stream()
        .filter(interval -> interval > 0 && !of(setting, rate, interval).isEmpty())
        .max(
            (a, b) ->
                sign
                    * Double.compare(
                        Spread.of(of(setting, rate, a), property).median(),
                        Spread.of(of(setting, rate, b), property).median()));
  }

  private Optional<String> sentence(
      String setting, int rate, int interval, String what, ToDoubleFunction<PacedPoint> property) {
    double[] plain = of(setting, rate, 0).stream().mapToDouble(property).toArray();
    double[] paced = of(setting, rate, interval).stream().mapToDouble(property).toArray();
    int rounds = Math.min(plain.length, paced.length);
    boolean isWhole =
        DoubleStream.concat(Arrays.stream(plain), Arrays.stream(paced)).allMatch(v -> v > 0);
    if (rounds == 0 || !isWhole) {
      return Optional.empty();
    }
    var comparison = Comparison.of(Arrays.copyOf(plain, rounds), Arrays.copyOf(paced, rounds));
    return Optional.of(
        String.format(
            Locale.ROOT,
            "%s at %,d requests/s offered: with %s ms between two polls, %s %s",
            setting,
            rate,
            millis(interval),
            what,
            comparison.text()));
  }
}
