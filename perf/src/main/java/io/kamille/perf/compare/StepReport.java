package io.kamille.perf.compare;

import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadWindow;
import io.kamille.perf.load.RateSchedule;
import io.kamille.perf.report.Spread;
import io.kamille.perf.report.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Latency over time while the load jumps up and down again. */
final class StepReport {

  private static final String TITLES =
      "way,round,begin_millis,offered_rate,completed,p50_micros,p99_micros,max_micros";

  /** One way of pacing in one round. */
  record Run(String way, int round, LoadResult load) {}

  private final RateSchedule schedule;
  private final List<String> ways;
  private final List<Run> runs = new ArrayList<>();

  StepReport(RateSchedule schedule, List<String> ways) {
    this.schedule = schedule;
    this.ways = ways;
  }

  void add(Run run) {
    runs.add(run);
  }

  /** Prints a line for each window, medians of the rounds, and the worst window of each way. */
  void print() {
    var titles = new ArrayList<>(List.of("ms", "offered/s"));
    ways.forEach(way -> titles.addAll(List.of(way + " p50 µs", "p99 µs", "max µs")));
    var table = new Table(titles.toArray(String[]::new));
    for (int i = 0; i < runs.getFirst().load().windows().size(); i++) {
      table.row(row(i));
    }
    System.out.println();
    System.out.println(table);
    for (String way : ways) {
      System.out.printf(
          Locale.ROOT,
          "%s: p99 of the worst window %s µs, failed %d%n",
          way,
          Spread.of(of(way), run -> worst(run.load())).text(0),
          of(way).stream().mapToLong(run -> run.load().failed()).sum());
    }
    runs.stream()
        .filter(run -> run.load().isSaturated())
        .forEach(
            run ->
                System.out.println(
                    "note: "
                        + run.way()
                        + ", round "
                        + run.round()
                        + ": the client was at its limit or was disturbed"));
  }

  private List<String> row(int index) {
    long begin = runs.getFirst().load().windows().get(index).beginNanos();
    var cells = new ArrayList<String>();
    cells.add(Long.toString(begin / 1_000_000));
    cells.add(String.format(Locale.ROOT, "%.0f", schedule.ratePerSecond(begin)));
    for (String way : ways) {
      cells.add(median(way, index, window -> micros(window, 50)));
      cells.add(median(way, index, window -> micros(window, 99)));
      cells.add(median(way, index, window -> micros(window, 100)));
    }
    return cells;
  }

  /** The median of the rounds in which any request of that window was answered. */
  private String median(String way, int index, ToDoubleFunction<LoadWindow> property) {
    List<LoadWindow> windows =
        of(way).stream()
            .map(run -> run.load().windows().get(index))
            .filter(window -> window.latency().getTotalCount() > 0)
            .toList();
    return windows.isEmpty()
        ? "–"
        : String.format(Locale.ROOT, "%.0f", Spread.of(windows, property).median());
  }

  private List<Run> of(String way) {
    return runs.stream().filter(run -> run.way().equals(way)).toList();
  }

  private static double worst(LoadResult load) {
    return load.windows().stream().mapToDouble(window -> micros(window, 99)).max().orElse(0);
  }

  private static double micros(LoadWindow window, double percentile) {
    return window.latency().getValueAtPercentile(percentile) / 1e3;
  }

  String csv(Map<String, String> facts) {
    return RawData.csv(
        facts,
        TITLES,
        runs.stream().flatMap(run -> run.load().windows().stream().map(w -> line(run, w))));
  }

  private String line(Run run, LoadWindow window) {
    return RawData.line(
        run.way(),
        run.round(),
        window.beginNanos() / 1_000_000,
        Math.round(schedule.ratePerSecond(window.beginNanos())),
        window.latency().getTotalCount(),
        micros(window, 50),
        micros(window, 99),
        micros(window, 100));
  }
}
