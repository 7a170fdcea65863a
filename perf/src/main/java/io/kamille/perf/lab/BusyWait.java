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
import io.kamille.perf.report.LineChart;
import io.kamille.perf.report.LineChart.Axis;
import io.kamille.perf.report.LineChart.Point;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Spread;
import io.kamille.perf.report.Table;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** Paper P3: what a busy wait before the loop blocks does to a round trip, and to a neighbour. */
final class BusyWait implements Experiment {

  /*
   * The server is a responder with one loop that echoes; each budget has a process of its own, all on
   * core 0, asked in turn from core 1. Only one has something to do at a time: the others sleep, since
   * a busy wait ends with its budget. The neighbour computes on core 0 and gets what is left.
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

  /**
   * One budget in one round.
   *
   * @param sleepsPerTrip voluntary context switches of the server
   * @param cpuMicrosPerTrip of the server
   * @param neighbourShare how much of core 0 the neighbour got, 0 to 1; NaN without a neighbour
   */
  private record Sample(
      int budgetMicros,
      int round,
      boolean hasNeighbour,
      double p50Micros,
      double p99Micros,
      double sleepsPerTrip,
      double cpuMicrosPerTrip,
      double neighbourShare) {

    private static final String TITLES =
        "budget_micros,round,has_neighbour,p50_micros,p99_micros,sleeps_per_trip,"
            + "cpu_micros_per_trip,neighbour_share";

    private String line() {
      return String.format(
          Locale.ROOT,
          "%d,%d,%b,%.2f,%.2f,%.4f,%.2f,%s",
          budgetMicros,
          round,
          hasNeighbour,
          p50Micros,
          p99Micros,
          sleepsPerTrip,
          cpuMicrosPerTrip,
          hasNeighbour ? String.format(Locale.ROOT, "%.4f", neighbourShare) : "");
    }
  }

  private static final List<Integer> BUDGETS = List.of(0, 50, 200, 1000, 4000, 40_000);
  private static final long PAUSE_NANOS = 100_000;
  private static final int WARMING_TRIPS = 5000;
  private static final Duration WARMING_LIMIT = Duration.ofSeconds(2);
  private static final Duration START_LIMIT = Duration.ofSeconds(60);

  private final Extent extent;
  private final List<Sample> samples = new CopyOnWriteArrayList<>();

  BusyWait(LabScale scale) {
    this.extent = Extent.of(scale);
  }

  @Override
  public String name() {
    return "p3";
  }

  @Override
  public String title() {
    return "short busy wait: round trip, wake-ups, what a neighbour loses";
  }

  @Override
  public String question() {
    return "Nakagame and Ishikawa (Host networking for a guest, 2005) let a thread poll for up to one"
        + " jiffy before it sleeps for I/O: a ping-pong became faster, nearly all wake-ups went away,"
        + " and a neighbour that computes lost little. Which budget does that for a loop today?";
  }

