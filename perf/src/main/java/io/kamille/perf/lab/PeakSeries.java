package io.kamille.perf.lab;

import io.kamille.perf.lab.PeakShape.Stretch;
import io.kamille.perf.load.AnswerSource;
import io.kamille.perf.load.LoadObserver;
import io.kamille.perf.load.LoadOutcome;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Sample;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;

/**
 * What became of the requests of each second of a run. Confined to the client's thread until the
 * run is over.
 */
final class PeakSeries implements LoadObserver {

  static final Figure HIT_P50 = Figure.of("hit_p50_ms");
  static final Figure HIT_P90 = Figure.of("hit_p90_ms");
  static final Figure REPEAT_P50 = Figure.of("repeat_p50_ms");
  private static final Figure HIT_P99 = Figure.of("hit_p99_ms");
  private static final Figure REPEAT_P99 = Figure.of("repeat_p99_ms");
  private static final Figure ALL_P50 = Figure.of("all_p50_ms");
  private static final Figure ALL_P99 = Figure.of("all_p99_ms");
  private static final Figure MEMORY_HITS = Figure.of("memory_hits");
  private static final Figure DISK_HITS = Figure.of("disk_hits");

  /** Answers that came from the origin. */
  private static final Figure OTHERS = Figure.of("others");

  private static final Figure FAILED = Figure.of("failed");
  private static final Figure HITS = MEMORY_HITS.plus(DISK_HITS);

  /** Hits among answers, 0 to 1; not known of a second without answers. */
  static final Figure HIT_RATIO =
      new Figure("hit_ratio", one -> one.of(HITS) / one.of(HITS.plus(OTHERS)));

  private static final int DIGITS = 2;
  private static final long NANOS_PER_SECOND = 1_000_000_000L;
  private static final double NANOS_PER_MILLI = 1e6;

  /** Which requests. */
  enum Sort {
    /** Answered from the store. */
    HITS,
    /** For what had been asked for before, wherever the answer came from. */
    REPEATS,
    /** All that were answered rightly. */
    ALL
  }

  /** Time to the first octet, in nanoseconds, and counts. */
  private static final class Second {

    private final List<Histogram> times =
        IntStream.range(0, Sort.values().length).mapToObj(i -> new Histogram(DIGITS)).toList();

    private final long[] sources = new long[AnswerSource.values().length];
    private long failures;

    private Histogram times(Sort sort) {
      return times.get(sort.ordinal());
    }
  }

  private final Predicate<LoadRequest> isRepeat;
  private final List<Second> seconds = new ArrayList<>();

  PeakSeries(int seconds, Predicate<LoadRequest> isRepeat) {
    this.isRepeat = isRepeat;
    for (int i = 0; i < seconds; i++) {
      this.seconds.add(new Second());
    }
  }

  @Override
  public void ended(LoadOutcome outcome) {
    int index = (int) (outcome.intendedNanos() / NANOS_PER_SECOND);
    Second second = seconds.get(Math.min(index, seconds.size() - 1));
    if (outcome.failure() != null) {
      second.failures++;
      return;
    }
    second.sources[outcome.source().ordinal()]++;
    long nanos = Math.max(0, outcome.firstOctetNanos());
    second.times(Sort.ALL).recordValue(nanos);
    if (outcome.source().isHit()) {
      second.times(Sort.HITS).recordValue(nanos);
    }
    if (isRepeat.test(outcome.request())) {
      second.times(Sort.REPEATS).recordValue(nanos);
    }
  }

  int seconds() {
    return seconds.size();
  }

  /** Milliseconds that so many per cent do not exceed; NaN if there was none. */
  double millis(Stretch stretch, Sort sort, double percentile) {
    var all = new Histogram(DIGITS);
    within(stretch).forEach(second -> all.add(second.times(sort)));
    return all.getTotalCount() == 0
        ? Double.NaN
        : all.getValueAtPercentile(percentile) / NANOS_PER_MILLI;
  }

  /** The same for one second. */
  double millis(int second, Sort sort, double percentile) {
    return millis(new Stretch(second, second + 1), sort, percentile);
  }

  /** The greatest of the medians of seconds, in milliseconds. */
  double greatestMedianMillis(Stretch stretch, Sort sort) {
    return medians(stretch, sort).filter(Double::isFinite).max().orElse(Double.NaN);
  }

  /**
   * For how many seconds in a row, at the most, the median was above so many milliseconds or every
   * request failed.
   */
  int longestAbove(Stretch stretch, Sort sort, double millis) {
    int longest = 0;
    int now = 0;
    for (int second = stretch.from(); second < stretch.to(); second++) {
      now = isFailed(second) || millis(second, sort, 50) > millis ? now + 1 : 0;
      longest = Math.max(longest, now);
    }
    return longest;
  }

  private boolean isFailed(int index) {
    Second second = seconds.get(index);
    return second.failures > 0 && second.times(Sort.ALL).getTotalCount() == 0;
  }

  private DoubleStream medians(Stretch stretch, Sort sort) {
    return IntStream.range(stretch.from(), stretch.to())
        .mapToDouble(second -> millis(second, sort, 50));
  }

  /** Hits among right answers, 0 to 1. */
  double hitRatio(Stretch stretch) {
    return ratio(count(stretch, Sort.HITS), count(stretch, Sort.ALL));
  }

  /** Answers from memory among hits, 0 to 1. */
  double memoryShare(Stretch stretch) {
    long memory =
        within(stretch).stream()
            .mapToLong(second -> second.sources[AnswerSource.MEMORY.ordinal()])
            .sum();
    return ratio(memory, count(stretch, Sort.HITS));
  }

  /** Right answers per second. */
  double rate(Stretch stretch) {
    return ratio(count(stretch, Sort.ALL), stretch.to() - stretch.from());
  }

  /** Requests that were not answered rightly. */
  long failures(Stretch stretch) {
    return within(stretch).stream().mapToLong(second -> second.failures).sum();
  }

  private long count(Stretch stretch, Sort sort) {
    return within(stretch).stream().mapToLong(second -> second.times(sort).getTotalCount()).sum();
  }

  private static double ratio(long part, long all) {
    return all == 0 ? Double.NaN : (double) part / all;
  }

  private List<Second> within(Stretch stretch) {
    return seconds.subList(stretch.from(), stretch.to());
  }

  /** One second, for raw data and drawings. */
  Sample sample(int index, String mode) {
    Second second = seconds.get(index);
    return Sample.of(Integer.toString(index), mode, 1)
        .with(MEMORY_HITS, second.sources[AnswerSource.MEMORY.ordinal()])
        .with(DISK_HITS, second.sources[AnswerSource.DISK.ordinal()])
        .with(OTHERS, second.sources[AnswerSource.ORIGIN.ordinal()])
        .with(FAILED, second.failures)
        .with(HIT_P50, millis(index, Sort.HITS, 50))
        .with(HIT_P90, millis(index, Sort.HITS, 90))
        .with(HIT_P99, millis(index, Sort.HITS, 99))
        .with(REPEAT_P50, millis(index, Sort.REPEATS, 50))
        .with(REPEAT_P99, millis(index, Sort.REPEATS, 99))
        .with(ALL_P50, millis(index, Sort.ALL, 50))
        .with(ALL_P99, millis(index, Sort.ALL, 99));
  }
}
