package io.kamille.perf.compare;

import io.kamille.perf.load.LoadFailure;
import io.kamille.perf.report.LineChart;
import io.kamille.perf.report.LineChart.Axis;
import io.kamille.perf.report.LineChart.Point;
import io.kamille.perf.report.Spread;
import io.kamille.perf.report.Table;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/** What a comparison of ways of pacing prints and keeps. */
final class PacingReport {

  private static final String TITLES =
      "way,rate,round,offered,completed,failed,nanos,cpu_nanos,waited_nanos,"
          + "p50_micros,p99_micros,p999_micros,max_micros,"
          + "late_p50_micros,late_p99_micros,client_busy,client_saturated";

  private static final String CAPACITY_TITLES = "way,round,rate,client_limited";
  private static final double WAITED_LIMIT = 0.1;

  private final Map<String, String> facts;
  private final PacingOptions options;
  private final PacingSamples samples;
  private final String baseline;

  PacingReport(Map<String, String> facts, PacingOptions options, PacingSamples samples) {
    this.facts = facts;
    this.options = options;
    this.samples = samples;
    this.baseline = options.ways().getFirst();
  }

  /** Prints the table of one rate: medians, with the extremes in parentheses where they matter. */
  void print(int rate) {
    String by = "÷ " + baseline;
    var table =
        new Table(
            String.format(Locale.ROOT, "%s, %,d/s", options.subject().label(), rate),
            "CPU µs/request",
            by,
            "p50 µs",
            by,
            "p99 µs",
            by,
            "− " + baseline,
            "requests/s",
            "client late p99 µs",
            "busy %");
    options.ways().forEach(way -> table.row(row(way, rate)));
    System.out.println();
    System.out.println(table);
    options.ways().forEach(way -> printNotes(way, samples.of(way, rate)));
  }

  private List<String> row(String way, int rate) {
    List<PacingSample> rounds = samples.of(way, rate);
    return List.of(
        way,
        Spread.of(rounds, PacingSample::cpuMicrosPerRequest).text(2),
        ratio(way, rate, PacingSample::cpuMicrosPerRequest),
        median(rounds, PacingSample::p50Micros),
        ratio(way, rate, PacingSample::p50Micros),
        Spread.of(rounds, PacingSample::p99Micros).text(0),
        ratio(way, rate, PacingSample::p99Micros),
        text(samples.difference(way, baseline, rate, PacingSample::p99Micros), 0),
        median(rounds, sample -> sample.load().ratePerSecond()),
        median(rounds, sample -> sample.load().latenessMicros(99)),
        median(rounds, sample -> sample.load().busyRatio() * 100));
  }

  private String ratio(String way, int rate, ToDoubleFunction<PacingSample> property) {
    return text(samples.ratio(way, baseline, rate, property), 2);
  }

  private static String text(Optional<Spread> spread, int decimals) {
    return spread.map(known -> known.text(decimals)).orElse("–");
  }

  private static String median(List<PacingSample> rounds, ToDoubleFunction<PacingSample> property) {
    return String.format(Locale.ROOT, "%.0f", Spread.of(rounds, property).median());
  }

  private static void printNotes(String way, List<PacingSample> rounds) {
    Map<LoadFailure, Long> failures = new EnumMap<>(LoadFailure.class);
    rounds.forEach(
        sample -> sample.load().failures().forEach((f, n) -> failures.merge(f, n, Long::sum)));
    if (!failures.isEmpty()) {
      System.out.println("note: " + way + ": failed requests: " + failures);
    }
    long saturated = rounds.stream().filter(sample -> sample.load().isSaturated()).count();
    if (saturated > 0) {
      System.out.printf(
          Locale.ROOT,
          "note: %s: in %d of %d rounds the client was at its limit or was disturbed; "
              + "the numbers are its as well%n",
          way,
          saturated,
          rounds.size());
    }
    double waited = rounds.stream().mapToDouble(PacingSample::waitedRatio).max().orElse(0);
    if (waited > WAITED_LIMIT) {
      System.out.printf(
          Locale.ROOT,
          "note: %s: in one round threads of the server waited for its core %.0f %% of their time%n",
          way,
          waited * 100);
    }
  }

  void printCapacity() {
    var table = new Table("capacity", "requests/s", "÷ " + baseline);
    for (String way : options.ways()) {
      List<Capacity> found = samples.capacities(way);
      table.row(
          List.of(
              way,
              found.isEmpty() ? "–" : Spread.of(found, Capacity::rate).text(0),
              text(samples.capacityRatio(way, baseline), 2)));
    }
    System.out.println();
    System.out.println(table);
    if (samples.capacities().stream().anyMatch(Capacity::isClientLimited)) {
      System.out.println(
          "note: in some searches the client was at its limit or was disturbed where they ended;"
              + " the server can do as much at least");
    }
  }

  /** Prints what came of the goals whose rates were measured. */
  void printGoals() {
    List<String> verdicts =
        PacingGoal.ofSmallHits().stream()
            .filter(goal -> goal.measured().apply(samples).isPresent())
            .map(goal -> goal.verdict(samples))
            .toList();
    if (!verdicts.isEmpty()) {
      System.out.println();
      System.out.println("Goals of adaptive pacing, set for 1 KiB hits and 200 connections:");
      verdicts.forEach(verdict -> System.out.println("  " + verdict));
    }
  }

  /**
   * Processor time over the interval, as a multiple of none at all, a line for each rate; empty
   * with less than three intervals.
   */
  Optional<String> plot() {
    List<String> fixed =
        options.ways().stream().filter(way -> Character.isDigit(way.charAt(0))).toList();
    if (fixed.size() < 3) {
      return Optional.empty();
    }
    double longest = fixed.stream().mapToDouble(PacingReport::micros).max().orElseThrow();
    var chart =
        new LineChart(
            options.subject().label() + ": what a fixed interval saves",
            new Axis("interval between two polls, µs (0: off)", 0, longest),
            new Axis("CPU time per request, × " + baseline, 0.5, 1.5));
    for (int rate : options.ratesOrDefault()) {
      var points = new ArrayList<>(List.of(new Point(0, 1)));
      for (String way : fixed) {
        samples
            .ratio(way, baseline, rate, PacingSample::cpuMicrosPerRequest)
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

  String csv() {
    return RawData.csv(facts, TITLES, samples.all().stream().map(PacingReport::line));
  }

  private static String line(PacingSample sample) {
    var load = sample.load();
    return RawData.line(
        sample.way(),
        sample.rate(),
        sample.round(),
        load.offered(),
        load.completed(),
        load.failed(),
        load.nanos(),
        sample.ran().ranNanos(),
        sample.ran().waitedNanos(),
        load.latencyMicros(50),
        load.latencyMicros(99),
        load.latencyMicros(99.9),
        load.latencyMicros(100),
        load.latenessMicros(50),
        load.latenessMicros(99),
        String.format(Locale.ROOT, "%.3f", load.busyRatio()),
        load.isSaturated());
  }

  String capacityCsv() {
    Stream<String> lines =
        samples.capacities().stream()
            .map(
                found ->
                    RawData.line(
                        found.way(),
                        found.round(),
                        Math.round(found.rate()),
                        found.isClientLimited()));
    return RawData.csv(facts, CAPACITY_TITLES, lines);
  }
}
