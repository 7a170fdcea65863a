package io.kamille.perf.lab;

import static io.kamille.perf.compare.LoadFigures.FAILED;
import static io.kamille.perf.compare.LoadFigures.MEAN;
import static io.kamille.perf.compare.LoadFigures.P50;
import static io.kamille.perf.compare.LoadFigures.P99;
import static io.kamille.perf.compare.LoadFigures.RATE;

import io.kamille.perf.compare.LoadFigures;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Comparison;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The matrix of rate and interval for each setting, which is a server and how it is asked; and the
 * findings. Any thread.
 */
final class PacedPoints {

  private static final Figure SETTING = Figure.of("setting");

  /** Of the server for each right reply. */
  private static final Figure CPU = Figure.of("cpu_micros");

  /** Of that CPU time, 0 to 1. */
  private static final Figure KERNEL_SHARE = Figure.of("kernel_share");

  private static final Figure POLLS = Figure.of("polls_per_second");
  private static final Figure EVENTS = Figure.of("events_per_poll");

  private static final List<Column> COLUMNS =
      List.of(
          Column.median("replies/s", RATE, 0),
          Column.sum("failed", FAILED),
          Column.median("mean ms", MEAN.times(1e-3), 2),
          Column.median("p50 ms", P50.times(1e-3), 2),
          Column.median("p99 ms", P99.times(1e-3), 2),
          Column.median("CPU µs/reply", CPU, 1),
          Column.median("kernel %", KERNEL_SHARE.times(100), 0),
          Column.median("polls/s", POLLS, 0),
          Column.median("events/poll", EVENTS, 1),
          new Column(
              "client at its limit",
              all ->
                  all.rounds().stream().anyMatch(one -> one.is(LoadFigures.LIMITED)) ? "*" : ""));

  private final Map<String, Samples> settings = new ConcurrentHashMap<>();

  /** What one setting showed so far. */
  Samples of(String setting) {
    return settings.computeIfAbsent(setting, _ -> new Samples("rate", "interval_micros"));
  }

  /** One cell of the matrix in one round. */
  static Sample sample(
      String setting,
      int rate,
      int intervalMicros,
      int round,
      LoadResult load,
      PacedTarget.Taken taken) {
    PacedTarget.Polls made = taken.polls();
    double seconds = load.nanos() / 1e9;
    long ticks = taken.cpu().userTicks() + taken.cpu().kernelTicks();
    var sample =
        Sample.of(Integer.toString(rate), Integer.toString(intervalMicros), round)
            .with(SETTING, setting);
    return LoadFigures.with(sample, load)
        .with(CPU, load.completed() == 0 ? Double.NaN : taken.ranNanos() / 1e3 / load.completed())
        .with(KERNEL_SHARE, ticks == 0 ? Double.NaN : (double) taken.cpu().kernelTicks() / ticks)
        .with(POLLS, made.polls() < 0 ? Double.NaN : made.polls() / seconds)
        .with(EVENTS, made.polls() <= 0 ? Double.NaN : (double) made.events() / made.polls());
  }

  /** An interval in milliseconds, without needless digits. */
  static String millis(int micros) {
    return String.format(Locale.ROOT, micros % 1000 == 0 ? "%.0f" : "%.1f", micros / 1e3);
  }

  /**
   * Medians, a row for each rate and interval; mean response time and CPU time over the rate, a
   * line for each interval.
   */
  void report(String setting, Report report) {
    Samples here = of(setting);
    if (here.all().isEmpty()) {
      return;
    }
    String file = setting.replaceAll("[^A-Za-z0-9]+", "-").toLowerCase(Locale.ROOT);
    String across = "requests offered per second";
    report.heading(setting).table(here.wholeTable("interval µs", "offered/s", COLUMNS));
    report.plot(
        file + "-mean",
        here.chart(
            setting + ": mean response time, by interval in µs", across, "ms", MEAN.times(1e-3)));
    report.plot(
        file + "-cpu",
        here.chart(setting + ": CPU time for a reply, by interval in µs", across, "µs", CPU));
  }

  /**
   * Sentences about the highest rate, where the interval that serves most replies is compared with
   * none, and about CPU time at the rate in the middle.
   */
  List<String> findings(String setting) {
    List<Integer> rates = of(setting).situations().stream().map(Integer::valueOf).toList();
    var findings = new ArrayList<String>();
    if (rates.isEmpty()) {
      return findings;
    }
    int top = rates.getLast();
    int middle = rates.get(rates.size() / 2);
    best(setting, top, RATE, 1)
        .flatMap(interval -> sentence(setting, top, interval, "replies/s", RATE))
        .ifPresent(findings::add);
    best(setting, middle, CPU, -1)
        .flatMap(interval -> sentence(setting, middle, interval, "CPU time/reply", CPU))
        .ifPresent(findings::add);
    return findings;
  }

  /** The interval with the greatest median of a figure, or the least if {@code sign} is −1. */
  private Optional<String> best(String setting, int rate, Figure figure, int sign) {
    return of(setting).servers().stream()
        .filter(interval -> !interval.equals("0"))
        .filter(interval -> median(setting, rate, interval, figure).isPresent())
        .max(
            Comparator.comparingDouble(
                interval -> sign * median(setting, rate, interval, figure).orElseThrow()));
  }

  private Optional<Double> median(String setting, int rate, String interval, Figure figure) {
    return of(setting)
        .spread(figure, Integer.toString(rate), interval)
        .map(known -> known.median());
  }

  private Optional<String> sentence(
      String setting, int rate, String interval, String what, Figure figure) {
    return of(setting)
        .ratio(figure, Integer.toString(rate), interval, "0")
        .map(
            ratio ->
                String.format(
                    Locale.ROOT,
                    "%s at %,d requests/s offered: with %s ms between two polls, %s %s",
                    setting,
                    rate,
                    millis(Integer.parseInt(interval)),
                    what,
                    new Comparison(ratio).text()));
  }
}
