package io.kamille.perf.lab;

import io.kamille.perf.lab.PeakSeries.Sort;
import io.kamille.perf.lab.PeakShape.Stretch;
import io.kamille.perf.report.LineChart;
import io.kamille.perf.report.LineChart.Axis;
import io.kamille.perf.report.LineChart.Point;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiFunction;
import java.util.function.ToDoubleBiFunction;

/** All runs of the experiment, and what is said of them. Any thread. */
final class PeakRuns {

  /** Issue 5: at the peak, in units of off the peak. */
  static final double FLAT = 1.2;

  /** The same of what the paper found unusable. */
  static final double STEEP = 5;

  /** A transient is a second whose median is so many times that off the peak. */
  static final double SPIKE = 2;

  static final int SPIKE_SECONDS = 1;

  /** Hits alone look flat where those that would wait for the disk are left to the origin. */
  private static final String REPEATED =
      "median of repeated requests (a read that takes too long is a miss)";

  private final List<PeakRun> all = new CopyOnWriteArrayList<>();

  void add(PeakRun run) {
    all.add(run);
  }

  private List<PeakShape> shapes() {
    return all.stream().map(PeakRun::shape).distinct().toList();
  }

  private List<PeakRun> of(PeakShape shape) {
    return all.stream().filter(run -> run.shape().equals(shape)).toList();
  }

  /** Everything that was found out. */
  void report(Report report) {
    for (PeakShape shape : shapes()) {
      report.heading("Load: " + shape.text());
      report.paragraph("Time to the first octet of hits, in milliseconds.");
      report.table(times(shape, Sort.HITS));
      report.paragraph(
          "The same of all requests for what had been asked for before, also if the origin answered.");
      report.table(times(shape, Sort.REPEATS));
      report.paragraph(
          "Transients: the largest median of a second of repeated requests in units of that off the peak,"
              + " and for how many seconds in a row the median was above twice that or every request"
              + " failed.");
      report.table(transients(shape));
      report.paragraph("What was answered, off the peak and at it.");
      report.table(answers(shape));
      plot(report, shape, "hits", "Hits: median time to the first octet", this::medianOfHits);
      plot(report, shape, "hits-p90", "Hits: 90th percentile", this::p90OfHits);
      plot(report, shape, "repeats", "Repeated requests: median", this::medianOfRepeats);
      plotHitRatio(report, shape);
    }
    List<String> transitions = all.stream().flatMap(run -> run.transitions().stream()).toList();
    if (!transitions.isEmpty()) {
      report.heading("When the mode changed").items(transitions);
    }
    report.heading("Goals").items(goals());
  }

  private Table times(PeakShape shape, Sort sort) {
    var table =
        new Table(
            "mode",
            "off-peak p50",
            "off-peak p99",
            "peak p50",
            "peak p99",
            "after p50",
            "peak/off p50",
            "peak/off p90",
            "peak/off p99");
    for (PeakRun run : of(shape)) {
      PeakSeries series = run.series();
      table.row(
          List.of(
              run.mode().label(),
              number(series.millis(shape.offPeak(), sort, 50), 2),
              number(series.millis(shape.offPeak(), sort, 99), 1),
              number(series.millis(shape.peak(), sort, 50), 2),
              number(series.millis(shape.peak(), sort, 99), 1),
              number(series.millis(shape.after(), sort, 50), 2),
              number(run.ratio(sort, 50), 2),
              number(run.ratio(sort, 90), 2),
              number(run.ratio(sort, 99), 2)));
    }
    return table;
  }

  private Table transients(PeakShape shape) {
    var table = new Table("mode", "into ×", "into s > 2×", "out of ×", "out of s > 2×");
    for (PeakRun run : of(shape)) {
      table.row(
          List.of(
              run.mode().label(),
              number(run.spike(shape.into(), Sort.REPEATS), 2),
              Integer.toString(run.secondsAbove(shape.into(), Sort.REPEATS, SPIKE)),
              number(run.spike(shape.outOf(), Sort.REPEATS), 2),
              Integer.toString(run.secondsAbove(shape.outOf(), Sort.REPEATS, SPIKE))));
    }
    return table;
  }

