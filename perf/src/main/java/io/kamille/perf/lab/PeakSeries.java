package io.kamille.perf.lab;

import io.kamille.perf.lab.PeakShape.Stretch;
import io.kamille.perf.load.AnswerSource;
import io.kamille.perf.load.LoadObserver;
import io.kamille.perf.load.LoadOutcome;
import io.kamille.perf.load.LoadRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;

/**
 * What became of the requests of each second of a run. Confined to the client's thread until the
 * run is over.
 */
final class PeakSeries implements LoadObserver {

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

  static final String TITLES =
      "second,memory_hits,disk_hits,others,failed,hit_p50_ms,hit_p90_ms,hit_p99_ms,repeat_p50_ms,"
          + "repeat_p99_ms,all_p50_ms,all_p99_ms";

  /** A line of raw data. */
  String line(int index) {
    Second second = seconds.get(index);
    return String.format(
        Locale.ROOT,
        "%d,%d,%d,%d,%d,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f",
        index,
        second.sources[AnswerSource.MEMORY.ordinal()],
        second.sources[AnswerSource.DISK.ordinal()],
        second.sources[AnswerSource.ORIGIN.ordinal()],
        second.failures,
        millis(index, Sort.HITS, 50),
        millis(index, Sort.HITS, 90),
        millis(index, Sort.HITS, 99),
        millis(index, Sort.REPEATS, 50),
        millis(index, Sort.REPEATS, 99),
        millis(index, Sort.ALL, 50),
        millis(index, Sort.ALL, 99));
  }
}
