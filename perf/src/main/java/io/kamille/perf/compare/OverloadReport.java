package io.kamille.perf.compare;

import io.kamille.perf.report.LineChart;
import io.kamille.perf.report.LineChart.Axis;
import io.kamille.perf.report.LineChart.Point;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;

/** What a comparison of servers under too much load has to say. */
final class OverloadReport {

  /** The name of the Kamille that sheds. */
  static final String SHEDDING = OverloadServer.SHEDDING;

  private static final double MOST = 3;
  private static final double BELOW = 0.8;
  private static final double LEAST_GOODPUT = 0.9;
  private static final double MOST_P99 = 3;
  private static final double MOST_MEMORY = 1.1;
  private static final double MOST_COST = 0.2;

  private final Map<String, String> facts;
  private final List<OverloadPoint> points = new ArrayList<>();

  OverloadReport(Map<String, String> facts) {
    this.facts = facts;
  }

  void add(OverloadPoint point) {
    points.add(point);
  }

  boolean isEmpty() {
    return points.isEmpty();
  }

  Report report() {
    var report = new Report("Overload: goodput and latency against offered load");
    report.items(facts.entrySet().stream().map(f -> f.getKey() + ": " + f.getValue()).toList());
    report.heading("Goals").items(verdicts());
    report.heading("What was measured").table(table());
    report.paragraph(
        "Rates are per second. *Shed*: answered with 503. *Turned away*: wanted, but never sent,"
            + " because the server had asked that user to wait. *Lost*: not answered within the"
            + " limit, or failed. Latency is that of right answers and runs from the intended time.");
    report.plot("goodput", goodput());
    report.plot("p99", p99());
    return report;
  }

  Table table() {
    var table =
        new Table(
            "server",
            "load",
            "offered",
            "goodput",
            "÷ capacity",
            "p50 ms",
            "p99 ms",
            "shed",
            "turned away",
            "lost",
            "CPU %",
            "resident MiB",
            "client late p99 ms");
    points.forEach(point -> table.row(row(point)));
    return table;
  }

  private static List<String> row(OverloadPoint point) {
    var result = point.result();
    return List.of(
        point.server(),
        text(point.load(), 2),
        perSecond(point, result.offered()),
        perSecond(point, result.good()),
        text(point.goodputRatio(), 2),
        text(result.latencyMicros(50) / 1e3, 1),
        text(result.latencyMicros(99) / 1e3, 1),
        perSecond(point, result.shed()),
        perSecond(point, result.turnedAway()),
        perSecond(point, result.timedOut() + result.failed()),
        text(point.cpuMicros() / point.seconds() / 1e4, 0),
        text(point.residentBytes() / (double) (1 << 20), 0),
        text(result.latenessMicros(99) / 1e3, 1) + (result.isSaturated() ? " !" : ""));
  }

  private static String perSecond(OverloadPoint point, long count) {
    return text(count / point.seconds(), 0);
  }

  private static String text(double value, int decimals) {
    return String.format(Locale.ROOT, "%,." + decimals + "f", value);
  }

  private Optional<OverloadPoint> of(String server, double load) {
    return points.stream()
        .filter(point -> point.server().equals(server) && point.load() == load)
        .findFirst();
  }

  /** What came of the goals, of the server that sheds. */
  List<String> verdicts() {
    return List.of(
        verdict(
            "goodput at 3 × capacity at least 0.9 of it",
            of(SHEDDING, MOST).stream().mapToDouble(OverloadPoint::goodputRatio).findFirst(),
            LEAST_GOODPUT,
            true,
            limited(MOST)),
        verdict(
            "p99 of what is answered at 3 × at most 3 × that at 0.8 ×",
            ratio(OverloadPoint::p99Micros),
            MOST_P99,
            false,
            limited(MOST, BELOW)),
        verdict(
            "memory at 3 × at most 1.1 × that at 0.8 ×",
            ratio(OverloadPoint::residentBytes),
            MOST_MEMORY,
            false,
            limited(MOST, BELOW)),
        costVerdict());
  }

