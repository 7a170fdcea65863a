package io.kamille.perf.lab;

import io.kamille.perf.host.Child;
import io.kamille.perf.host.ContextSwitches;
import io.kamille.perf.host.RunTime;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.Neighbour;
import io.kamille.perf.load.PacedResponder;
import io.kamille.perf.load.PingPong;
import io.kamille.perf.peer.Jvm;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.LineChart;
import io.kamille.perf.report.LineChart.Axis;
import io.kamille.perf.report.LineChart.Point;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.report.Spread;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** Paper P3: what a busy wait before the loop blocks does to a round trip, and to a neighbour. */
final class BusyWait implements Experiment {

  /*
   * The server is a responder with one loop that echoes; each budget has a process of its own, all
   * on core 0, asked in turn from core 1. Only one has something to do at a time: the others sleep,
   * since a busy wait ends with its budget. The neighbour computes on core 0 and gets what is left.
   */

  /** How much, by scale. */
  private record Extent(int rounds, int trips, Duration limit) {

    private static Extent of(LabScale scale) {
      return switch (scale) {
        case QUICK -> new Extent(3, 5000, Duration.ofSeconds(3));
        case NORMAL -> new Extent(7, 20_000, Duration.ofSeconds(20));
        case FULL -> new Extent(7, 200_000, Duration.ofMinutes(5));
      };
    }
  }

  static final Paper PAPER =
      new Paper(
          "p3",
          "short busy wait: round trip, wake-ups, what a neighbour loses",
          "Nakagame and Ishikawa (Host networking for a guest, 2005) let a thread poll for up to"
              + " one jiffy before it sleeps for I/O: a ping-pong became faster, nearly all"
              + " wake-ups went away, and a neighbour that computes lost little. Which budget does"
              + " that for a loop today?",
          List.of(
              "ping-pong of 4 octets: 264 µs without a busy wait, 226 µs with one of a jiffy;"
                  + " between hosts 143 to 146 µs",
              "wake-ups in 200,000 ping-pongs: 199,983 without, 565 with one jiffy, 1 with ten",
              "a neighbour that computes, at 10 MB/s: 554 MFlops alone, 491, 489 and 475 with 0, 1"
                  + " and 10 jiffies"));

  private static final String ALONE = "alone";
  private static final String BESIDE = "beside a neighbour";

  private static final Figure P50 = Figure.of("p50_micros");
  private static final Figure P99 = Figure.of("p99_micros");

  /** Voluntary context switches of the server. */
  private static final Figure SLEEPS = Figure.of("sleeps_per_trip");

  private static final Figure CPU = Figure.of("cpu_micros_per_trip");

  /** How much of core 0 the neighbour got, 0 to 1; not known without a neighbour. */
  private static final Figure SHARE = Figure.of("neighbour_share");

  private static final List<Column> COLUMNS =
      List.of(
          Column.spread("round trip p50 µs", P50, 1),
          Column.spread("p99 µs", P99, 1),
          Column.spread("sleeps/trip", SLEEPS, 3),
          Column.spread("CPU µs/trip", CPU, 1),
          Column.spread("neighbour's share of the core %", SHARE.times(100), 1));

  private static final List<Integer> BUDGETS = List.of(0, 50, 200, 1000, 4000, 40_000);
  private static final long PAUSE_NANOS = 100_000;
  private static final int WARMING_TRIPS = 5000;
  private static final Duration WARMING_LIMIT = Duration.ofSeconds(2);
  private static final Duration START_LIMIT = Duration.ofSeconds(60);

  private final Extent extent;
  private final Samples samples = new Samples("situation", "budget_micros");

  BusyWait(LabScale scale) {
    this.extent = Extent.of(scale);
  }

  @Override
  public String setting() {
    return String.format(
        Locale.ROOT,
        "An echo server with one loop over native epoll on core 0, four octets to and fro over"
            + " loopback from core 1, which waits busily and pauses for 100 µs between two trips."
            + " %d rounds of %,d trips, or of %d s, for each budget, in turn; then the same with a"
            + " program on core 0 that computes all the time. Figures are medians. A jiffy was 10"
            + " ms in the paper's kernel; 4 ms and 40 ms are 1 and 10 of a kernel with 250 a"
            + " second.",
        extent.rounds(),
        extent.trips(),
        extent.limit().toSeconds());
  }

  @Override
  public int steps() {
    return 1 + 2 * extent.rounds() * BUDGETS.size();
  }

  /** A server with a budget. */
  private record Echo(int budgetMicros, Child process, PingPong ball) {}

  @Override
  public void measure(LabRun run) throws IOException, InterruptedException {
    try (var bench = Workbench.open()) {
      bench.moveTo(Core.OTHERS);
      run.step("start and warm up");
      Map<Integer, Echo> echoes = new LinkedHashMap<>();
      try {
        for (int budget : BUDGETS) {
          echoes.put(budget, start(bench, budget));
        }
        for (Echo echo : echoes.values()) {
          echo.ball().play(WARMING_TRIPS, 0, WARMING_LIMIT);
        }
        play(run, echoes, null);
        Child neighbour =
            bench.start("neighbour", Core.SERVER, Jvm.command(Neighbour.class, List.of(), 0));
        play(run, echoes, neighbour);
      } finally {
        for (Echo echo : echoes.values()) {
          echo.ball().close();
        }
      }
    }
  }

