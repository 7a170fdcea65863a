package io.kamille.perf.lab;

import io.kamille.perf.lab.PeakSeries.Sort;
import io.kamille.perf.lab.PeakShape.Stretch;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.LineChart.Axis;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.report.Spread;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * All runs of the experiment, and what is said of them. A sample's situation is the load, its
 * server the mode. Any thread.
 */
final class PeakRuns {

  /** Issue 5: at the peak, in units of off the peak. */
  private static final double FLAT = 1.2;

  /** The same of what the paper found unusable. */
  private static final double STEEP = 5;

  /** A transient is a second whose median is so many times that off the peak. */
  private static final double SPIKE = 2;

  private static final int SPIKE_SECONDS = 1;

  /** Hits alone look flat where those that would wait for the disk are left to the origin. */
  private static final String REPEATED =
      "median of repeated requests (a read that takes too long is a miss)";

  /** Time to the first octet of some of the requests, off the peak, at it, and after it. */
  private enum Times {
    HITS(Sort.HITS),
    REPEATS(Sort.REPEATS);

    private final Sort sort;

    Times(Sort sort) {
      this.sort = sort;
    }

    private Figure figure(String when, int percentile) {
      return Figure.of(name().toLowerCase(Locale.ROOT) + "_" + when + "_p" + percentile + "_ms");
    }

    /** At the peak, in units of off the peak. */
    private Figure ratio(int percentile) {
      Figure peak = figure("peak", percentile);
      Figure off = figure("off", percentile);
      return new Figure("peak/off", one -> one.of(peak) / one.of(off));
    }

    private void fill(Sample sample, PeakShape shape, PeakSeries series) {
      for (int percentile : new int[] {50, 90, 99}) {
        sample.with(figure("off", percentile), series.millis(shape.offPeak(), sort, percentile));
        sample.with(figure("peak", percentile), series.millis(shape.peak(), sort, percentile));
      }
      sample.with(figure("after", 50), series.millis(shape.after(), sort, 50));
    }

    private List<Column> columns() {
      return List.of(
          Column.median("off-peak p50", figure("off", 50), 2),
          Column.median("off-peak p99", figure("off", 99), 1),
          Column.median("peak p50", figure("peak", 50), 2),
          Column.median("peak p99", figure("peak", 99), 1),
          Column.median("after p50", figure("after", 50), 2),
          Column.median("peak/off p50", ratio(50), 2),
          Column.median("peak/off p90", ratio(90), 2),
          Column.median("peak/off p99", ratio(99), 2));
    }
  }

  private static final Figure INTO_SPIKE = Figure.of("into_spike");
  private static final Figure INTO_SECONDS = Figure.of("into_seconds_above");
  private static final Figure OUT_OF_SPIKE = Figure.of("out_of_spike");
  private static final Figure OUT_OF_SECONDS = Figure.of("out_of_seconds_above");
  private static final List<Column> TRANSIENTS =
      List.of(
          Column.median("into ×", INTO_SPIKE, 2),
          Column.median("into s > 2×", INTO_SECONDS, 0),
          Column.median("out of ×", OUT_OF_SPIKE, 2),
          Column.median("out of s > 2×", OUT_OF_SECONDS, 0));

  private static final Figure OFF_RATE = Figure.of("off_replies_per_second");
  private static final Figure PEAK_RATE = Figure.of("peak_replies_per_second");
  private static final Figure OFF_HITS = Figure.of("off_hit_ratio");
  private static final Figure PEAK_HITS = Figure.of("peak_hit_ratio");
  private static final Figure OFF_MEMORY = Figure.of("off_memory_share");
  private static final Figure PEAK_MEMORY = Figure.of("peak_memory_share");
  private static final Figure FAILED = Figure.of("failed");
  private static final Figure ON_DISK = Figure.of("disk_records");
  private static final Figure LIMITED = Figure.of("client_limited");
  private static final List<Column> ANSWERS =
      List.of(
          Column.median("off replies/s", OFF_RATE, 0),
          Column.median("peak replies/s", PEAK_RATE, 0),
          Column.median("off hits %", OFF_HITS.times(100), 1),
          Column.median("peak hits %", PEAK_HITS.times(100), 1),
          Column.median("off from memory %", OFF_MEMORY.times(100), 0),
          Column.median("peak from memory %", PEAK_MEMORY.times(100), 0),
          Column.sum("failed", FAILED),
          Column.sum("on disk", ON_DISK),
          new Column("client at its limit", all -> all.rounds().getFirst().is(LIMITED) ? "*" : ""));

  private final Samples all = new Samples("load", "mode");
  private final List<PeakShape> shapes = new CopyOnWriteArrayList<>();
  private final Map<PeakShape, Samples> seconds = new ConcurrentHashMap<>();
  private final List<String> transitions = new CopyOnWriteArrayList<>();

  /** Each second of all runs under that load. */
  Samples seconds(PeakShape shape) {
    return seconds.computeIfAbsent(shape, same -> new Samples("second", "mode"));
  }

  Samples all() {
    return all;
  }

  /** That the mode changed in a run, when and why. */
  void changed(PeakMode mode, PeakShape shape, List<String> changes) {
    changes.forEach(change -> transitions.add(mode.label() + ", " + shape.label() + ": " + change));
  }

