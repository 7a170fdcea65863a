package io.kamille.perf.lab;

import io.kamille.perf.report.LineChart;
import io.kamille.perf.report.LineChart.Axis;
import io.kamille.perf.report.LineChart.Point;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Table;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/** All cells of the grid, and what is said of them. Any thread. */
final class LossyPoints {

  private final List<LossyPoint> all = new CopyOnWriteArrayList<>();

  void add(LossyPoint point) {
    all.add(point);
  }

  /** Tables and drawings, for each object and round trip. */
  void report(Report report) {
    for (var place : grouped(all, point -> point.path().place()).entrySet()) {
      report.heading(place.getKey());
      report.table(table(place.getValue()));
      plots(place.getKey(), place.getValue(), report);
    }
  }

  private static <K> Map<K, List<LossyPoint>> grouped(
      List<LossyPoint> points, Function<LossyPoint, K> key) {
    return points.stream()
        .collect(Collectors.groupingBy(key, LinkedHashMap::new, Collectors.toList()));
  }

  /** A row for each cell; a star marks what client or emulator had a part in. */
  private static Table table(List<LossyPoint> points) {
    var table =
        new Table(
            "server",
            "loss %",
            "offered/s",
            "due/s",
            "replies/s",
            "± (1 s)",
            "failed",
            "mean ms",
            "p50 ms",
            "p99 ms",
            "CPU %",
            "user µs/reply",
            "kernel µs/reply",
            "client late p99 µs",
            "emulator late p99 µs",
            "its CPU %",
            "lost %",
            "queue full",
            "dropped");
    points.stream()
        .sorted(
            Comparator.comparingInt((LossyPoint point) -> point.path().rate())
                .thenComparingInt(point -> point.path().lossPercent()))
        .forEach(point -> table.row(row(point)));
    return table;
  }

  private static List<String> row(LossyPoint point) {
    return List.of(
        point.server() + (point.isDisturbed() ? " *" : ""),
        Integer.toString(point.path().lossPercent()),
        Integer.toString(point.path().rate()),
        text(point.due(), 1),
        text(point.replies(), 1),
        text(point.deviation(), 1),
        Long.toString(point.failed()),
        text(point.meanMillis(), 1),
        text(point.p50Millis(), 1),
        text(point.p99Millis(), 0),
        text(point.cpuShare() * 100, 0),
        text(point.userMicros(), 0),
        text(point.kernelMicros(), 0),
        text(point.clientLateMicros(), 0),
        text(point.wan().lateMicros(), 0),
        text(point.wan().cpuShare() * 100, 0),
        text(point.wan().lostShare() * 100, 2),
        Long.toString(point.wan().overflowed()),
        Long.toString(point.wan().dropped()));
  }

  private static String text(double value, int decimals) {
    return String.format(Locale.ROOT, "%." + decimals + "f", value);
  }

  /** Over the rate if there are several, else over the loss. */
  private static void plots(String place, List<LossyPoint> points, Report report) {
    String file = place.replaceAll("[^A-Za-z0-9]+", "-").toLowerCase(Locale.ROOT);
    boolean isSweep = points.stream().map(point -> point.path().rate()).distinct().count() > 1;
    chart(place + ": replies per second", "replies/s", points, isSweep, LossyPoint::replies)
        .ifPresent(svg -> report.plot(file + "-replies", svg));
    chart(place + ": mean reply time", "ms", points, isSweep, LossyPoint::meanMillis)
        .ifPresent(svg -> report.plot(file + "-time", svg));
  }

  private static Optional<String> chart(
      String title,
      String unit,
      List<LossyPoint> points,
      boolean isSweep,
      ToDoubleFunction<LossyPoint> y) {
    ToDoubleFunction<LossyPoint> x =
        isSweep ? point -> point.path().rate() : point -> point.path().lossPercent();
    double right = points.stream().mapToDouble(x).max().orElse(0);
    double top = points.stream().mapToDouble(y).max().orElse(0);
    if (right <= 0 || top <= 0) {
      return Optional.empty();
    }
    var chart =
        new LineChart(
            title,
            new Axis(isSweep ? "requests offered per second" : "loss each way, %", 0, right),
            new Axis(unit, 0, top * 1.05));
    Function<LossyPoint, String> name =
        isSweep
            ? point -> point.server() + ", " + point.path().lossPercent() + " %"
            : LossyPoint::server;
    grouped(points, name)
        .forEach(
            (line, measured) ->
                chart.line(
                    line,
                    measured.stream()
                        .map(point -> new Point(x.applyAsDouble(point), y.applyAsDouble(point)))
                        .sorted(Comparator.comparingDouble(Point::x))
                        .toList()));
    return Optional.of(chart.svg());
  }

  /** Each lossy cell beside the one without loss. */
  List<LossyFall> falls() {
    return all.stream()
        .filter(point -> point.path().lossPercent() > 0)
        .flatMap(
            lossy ->
                all.stream()
                    .filter(
                        clean ->
                            clean.server().equals(lossy.server())
                                && clean.path().equals(lossy.path().clean()))
                    .map(clean -> new LossyFall(clean, lossy)))
        .toList();
  }

  /** For each server and loss, the greatest fall where the load is sustainable. */
  List<String> findings() {
    return grouped(all, point -> point.server() + " at " + point.path().lossPercent() + " % loss")
        .entrySet()
        .stream()
        .filter(group -> group.getValue().getFirst().path().lossPercent() > 0)
        .map(group -> group.getKey() + ": " + finding(group.getValue()))
        .toList();
  }

  private String finding(List<LossyPoint> points) {
    List<LossyFall> falls =
        falls().stream()
            .filter(fall -> points.contains(fall.lossy()) && fall.isSustainable())
            .toList();
    return falls.stream()
        .max(Comparator.comparingDouble(LossyFall::share))
        .map(
            worst ->
                String.format(
                    Locale.ROOT,
                    "the reply rate falls by %.1f %% at most (%s, %,d requests/s) over %d cells with a"
                        + " sustainable load; the goal of no more than %.0f %% is %s",
                    Math.max(0, worst.share()) * 100,
                    worst.lossy().path().place(),
                    worst.lossy().path().rate(),
                    falls.size(),
                    LossyFall.GOAL * 100,
                    worst.share() <= LossyFall.GOAL ? "reached" : "missed"))
        .orElse("no cell with a sustainable load that neither client nor emulator disturbed");
  }
}
