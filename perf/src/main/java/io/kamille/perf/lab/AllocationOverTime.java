package io.kamille.perf.lab;

import io.kamille.perf.lab.TunedRun.Crowd;
import io.kamille.perf.load.PathClients.Fetcher;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Finding;
import io.kamille.perf.report.LineChart;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Samples;
import io.kamille.perf.wan.Namespaces;
import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/** Fig. 6: what four connections are allowed over time, one of them on a slow path. */
final class AllocationOverTime {

  /*
   * Random losses make windows swing around an equal part of the budget. Above it in every look,
   * all would get an equal part, by ATBT and E-ATBT alike; below it, there is no lack.
   *
   * Connections 1 and 2 begin at once, 3 (the slow one) and 4 later. An estimate is a mean of 8 s,
   * so the steady part begins some seconds after the fourth did.
   */
  private static final String FAST = "delay=8ms loss=0.03% rate=100mbit queue=400k";
  private static final String SLOW = "delay=8ms rate=10mbit queue=20k";
  private static final List<BufferWay> WAYS = List.of(BufferWay.WINDOW, BufferWay.EQUATION);
  private static final List<String> FAST_ONES =
      List.of(Namespaces.address(1, 1), Namespaces.address(1, 2), Namespaces.address(1, 3));
  private static final String SLOW_ONE = Namespaces.address(2, 1);
  private static final int SETTLING_SECONDS = 12;

  /** The budget binds if it does so in a fifth of the looks. */
  private static final double BOUND_LOOKS = 0.2;

  private static final double MEGABIT = 8e-6;
  private static final String FOUR = "4";

  private static final Figure VARIATION = Figure.of("variation_fast");
  private static final Figure MEAN = Figure.of("mean_kib_fast");
  private static final Figure SLOW_MEAN = Figure.of("mean_kib_slow");

  /** In how many looks the connections wanted more than the budget. */
  private static final Figure BOUND = Figure.of("bound_share");

  private static final List<Column> COLUMNS =
      List.of(
          Column.spread("variation, fast", VARIATION, 2),
          Column.median("KiB, fast", MEAN, 0),
          Column.median("KiB, slow", SLOW_MEAN, 0),
          Column.median("Mbit/s in all", TunedRun.GOODPUT.times(MEGABIT), 0),
          Column.median("wanted more than the budget", BOUND, 2));

  private final PathStep step;
  private final Map<BufferWay, AllocationTrace> traces = new EnumMap<>(BufferWay.class);

  AllocationOverTime(Experiment lab) {
    step = new PathStep(lab, "over-time", "connections");
  }

  void measure(TunedRun runs, int seconds, int rounds) throws IOException, InterruptedException {
    runs.spaces().segmentTrains(false);
    for (int round = 1; round <= rounds; round++) {
      for (BufferWay way : WAYS) {
        run(runs.lasting(SETTLING_SECONDS, seconds), way, round);
      }
    }
    runs.spaces().segmentTrains(true);
  }

  private void run(TunedRun runs, BufferWay way, int round)
      throws IOException, InterruptedException {
    var four =
        new Crowd(TunedRun.OBJECT_BYTES)
            .with("fast", FAST, 2, 2, Fetcher.UNLIMITED)
            .link(SLOW)
            .add("slow", SLOW_ONE, Fetcher.UNLIMITED, 1500)
            .add("fast", FAST_ONES.getLast(), Fetcher.UNLIMITED, 3000);
    var trace = new AllocationTrace();
    var sample = runs.measure(step.begin(round, 4, way), way, TunedRun.PAPER_BUDGET, four, trace);
    traces.putIfAbsent(way, trace);
    double from = trace.seconds() - runs.counted().toSeconds();
    step.keep(
        sample
            .with(VARIATION, ofFast(one -> trace.variation(one, from)))
            .with(MEAN, ofFast(one -> trace.mean(one, from)))
            .with(SLOW_MEAN, trace.mean(SLOW_ONE, from))
            .with(BOUND, trace.boundShare(from, TunedRun.PAPER_BUDGET)));
  }

  private static double ofFast(ToDoubleFunction<String> figure) {
    return FAST_ONES.stream().mapToDouble(figure).average().orElseThrow();
  }

  List<Finding> findings() {
    String claim = "Fig. 6: with ATBT allocations swing, with E-ATBT hardly: ATBT ÷ E-ATBT";
    Samples known = step.undisturbed();
    Optional<String> why =
        known.all().stream().allMatch(one -> one.of(BOUND) >= BOUND_LOOKS)
            ? Optional.empty()
            : Optional.of("the budget did not bind");
    return List.of(
        step.compared(claim, VARIATION, BufferWay.WINDOW, BufferWay.EQUATION, 1.5, 1.1).unless(why),
        Finding.atLeast(
                "Fig. 6: with E-ATBT a fast connection gets more than the slow one: fast ÷ slow",
                known.spread(MEAN.per(SLOW_MEAN), FOUR, BufferWay.EQUATION.label),
                1.5,
                1.1)
            .unless(why));
  }

  void report(Report report) {
    step.report(
        report,
        "Allocation over time (Fig. 6)",
        "Connections 1, 2 and 4 share 100 Mbit/s at a round trip of 16 ms and a loss of 0.03 %,"
            + " connection 3 has 10 Mbit/s. The budget is 512 KiB. Variation: the standard"
            + " deviation over the steady part in parts of the mean. The kernel makes trains of"
            + " one segment.",
        COLUMNS);
    traces.forEach(
        (way, trace) -> {
          var chart = new LineChart("512 KiB for four connections, " + way.label, "seconds", "KiB");
          for (int i = 0; i < FAST_ONES.size(); i++) {
            chart.line("fast " + (i + 1), trace.of(FAST_ONES.get(i)));
          }
          chart.line("10 Mbit/s", trace.of(SLOW_ONE));
          report.plot("allocation-" + way.name().toLowerCase(Locale.ROOT), chart);
        });
  }
}
