package io.kamille.perf.lab;

import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.LoadFailure;
import io.kamille.perf.load.LoadOutcome;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;

/**
 * Right replies in each second of the part of a run that counts, and how long those took that were
 * asked for in it. Time begins with the object. Confined to the client's thread.
 */
final class LossyReplies {

  private static final int DIGITS = 3;
  private static final long GREATEST_MICROS = TimeUnit.MINUTES.toMicros(10);

  private final LongSupplier clock;
  private final long beginNanos;
  private final long settledNanos;
  private final long[] replies;
  private final Histogram micros = new Histogram(GREATEST_MICROS, DIGITS);
  private long shed;
  private long failed;

  LossyReplies(Duration settling, int seconds, LongSupplier clock) {
    this.clock = clock;
    this.beginNanos = clock.getAsLong();
    this.settledNanos = settling.toNanos();
    this.replies = new long[seconds];
  }

  /** A request is over. */
  void ended(LoadOutcome outcome) {
    long now = clock.getAsLong() - beginNanos;
    boolean isRight = outcome.failure() == null;
    if (isRight && isCounted(now)) {
      replies[second(now)]++;
    }
    if (isCounted(outcome.intendedNanos())) {
      if (isRight) {
        long taken = TimeUnit.NANOSECONDS.toMicros(now - outcome.intendedNanos());
        micros.recordValue(Math.clamp(taken, 0, GREATEST_MICROS));
      } else if (outcome.failure() == LoadFailure.WRONG_STATUS) {
        shed++;
      } else {
        failed++;
      }
    }
  }

  private boolean isCounted(long nanos) {
    return nanos >= settledNanos && second(nanos) < replies.length;
  }

  private int second(long nanos) {
    return (int) ((nanos - settledNanos) / TimeUnit.SECONDS.toNanos(1));
  }

  /** How many of these come due in the part that counts, each second. */
  double duePerSecond(Arrivals arrivals) {
    long due = 0;
    for (long next = arrivals.next(); next != Arrivals.NONE; next = arrivals.next()) {
      due += isCounted(next) ? 1 : 0;
    }
    return (double) due / replies.length;
  }

  /** The mean over the seconds. */
  double ratePerSecond() {
    return Arrays.stream(replies).average().orElse(0);
  }

  /** The standard deviation between the seconds. */
  double rateDeviation() {
    double mean = ratePerSecond();
    return Math.sqrt(
        Arrays.stream(replies).mapToDouble(r -> (r - mean) * (r - mean)).average().orElse(0));
  }

  /** Requests of the part that counts that were answered with another status. */
  long shed() {
    return shed;
  }

  /**
   * Other requests of the part that counts that did not get the right response, whenever they
   * ended.
   */
  long failed() {
    return failed;
  }

  double meanMillis() {
    return micros.getMean() / 1e3;
  }

  /** What this share of the replies, in per cent, did not exceed. */
  double millis(double percentile) {
    return micros.getValueAtPercentile(percentile) / 1e3;
  }
}
