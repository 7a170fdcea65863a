package io.kamille.perf.compare;

import io.kamille.perf.load.LoadOutcome;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Sample;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Counts what became of the requests on both routes, before, during and after the fault, by when
 * they should have been sent. Confined to the client's thread until the run is over.
 */
final class FaultTally {

  /** Requests on the route with the faulty origin while it failed. */
  static final Figure ASKED = Figure.of("asked");

  /** Those of them that were not answered rightly. */
  static final Figure FAILED = Figure.of("failing_failed");

  /** From the beginning of the fault to when the last failed request of it was sent. */
  static final Figure LAST_FAILURE = Figure.of("last_failure_seconds");

  /** The longest that a request on that route waited while it failed, answered or not. */
  static final Figure WORST_WAIT = Figure.of("worst_wait_millis");

  /** Requests on that route that failed after the end. */
  static final Figure FAILED_AFTER = Figure.of("failed_after");

  /** Of the other route without a fault, to the first octet. */
  static final Figure OTHER_BEFORE = Figure.of("other_p99_before_micros");

  /** The same while the origin failed. */
  static final Figure OTHER_DURING = Figure.of("other_p99_during_micros");

  /** Requests on the other route that failed. */
  static final Figure OTHER_FAILED = Figure.of("other_failed");

  static final Figure FAILED_SHARE = FAILED.per(ASKED).times(100);
  static final Figure OTHER_RATIO = OTHER_DURING.per(OTHER_BEFORE);

  private static final long GREATEST_NANOS = TimeUnit.SECONDS.toNanos(100);

  /** Requests on that route by POST, in the whole run. */
  static final Figure POSTED = Figure.of("posted");

  /** Those of them that were not answered rightly. */
  static final Figure POST_FAILED = Figure.of("post_failed");

  private final LoadRequest failing;
  private final LoadRequest other;
  private final long faultNanos;
  private final long healNanos;
  private final Histogram before = new Histogram(GREATEST_NANOS, 3);
  private final Histogram during = new Histogram(GREATEST_NANOS, 3);
  private long asked;
  private long failed;
  private long failedAfter;
  private long otherFailed;
  private long posted;
  private long postFailed;
  private long lastFailureNanos;
  private long worstNanos;

  /**
   * A tally of nothing yet.
   *
   * @param failing what is asked on the route with the fault, besides what is sent by POST
   * @param other what is asked on the other route
   * @param faultNanos after the beginning of the run, the fault begins
   * @param healNanos after the beginning of the run, it ends
   */
  FaultTally(LoadRequest failing, LoadRequest other, long faultNanos, long healNanos) {
    this.failing = failing;
    this.other = other;
    this.faultNanos = faultNanos;
    this.healNanos = healNanos;
    this.lastFailureNanos = faultNanos;
  }

  /** One request is over. */
  void ended(LoadOutcome outcome) {
    long sent = outcome.intendedNanos();
    boolean isDuring = sent >= faultNanos && sent < healNanos;
    if (outcome.request() == other) {
      otherEnded(outcome, isDuring);
    } else if (outcome.request() != failing) {
      posted++;
      postFailed += outcome.failure() == null ? 0 : 1;
    } else if (isDuring) {
      asked++;
      worstNanos = Math.max(worstNanos, outcome.firstNanos() - sent);
      if (outcome.failure() != null) {
        failed++;
        lastFailureNanos = Math.max(lastFailureNanos, sent);
      }
    } else if (sent >= healNanos && outcome.failure() != null) {
      failedAfter++;
    }
  }

  private void otherEnded(LoadOutcome outcome, boolean isDuring) {
    if (outcome.failure() != null) {
      otherFailed++;
      return;
    }
    long nanos = Math.clamp(outcome.firstNanos() - outcome.intendedNanos(), 0, GREATEST_NANOS);
    if (isDuring) {
      during.recordValue(nanos);
    } else if (outcome.intendedNanos() < faultNanos) {
      before.recordValue(nanos);
    }
  }

  /** Adds what was counted to a sample. */
  Sample fill(Sample sample) {
    return sample
        .with(ASKED, asked)
        .with(FAILED, failed)
        .with(LAST_FAILURE, (lastFailureNanos - faultNanos) / 1e9)
        .with(WORST_WAIT, worstNanos / 1e6)
        .with(FAILED_AFTER, failedAfter)
        .with(POSTED, posted)
        .with(POST_FAILED, postFailed)
        .with(OTHER_BEFORE, before.getValueAtPercentile(99) / 1e3)
        .with(OTHER_DURING, during.getValueAtPercentile(99) / 1e3)
        .with(OTHER_FAILED, otherFailed);
  }
}
