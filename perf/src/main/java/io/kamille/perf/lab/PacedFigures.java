package io.kamille.perf.lab;

import io.kamille.perf.compare.LoadFigures;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;

/** The figures of paced polling. */
final class PacedFigures {

  static final Figure HIT_RATIO = Figure.of("hit_ratio");
  static final Figure HIT_MEAN = Figure.of("hit_mean_micros");
  static final Figure MISS_MEAN = Figure.of("miss_mean_micros");

  /**
   * Whether client or path were at their limit, a tenth of the mean (of hits, if there are any) was
   * the client's own delay, or more than one request in a hundred failed.
   */
  static final Figure DISTURBED = Figure.of("disturbed");

  /** Of the server for each right reply. */
  static final Figure CPU = Figure.of("cpu_micros");

  /** Of the server, as a share of what it has of the core. */
  static final Figure CPU_SHARE = Figure.of("cpu_share");

  /** Of that CPU time, 0 to 1. */
  static final Figure KERNEL_SHARE = Figure.of("kernel_share");

  static final Figure POLLS = Figure.of("polls_per_second");
  static final Figure EVENTS = Figure.of("events_per_poll");
  static final Figure POLL_SHARE = Figure.of("poll_share_of_kernel");

  static final String UNPACED = "0";
  private static final double FAILED_LIMIT = 0.01;
  private static final double BUSY_LIMIT = 0.95;
  private static final double LATE_LIMIT = 0.1;

  static final List<Column> RESPONSES =
      List.of(
          Column.spread("replies/s", LoadFigures.RATE, 0),
          Column.ratio("× unpaced", LoadFigures.RATE, UNPACED),
          Column.sum("failed", LoadFigures.FAILED),
          Column.spread("mean ms", LoadFigures.MEAN.times(1e-3), 2),
          Column.median("p99 ms", LoadFigures.P99.times(1e-3), 2));
  static final List<Column> HITS_APART =
      Stream.concat(
              RESPONSES.stream(),
              Stream.of(
                  Column.spread("hits ms", HIT_MEAN.times(1e-3), 2),
                  Column.median("misses ms", MISS_MEAN.times(1e-3), 1),
                  Column.median("hits %", HIT_RATIO.times(100), 1)))
          .toList();
  static final List<Column> WORK =
      List.of(
          Column.median("CPU µs/reply", CPU, 1),
          Column.ratio("× unpaced", CPU, UNPACED),
          Column.median("core %", CPU_SHARE.times(100), 0),
          Column.median("kernel %", KERNEL_SHARE.times(100), 0),
          Column.median("polls/s", POLLS, 0),
          Column.median("events/poll", EVENTS, 1));

  private PacedFigures() {}

  /**
   * What the client saw.
   *
   * @param isElse whether something else disturbed
   */
  static Sample responses(Sample sample, LoadResult load, boolean isElse) {
    Histogram misses = load.latency().copy();
    misses.subtract(load.hits());
    long hits = load.hits().getTotalCount();
    double mean = (hits == 0 ? load.latency() : load.hits()).getMean();
    boolean isDisturbed =
        isElse
            || load.busyRatio() > BUSY_LIMIT
            || load.lateness().getMean() > LATE_LIMIT * mean
            || load.failed() > FAILED_LIMIT * Math.max(1, load.offered());
    return LoadFigures.with(sample, load)
        .with(HIT_RATIO, (double) hits / Math.max(1, load.completed()))
        .with(HIT_MEAN, hits == 0 ? Double.NaN : load.hits().getMean() / 1e3)
        .with(MISS_MEAN, hits == 0 ? Double.NaN : misses.getMean() / 1e3)
        .with(DISTURBED, isDisturbed);
  }

  /** Those that count. */
  static Samples undisturbed(Samples all) {
    return all.where(one -> !one.is(DISTURBED));
  }

  /** A sentence about those that do not; empty if all do. */
  static String leftOut(Samples all) {
    long count = all.all().stream().filter(one -> one.is(DISTURBED)).count();
    return count == 0
        ? ""
        : String.format(
            Locale.ROOT,
            "%d of %d measurements are left out: client or path were at their limit, or more"
                + " than one request in a hundred failed.",
            count,
            all.all().size());
  }
}