  /**
   * A run that is over.
   *
   * @param diskRecords responses on the disk before it began; 0 without a disk
   * @param isClientLimited whether the client was at its own limit
   */
  Sample sample(
      PeakMode mode,
      PeakShape shape,
      PeakSeries series,
      long diskRecords,
      boolean isClientLimited) {
    if (!shapes.contains(shape)) {
      shapes.add(shape);
    }
    var sample = Sample.of(shape.label(), mode.label(), 1);
    for (Times times : Times.values()) {
      times.fill(sample, shape, series);
    }
    double usual = series.millis(shape.offPeak(), Sort.REPEATS, 50);
    Stretch into = shape.into();
    Stretch outOf = shape.outOf();
    return sample
        .with(INTO_SPIKE, series.greatestMedianMillis(into, Sort.REPEATS) / usual)
        .with(INTO_SECONDS, series.longestAbove(into, Sort.REPEATS, SPIKE * usual))
        .with(OUT_OF_SPIKE, series.greatestMedianMillis(outOf, Sort.REPEATS) / usual)
        .with(OUT_OF_SECONDS, series.longestAbove(outOf, Sort.REPEATS, SPIKE * usual))
        .with(OFF_RATE, series.rate(shape.offPeak()))
        .with(PEAK_RATE, series.rate(shape.peak()))
        .with(OFF_HITS, series.hitRatio(shape.offPeak()))
        .with(PEAK_HITS, series.hitRatio(shape.peak()))
        .with(OFF_MEMORY, series.memoryShare(shape.offPeak()))
        .with(PEAK_MEMORY, series.memoryShare(shape.peak()))
        .with(FAILED, series.failures(new Stretch(0, series.seconds())))
        .with(ON_DISK, diskRecords)
        .with(LIMITED, isClientLimited);
  }

  /** Everything that was found out. */
  void report(Report report) {
    shapes.forEach(shape -> report(report, shape));
    if (!transitions.isEmpty()) {
      report.heading("When the mode changed").items(transitions);
    }
    report.heading("Goals").items(goals().map(goal -> goal.verdict(all)).toList());
  }

  private void report(Report report, PeakShape shape) {
    report.heading("Load: " + shape.text());
    report.paragraph("Time to the first octet of hits, in milliseconds.");
    report.table(all.table("mode", shape.label(), Times.HITS.columns()));
    report.paragraph(
        "The same of all requests for what had been asked for before, also if the origin"
            + " answered.");
    report.table(all.table("mode", shape.label(), Times.REPEATS.columns()));
    report.paragraph(
        "Transients: the largest median of a second of repeated requests in units of that off the"
            + " peak, and for how many seconds in a row the median was above twice that or every"
            + " request failed.");
    report.table(all.table("mode", shape.label(), TRANSIENTS));
    report.paragraph("What was answered, off the peak and at it.");
    report.table(all.table("mode", shape.label(), ANSWERS));
    var millis = Axis.logarithmic("ms", 0.1, 10_000);
    plot(report, shape, "hits", "Hits: median time to the first octet", millis, PeakSeries.HIT_P50);
    plot(report, shape, "hits-p90", "Hits: 90th percentile", millis, PeakSeries.HIT_P90);
    plot(report, shape, "repeats", "Repeated requests: median", millis, PeakSeries.REPEAT_P50);
    var share = new Axis("%", 0, 100);
    plot(report, shape, "hit-ratio", "Hits among answers", share, PeakSeries.HIT_RATIO.times(100));
  }

  private void plot(
      Report report, PeakShape shape, String file, String title, Axis up, Figure figure) {
    report.plot(
        shape.label() + "-" + file,
        seconds(shape).chart(title + ", " + shape.label(), "s", up, figure));
  }

  /** What has to be reached, of what was measured. */
  Stream<Goal> goals() {
    return shapes.stream()
        .map(PeakShape::label)
        .flatMap(
            load ->
                Stream.of(
                    Goal.atMost(
                        FLAT,
                        "auto, "
                            + load
                            + ": "
                            + REPEATED
                            + " at the peak at most 1.2 × that off it",
                        of(load, PeakMode.AUTO, Times.REPEATS.ratio(50))),
                    way(load, "into the peak", INTO_SECONDS),
                    way(load, "out of the peak", OUT_OF_SECONDS),
                    Goal.atLeast(
                        STEEP,
                        "disk only, "
                            + load
                            + ": "
                            + REPEATED
                            + " at the peak at least 5 × that"
                            + " off it",
                        of(load, PeakMode.DISK, Times.REPEATS.ratio(50)))))
        .filter(goal -> goal.measured().apply(all).isPresent());
  }

  private static Goal way(String load, String where, Figure seconds) {
    return Goal.atMost(
        SPIKE_SECONDS,
        "auto, "
            + load
            + ": on the way "
            + where
            + " no more than a second above twice the median"
            + " off it; seconds",
        of(load, PeakMode.AUTO, seconds));
  }

  private static Function<Samples, Optional<Spread>> of(String load, PeakMode mode, Figure figure) {
    return samples -> samples.spread(figure, load, mode.label());
  }
}