  @Override
  public String setting() {
    return String.format(
        Locale.ROOT,
        "An echo server with one loop over native epoll on core 0, four octets to and fro over loopback"
            + " from core 1, which waits busily and pauses for 100 µs between two trips. %d rounds of %,d"
            + " trips, or of %d s, for each budget, in turn; then the same with a program on core 0 that computes all the"
            + " time. Figures are medians. A jiffy was 10 ms in the paper's kernel; 4 ms and 40 ms are 1 and 10"
            + " of a kernel with 250 a second.",
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
        Sample sample = sample(echo, round, neighbour);
        samples.add(sample);
        run.keep("trips.csv", Sample.TITLES, sample.line());
      }
    }
  }

  private Sample sample(Echo echo, int round, @Nullable Child neighbour) throws IOException {
    RunTime before = echo.process().runTime();
    long sleepsBefore = ContextSwitches.of(echo.process().pid()).voluntary();
    RunTime neighbourBefore = neighbour == null ? null : neighbour.runTime();
    long begin = System.nanoTime();
    Histogram trips = echo.ball().play(extent.trips(), PAUSE_NANOS, extent.limit());
    long nanos = System.nanoTime() - begin;
    double share =
        neighbour == null || neighbourBefore == null
            ? Double.NaN
            : (double) neighbour.runTime().since(neighbourBefore).ranNanos() / nanos;
    long ran = echo.process().runTime().since(before).ranNanos();
    long sleeps = ContextSwitches.of(echo.process().pid()).voluntary() - sleepsBefore;
    return new Sample(
        echo.budgetMicros(),
        round,
        neighbour != null,
        trips.getValueAtPercentile(50) / 1e3,
        trips.getValueAtPercentile(99) / 1e3,
        (double) sleeps / trips.getTotalCount(),
        ran / 1e3 / trips.getTotalCount(),
        share);
  }

  @Override
  public void report(Report report) {
    report.heading("The paper's figures");
    report.items(
        List.of(
            "ping-pong of 4 octets: 264 µs without a busy wait, 226 µs with one of a jiffy; between hosts"
                + " 143 to 146 µs",
            "wake-ups in 200,000 ping-pongs: 199,983 without, 565 with one jiffy, 1 with ten",
            "a neighbour that computes, at 10 MB/s: 554 MFlops alone, 491, 489 and 475 with 0, 1 and 10"
                + " jiffies"));
    tell(report, "Alone on the core", false);
    tell(report, "Beside a neighbour that computes", true);
    report.heading("What holds today and what does not").items(findings());
  }

  /** Each budget against none, by medians. */
  private List<String> findings() {
    var findings = new ArrayList<String>();
    for (boolean hasNeighbour : new boolean[] {false, true}) {
      if (of(0, hasNeighbour).isEmpty()) {
        continue;
      }
      for (int budget : BUDGETS.subList(1, BUDGETS.size())) {
        if (!of(budget, hasNeighbour).isEmpty()) {
          findings.add(finding(budget, hasNeighbour));
        }
      }
    }
    return findings;
  }

  private String finding(int budget, boolean hasNeighbour) {
    String text =
        String.format(
            Locale.ROOT,
            "%s, %,d µs: round trip %+.0f %% (the paper's with one jiffy: -14 %%), %.3f sleeps per trip"
                + " where there were %.3f",
            hasNeighbour ? "beside a neighbour" : "alone",
            budget,
            (median(budget, hasNeighbour, Sample::p50Micros)
                        / median(0, hasNeighbour, Sample::p50Micros)
                    - 1)
                * 100,
            median(budget, hasNeighbour, Sample::sleepsPerTrip),
            median(0, hasNeighbour, Sample::sleepsPerTrip));
    if (!hasNeighbour) {
      return text;
    }
    return text
        + String.format(
            Locale.ROOT,
            "; the neighbour has %.1f %% of the core, %.1f %% without a busy wait",
            median(budget, true, Sample::neighbourShare) * 100,
            median(0, true, Sample::neighbourShare) * 100);
  }

  private double median(int budget, boolean hasNeighbour, ToDoubleFunction<Sample> property) {
    return Spread.of(of(budget, hasNeighbour), property).median();
  }

  private void tell(Report report, String heading, boolean hasNeighbour) {
    List<Integer> measured =
        BUDGETS.stream().filter(budget -> !of(budget, hasNeighbour).isEmpty()).toList();
    if (measured.isEmpty()) {
      return;
    }
    var table =
        new Table(
            "budget µs",
            "round trip p50 µs",
            "p99 µs",
            "sleeps/trip",
            "CPU µs/trip",
            "neighbour's share of the core %");
    for (int budget : measured) {
      List<Sample> rounds = of(budget, hasNeighbour);
      table.row(
          List.of(
              String.format(Locale.ROOT, "%,d", budget),
              Spread.of(rounds, Sample::p50Micros).text(1),
              Spread.of(rounds, Sample::p99Micros).text(1),
              Spread.of(rounds, Sample::sleepsPerTrip).text(3),
              Spread.of(rounds, Sample::cpuMicrosPerTrip).text(1),
              hasNeighbour
                  ? Spread.of(rounds, sample -> sample.neighbourShare() * 100).text(1)
                  : "–"));
    }
    report.heading(heading).table(table);
    if (measured.size() > 1) {
      report.plot(hasNeighbour ? "round-trip-neighbour" : "round-trip", chart(measured, heading));
    }
  }

  private String chart(List<Integer> budgets, String heading) {
    boolean hasNeighbour = heading.startsWith("Beside");
    double highest =
        samples.stream()
            .filter(sample -> sample.hasNeighbour() == hasNeighbour)
            .mapToDouble(Sample::p99Micros)
            .max()
            .orElse(1);
    var chart =
        new LineChart(
            heading + ": round trip",
            new Axis("budget, number in the table's order", 0, Math.max(1, budgets.size() - 1)),
            new Axis("µs", 0, Math.max(1, highest)));
    chart.line("p50", line(budgets, hasNeighbour, Sample::p50Micros));
    chart.line("p99", line(budgets, hasNeighbour, Sample::p99Micros));
    return chart.svg();
  }

  private List<Point> line(
      List<Integer> budgets, boolean hasNeighbour, ToDoubleFunction<Sample> property) {
    var points = new ArrayList<Point>();
    for (int i = 0; i < budgets.size(); i++) {
      points.add(new Point(i, Spread.of(of(budgets.get(i), hasNeighbour), property).median()));
    }
    return points;
  }

  private List<Sample> of(int budget, boolean hasNeighbour) {
    return samples.stream()
        .filter(s -> s.budgetMicros() == budget && s.hasNeighbour() == hasNeighbour)
        .toList();
  }
}