  private static String verdict(
      String claim, OptionalDouble measured, double limit, boolean isLeast, String limited) {
    if (measured.isEmpty()) {
      return "unknown " + claim + ": not measured";
    }
    double value = measured.getAsDouble();
    boolean isMet = isLeast ? value >= limit : value <= limit;
    return (isMet ? "met " : "missed ") + claim + ": " + text(value, 2) + limited;
  }

  private String costVerdict() {
    String claim =
        "a request that is not served takes at most 0.2 of the processor time of one that is";
    OptionalDouble ratio = costRatio();
    return ratio.isPresent() && ratio.getAsDouble() < 0
        ? "unknown "
            + claim
            + ": answers at 3 × took less time than at 0.8 ×, which leaves none for the others"
            + limited(MOST, BELOW)
        : verdict(claim, ratio, MOST_COST, false, limited(MOST, BELOW));
  }

  /** A word on those of these points at which the client was at its limit; empty if it was not. */
  private String limited(double... loads) {
    String which =
        DoubleStream.of(loads)
            .filter(load -> of(SHEDDING, load).filter(p -> p.result().isSaturated()).isPresent())
            .mapToObj(load -> text(load, 1) + " ×")
            .collect(Collectors.joining(" and "));
    return which.isEmpty() ? "" : " (the client was at its limit at " + which + ")";
  }

  private OptionalDouble ratio(ToDoubleFunction<OverloadPoint> property) {
    Optional<OverloadPoint> most = of(SHEDDING, MOST);
    Optional<OverloadPoint> below = of(SHEDDING, BELOW);
    return most.isPresent() && below.isPresent()
        ? OptionalDouble.of(
            property.applyAsDouble(most.get()) / property.applyAsDouble(below.get()))
        : OptionalDouble.empty();
  }

  /**
   * The processor time at three times the capacity, less what the answers took, by request that was
   * shed or turned away, as a multiple of that of an answer. Less than 0 if answers were cheaper
   * there than at 0.8 times the capacity: then this method does not tell.
   */
  private OptionalDouble costRatio() {
    Optional<OverloadPoint> most = of(SHEDDING, MOST);
    Optional<OverloadPoint> below = of(SHEDDING, BELOW);
    if (most.isEmpty() || below.isEmpty()) {
      return OptionalDouble.empty();
    }
    double answer = below.get().cpuMicros() / (double) below.get().result().good();
    var result = most.get().result();
    long notServed = result.shed() + result.turnedAway();
    double rest = most.get().cpuMicros() - answer * result.good();
    return notServed == 0 ? OptionalDouble.empty() : OptionalDouble.of(rest / notServed / answer);
  }

  String goodput() {
    double most = points.stream().mapToDouble(OverloadPoint::goodputRatio).max().orElse(1);
    return chart(
        new LineChart(
            "Goodput against offered load",
            new Axis("offered load, × capacity", 0, greatestLoad()),
            new Axis("right answers, × capacity", 0, Math.max(1.1, most))),
        OverloadPoint::goodputRatio);
  }

  String p99() {
    double most = points.stream().mapToDouble(OverloadPoint::p99Micros).max().orElse(1) / 1e3;
    return chart(
        new LineChart(
            "99th percentile against offered load",
            new Axis("offered load, × capacity", 0, greatestLoad()),
            Axis.logarithmic("latency of right answers, ms", 0.1, Math.max(10, most))),
        point -> point.p99Micros() / 1e3);
  }

  private double greatestLoad() {
    return points.stream().mapToDouble(OverloadPoint::load).max().orElse(1);
  }

  private String chart(LineChart chart, ToDoubleFunction<OverloadPoint> property) {
    points.stream()
        .map(OverloadPoint::server)
        .distinct()
        .forEach(server -> chart.line(server, line(server, property)));
    return chart.svg();
  }

  private List<Point> line(String server, ToDoubleFunction<OverloadPoint> property) {
    return points.stream()
        .filter(point -> point.server().equals(server))
        .map(point -> new Point(point.load(), property.applyAsDouble(point)))
        .toList();
  }

  String csv() {
    return RawData.csv(facts, OverloadPoint.TITLES, points.stream().map(OverloadPoint::line));
  }
}