  private static Echo start(Workbench bench, int budget) throws IOException {
    int port = Workbench.freePort();
    List<String> options =
        List.of(
            "-D" + PacedResponder.TRANSPORT + "=epoll", "-D" + PacedResponder.SPIN + "=" + budget);
    Child process =
        bench.start(
            "echo-" + budget, Core.SERVER, Jvm.command(PacedResponder.class, options, port));
    process.awaitListening(port, START_LIMIT);
    return new Echo(budget, process, PingPong.open(port));
  }

  private void play(LabRun run, Map<Integer, Echo> echoes, @Nullable Child neighbour)
      throws IOException {
    for (int round = 1; round <= extent.rounds(); round++) {
      for (Echo echo : echoes.values()) {
        run.step(
            String.format(
                Locale.ROOT,
                "budget %,d µs%s, round %d",
                echo.budgetMicros(),
                neighbour == null ? "" : ", beside a neighbour",
                round));
        run.keep("trips.csv", samples, sample(echo, round, neighbour));
      }
    }
  }

  private Sample sample(Echo echo, int round, @Nullable Child neighbour) throws IOException {
    RunTime before = echo.process().runTime();
    long sleepsBefore = ContextSwitches.voluntary(echo.process().pid());
    RunTime neighbourBefore = neighbour == null ? null : neighbour.runTime();
    long begin = System.nanoTime();
    Histogram trips = echo.ball().play(extent.trips(), PAUSE_NANOS, extent.limit());
    long nanos = System.nanoTime() - begin;
    double share =
        neighbour == null || neighbourBefore == null
            ? Double.NaN
            : (double) neighbour.runTime().since(neighbourBefore).ranNanos() / nanos;
    long ran = echo.process().runTime().since(before).ranNanos();
    long sleeps = ContextSwitches.voluntary(echo.process().pid()) - sleepsBefore;
    double count = trips.getTotalCount();
    String budget = Integer.toString(echo.budgetMicros());
    return Sample.of(neighbour == null ? ALONE : BESIDE, budget, round)
        .with(P50, trips.getValueAtPercentile(50) / 1e3)
        .with(P99, trips.getValueAtPercentile(99) / 1e3)
        .with(SLEEPS, sleeps / count)
        .with(CPU, ran / 1e3 / count)
        .with(SHARE, share);
  }

  @Override
  public void report(Report report) {
    tell(report, "Alone on the core", ALONE);
    tell(report, "Beside a neighbour that computes", BESIDE);
    report.heading("What holds today and what does not").items(findings());
  }

  /** Each budget against none, by medians. */
  private List<String> findings() {
    var findings = new ArrayList<String>();
    for (String situation : List.of(ALONE, BESIDE)) {
      for (String budget : measured(situation)) {
        if (!budget.equals("0") && !samples.of(situation, "0").isEmpty()) {
          findings.add(finding(situation, budget));
        }
      }
    }
    return findings;
  }

  private String finding(String situation, String budget) {
    String text =
        String.format(
            Locale.ROOT,
            "%s, %s µs: round trip %+.0f %% (the paper's with one jiffy: -14 %%), %.3f sleeps per"
                + " trip where there were %.3f",
            situation,
            budget,
            (median(P50, situation, budget) / median(P50, situation, "0") - 1) * 100,
            median(SLEEPS, situation, budget),
            median(SLEEPS, situation, "0"));
    if (situation.equals(ALONE)) {
      return text;
    }
    return text
        + String.format(
            Locale.ROOT,
            "; the neighbour has %.1f %% of the core, %.1f %% without a busy wait",
            median(SHARE, situation, budget) * 100,
            median(SHARE, situation, "0") * 100);
  }

  private double median(Figure figure, String situation, String budget) {
    return samples.spread(figure, situation, budget).map(Spread::median).orElse(Double.NaN);
  }

  private List<String> measured(String situation) {
    return samples.where(one -> one.situation().equals(situation)).servers();
  }

  private void tell(Report report, String heading, String situation) {
    List<String> budgets = measured(situation);
    if (budgets.isEmpty()) {
      return;
    }
    report.heading(heading).table(samples.table("budget µs", situation, COLUMNS));
    if (budgets.size() > 1) {
      String name = situation.equals(ALONE) ? "round-trip" : "round-trip-neighbour";
      report.plot(name, chart(budgets, heading, situation));
    }
  }

  private String chart(List<String> budgets, String heading, String situation) {
    double highest = samples.where(one -> one.situation().equals(situation)).greatest(P99);
    var chart =
        new LineChart(
            heading + ": round trip",
            new Axis("budget, number in the table's order", 0, budgets.size() - 1),
            new Axis("µs", 0, Math.max(1, highest)));
    for (Figure figure : List.of(P50, P99)) {
      var points = new ArrayList<Point>();
      for (int i = 0; i < budgets.size(); i++) {
        points.add(new Point(i, median(figure, situation, budgets.get(i))));
      }
      chart.line(figure.equals(P50) ? "p50" : "p99", points);
    }
    return chart.svg();
  }
}
