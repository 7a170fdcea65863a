package io.kamille.perf.lab;

import io.kamille.perf.lab.PeakShape.Stretch;
import io.kamille.perf.load.AnswerSource;
import io.kamille.perf.load.LoadOutcome;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Sample;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;

/** What a run saw, second by second; a request belongs to the second in which it came due. */
final class PeakSeries {

  static final Figure HIT_P50 = Figure.of("hit_p50_ms");
  static final Figure HIT_P90 = Figure.of("hit_p90_ms");
  static final Figure REPEAT_P50 = Figure.of("repeat_p50_ms");

  /** Hits among answers, 0 to 1; not known of a second without answers. */
  static final Figure HIT_RATIO = Figure.of("hit_ratio");

  private static final Figure FAILED = Figure.of("failed");
  private static final int DIGITS = 2;
  private static final long NANOS_PER_SECOND = 1_000_000_000L;
  private static final double NANOS_PER_MILLI = 1e6;

  /** Which requests. */
  enum Sort {
    /** Answered from the store. */
    HITS,
    /** Answered by the origin. */
    MISSES,
    /** For what had been asked for before, wherever the answer came from. */
    REPEATS,
    /** All that were answered rightly. */
    ALL;

    String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Time to the first octet, in nanoseconds, and counts. */
  private static final class Second {
    private final Map<Sort, Histogram> times = new EnumMap<>(Sort.class);
    private long fromMemory;
    private long failures;

    private Histogram times(Sort sort) {
      return times.computeIfAbsent(sort, _ -> new Histogram(DIGITS));
    }
  }

  private final Predicate<LoadRequest> isRepeat;
  private final List<Second> seconds = new ArrayList<>();

  PeakSeries(int seconds, Predicate<LoadRequest> isRepeat) {
    this.isRepeat = isRepeat;
    IntStream.range(0, seconds).forEach(_ -> this.seconds.add(new Second()));
  }

  /** A request is over. */
  void ended(LoadOutcome outcome) {
    int index = (int) (outcome.intendedNanos() / NANOS_PER_SECOND);
    Second second = seconds.get(Math.min(index, seconds.size() - 1));
    if (outcome.failure() != null) {
      second.failures++;
      return;
    }
    second.fromMemory += outcome.source() == AnswerSource.MEMORY ? 1 : 0;
    long nanos = Math.max(0, outcome.firstOctetNanos());
    second.times(Sort.ALL).recordValue(nanos);
    second.times(outcome.source().isHit() ? Sort.HITS : Sort.MISSES).recordValue(nanos);
    if (isRepeat.test(outcome.request())) {
      second.times(Sort.REPEATS).recordValue(nanos);
    }
  }

  private List<Second> within(Stretch stretch) {
    return seconds.subList(stretch.from(), stretch.to());
  }

  /** Milliseconds that so many per cent do not exceed; NaN if there was none. */
  double millis(Stretch stretch, Sort sort, double percentile) {
    var all = new Histogram(DIGITS);
    within(stretch).forEach(second -> all.add(second.times(sort)));
    return all.getTotalCount() == 0
        ? Double.NaN
        : all.getValueAtPercentile(percentile) / NANOS_PER_MILLI;
  }

  /** The longest that a tenth of repeats was above a limit, or all failed, in seconds. */
  int longestAbove(Stretch stretch, double millis) {
    int longest = 0;
    int now = 0;
    for (int i = stretch.from(); i < stretch.to(); i++) {
      Second second = seconds.get(i);
      boolean isFailed = second.failures > 0 && second.times(Sort.ALL).getTotalCount() == 0;
      double most = millis(new Stretch(i, i + 1), Sort.REPEATS, 90);
      now = isFailed || most > millis ? now + 1 : 0;
      longest = Math.max(longest, now);
    }
    return longest;
  }

  /** Hits among right answers, 0 to 1. */
  double hitRatio(Stretch stretch) {
    return (double) count(stretch, Sort.HITS) / count(stretch, Sort.ALL);
  }

  /** Answers from memory among hits, 0 to 1. */
  double memoryShare(Stretch stretch) {
    return (double) sum(stretch, second -> second.fromMemory) / count(stretch, Sort.HITS);
  }

  /** Right answers per second. */
  double rate(Stretch stretch) {
    return (double) count(stretch, Sort.ALL) / (stretch.to() - stretch.from());
  }

  /** Requests that were not answered rightly. */
  long failures() {
    return sum(new Stretch(0, seconds.size()), second -> second.failures);
  }

  private long count(Stretch stretch, Sort sort) {
    return sum(stretch, second -> second.times(sort).getTotalCount());
  }

  private long sum(Stretch stretch, ToLongFunction<Second> what) {
    return within(stretch).stream().mapToLong(what).sum();
  }

  /** One second, for raw data and drawings. */
  Sample sample(int index, String mode, int round) {
    var here = new Stretch(index, index + 1);
    return Sample.of(Integer.toString(index), mode, round)
        .with(FAILED, seconds.get(index).failures)
        .with(HIT_RATIO, hitRatio(here))
        .with(HIT_P50, millis(here, Sort.HITS, 50))
        .with(HIT_P90, millis(here, Sort.HITS, 90))
        .with(REPEAT_P50, millis(here, Sort.REPEATS, 50));
  }
}
