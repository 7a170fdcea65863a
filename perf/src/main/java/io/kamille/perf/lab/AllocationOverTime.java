package io.kamille.perf.lab;

import io.kamille.perf.lab.TunedRun.Crowd;
import io.kamille.perf.load.PathClients.Fetcher;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Finding;
import io.kamille.perf.report.LineChart;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.wan.Namespaces;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** Fig. 6: what four connections are allowed over time, one of them on a slow path. */
final class AllocationOverTime {

  /*
   * The fast path's round trip is such that what the three on it want is about the budget, as it
   * was on the paper's Gigabit path. Connections 1 and 2 begin at once, 3 (the slow one)
   * and 4 later; the steady part begins some seconds after the fourth did.
   */
  private static final String FAST = "delay=8ms loss=0.01% rate=100mbit queue=200k";
  private static final String SLOW = "delay=8ms rate=10mbit queue=50k";
  private static final List<BufferWay> WAYS = List.of(BufferWay.WINDOW, BufferWay.EQUATION);
  private static final List<String> CLIENTS =
      List.of(
          Namespaces.address(1, 1),
          Namespaces.address(1, 2),
          Namespaces.address(2, 1),
          Namespaces.address(1, 3));
  private static final int SLOW_ONE = 2;

  /** The budget binds if it does so in a fifth of the looks. */
  private static final double BOUND_LOOKS = 0.2;

  private static final double MEGABIT = 8e-6;

  private static final Figure FAST_VARIATION = Figure.of("variation_fast");
  private static final Figure SLOW_VARIATION = Figure.of("variation_slow");
  private static final Figure FAST_MEAN = Figure.of("mean_kib_fast");
  private static final Figure SLOW_MEAN = Figure.of("mean_kib_slow");

  /** In how many looks the connections wanted more than the budget. */
  private static final Figure BOUND = Figure.of("bound_share");

  private static final List<Column> COLUMNS =
      List.of(
          Column.spread("variation, fast", FAST_VARIATION, 2),
          Column.spread("variation, slow", SLOW_VARIATION, 2),
          Column.median("KiB, fast", FAST_MEAN, 0),
          Column.median("KiB, slow", SLOW_MEAN, 0),
          Column.median("Mbit/s in all", TunedRun.GOODPUT.times(MEGABIT), 0),
          Column.median("wanted more than the budget", BOUND, 2));

  private final Experiment lab;
  private final Samples all = new Samples("", "way");
  private final Map<BufferWay, AllocationTrace> traces = new EnumMap<>(BufferWay.class);

  AllocationOverTime(Experiment lab) {
    this.lab = lab;
  }

  void measure(TunedRun runs, int rounds) throws IOException, InterruptedException {
    runs.spaces().segmentTrains(false);
    for (int round = 1; round <= rounds; round++) {
      for (BufferWay way : WAYS) {
        lab.step("allocation over time, %s, round %d", way.label, round);
        lab.keep("over-time.csv", all, run(runs, way, round));
      }
    }
    runs.spaces().segmentTrains(true);
  }

  private Sample run(TunedRun runs, BufferWay way, int round)
      throws IOException, InterruptedException {
    Duration third = runs.settling().dividedBy(3);
    var four =
        new Crowd()
            .with("fast", FAST, 1, 2, Fetcher.UNLIMITED)
            .link("slow", SLOW)
            .later("slow", 2, 1, third)
            .later("later", 1, 3, third.multipliedBy(2));
    var trace = new AllocationTrace();
    var sample =
        runs.measure(Sample.of("", way.label, round), way, TunedRun.PAPER_BUDGET, four, trace);
    traces.putIfAbsent(way, trace);
    double from = trace.seconds() - runs.counted().toSeconds();
    List<String> fast =
        IntStream.range(0, CLIENTS.size())
            .filter(i -> i != SLOW_ONE)
            .mapToObj(CLIENTS::get)
            .toList();
    String slow = CLIENTS.get(SLOW_ONE);
    return sample
        .with(FAST_VARIATION, mean(fast.stream().map(one -> trace.variation(one, from)).toList()))
        .with(SLOW_VARIATION, trace.variation(slow, from))
        .with(FAST_MEAN, mean(fast.stream().map(one -> trace.mean(one, from)).toList()))
        .with(SLOW_MEAN, trace.mean(slow, from))
        .with(BOUND, trace.boundShare(from, TunedRun.PAPER_BUDGET));
  }

  private static double mean(List<Double> values) {
    return values.stream().mapToDouble(Double::doubleValue).average().orElse(Double.NaN);
  }

  private Samples undisturbed() {
    return all.where(one -> !one.is(TunedRun.DISTURBED));
  }

  List<Finding> findings() {
    String claim = "Fig. 6: with ATBT allocations swing, with E-ATBT they are steady";
    Samples known = undisturbed();
    boolean isBound =
        !known.all().isEmpty()
            && known.all().stream().allMatch(one -> one.of(BOUND) >= BOUND_LOOKS);
    var swing = known.ratio(FAST_VARIATION, "", BufferWay.WINDOW.label, BufferWay.EQUATION.label);
    if (!isBound || swing.isEmpty()) {
      return List.of(Finding.untested(claim, "the budget did not bind, or runs were disturbed"));
    }
    double times = swing.get().median();
    return List.of(
        Finding.atLeast(
            claim,
            times,
            1.5,
            1.1,
            String.format(
                Locale.ROOT,
                "fast connections: ATBT varies %s times as much as E-ATBT",
                swing.get().text(1))));
  }

  void report(Report report) {
    report.heading("Allocation over time (Fig. 6)");
    report.paragraph(
        "Connections 1, 2 and 4 share 100 Mbit/s at a round trip of 16 ms, connection 3 has"
            + " 10 Mbit/s. The budget is 512 KiB. Variation: the standard deviation over the"
            + " steady part in parts of the mean. The kernel makes trains of one segment.");
    report.table(undisturbed().table("way", "", COLUMNS));
    for (BufferWay way : WAYS) {
      Optional.ofNullable(traces.get(way)).ifPresent(trace -> plot(report, way, trace));
    }
  }

  private static void plot(Report report, BufferWay way, AllocationTrace trace) {
    var chart = new LineChart("512 KiB for four connections, " + way.label, "seconds", "KiB");
    for (int i = 0; i < CLIENTS.size(); i++) {
      String name = "connection " + (i + 1) + (i == SLOW_ONE ? " (10 Mbit/s)" : "");
      chart.line(name, trace.of(CLIENTS.get(i)));
    }
    report.plot("allocation-" + way.name().toLowerCase(Locale.ROOT), chart);
  }
}