  private Table answers(PeakShape shape) {
    var table =
        new Table(
            "mode",
            "off replies/s",
            "peak replies/s",
            "off hits %",
            "peak hits %",
            "off from memory %",
            "peak from memory %",
            "failed",
            "on disk");
    for (PeakRun run : of(shape)) {
      PeakSeries series = run.series();
      table.row(
          List.of(
              run.mode().label() + (run.isClientLimited() ? " *" : ""),
              number(series.rate(shape.offPeak()), 0),
              number(series.rate(shape.peak()), 0),
              number(series.hitRatio(shape.offPeak()) * 100, 1),
              number(series.hitRatio(shape.peak()) * 100, 1),
              number(series.memoryShare(shape.offPeak()) * 100, 0),
              number(series.memoryShare(shape.peak()) * 100, 0),
              Long.toString(run.failures()),
              Long.toString(run.diskRecords())));
    }
    return table;
  }

  /** Sentences about what had to be reached. */
  List<String> goals() {
    var goals = new ArrayList<String>();
    for (PeakShape shape : shapes()) {
      find(shape, PeakMode.AUTO)
          .ifPresent(
              run -> {
                goals.add(
                    goal(
                        run,
                        REPEATED + " at the peak at most " + FLAT + " times that off it",
                        run.ratio(Sort.REPEATS, 50),
                        run.ratio(Sort.REPEATS, 50) <= FLAT));
                goals.add(spikeGoal(run, shape.into(), "into the peak"));
                goals.add(spikeGoal(run, shape.outOf(), "out of the peak"));
              });
      find(shape, PeakMode.DISK)
          .ifPresent(
              run ->
                  goals.add(
                      goal(
                          run,
                          REPEATED + " at the peak at least " + STEEP + " times that off it",
                          run.ratio(Sort.REPEATS, 50),
                          run.ratio(Sort.REPEATS, 50) >= STEEP)));
    }
    return goals;
  }

  private static String spikeGoal(PeakRun run, Stretch stretch, String where) {
    int seconds = run.secondsAbove(stretch, Sort.REPEATS, SPIKE);
    return goal(
        run,
        "on the way " + where + " no more than a second above twice the median off it; seconds",
        seconds,
        seconds <= SPIKE_SECONDS);
  }

  private static String goal(PeakRun run, String what, double value, boolean isReached) {
    return String.format(
        Locale.ROOT,
        "%s, %s: %s: %s (%s)",
        run.mode().label(),
        run.shape().label(),
        what,
        number(value, 2),
        isReached ? "reached" : "missed");
  }

  private Optional<PeakRun> find(PeakShape shape, PeakMode mode) {
    return of(shape).stream().filter(run -> run.mode() == mode).findFirst();
  }

  private double medianOfHits(PeakSeries series, int second) {
    return series.millis(second, Sort.HITS, 50);
  }

  private double p90OfHits(PeakSeries series, int second) {
    return series.millis(second, Sort.HITS, 90);
  }

  private double medianOfRepeats(PeakSeries series, int second) {
    return series.millis(second, Sort.REPEATS, 50);
  }

  private void plot(
      Report report,
      PeakShape shape,
      String file,
      String title,
      BiFunction<PeakSeries, Integer, Double> value) {
    chart(shape, title + ", " + shape.label(), Axis.logarithmic("ms", 0.1, 10_000), value::apply)
        .ifPresent(svg -> report.plot(shape.label() + "-" + file, svg));
  }

  private void plotHitRatio(Report report, PeakShape shape) {
    chart(
            shape,
            "Hits among answers, " + shape.label(),
            new Axis("%", 0, 100),
            (series, second) -> series.hitRatio(new Stretch(second, second + 1)) * 100)
        .ifPresent(svg -> report.plot(shape.label() + "-hit-ratio", svg));
  }

  private Optional<String> chart(
      PeakShape shape, String title, Axis axis, ToDoubleBiFunction<PeakSeries, Integer> value) {
    var chart = new LineChart(title, new Axis("s", 0, shape.seconds()), axis);
    boolean isAny = false;
    for (PeakRun run : of(shape)) {
      var points = new ArrayList<Point>();
      for (int second = 0; second < run.series().seconds(); second++) {
        double y = value.applyAsDouble(run.series(), second);
        if (Double.isFinite(y)) {
          points.add(new Point(second, y));
        }
      }
      if (!points.isEmpty()) {
        chart.line(run.mode().label(), points);
        isAny = true;
      }
    }
    return isAny ? Optional.of(chart.svg()) : Optional.empty();
  }

  private static String number(double value, int decimals) {
    return Double.isNaN(value) ? "–" : String.format(Locale.ROOT, "%." + decimals + "f", value);
  }
}
