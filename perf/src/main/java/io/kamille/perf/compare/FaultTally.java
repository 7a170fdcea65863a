package io.kamille.perf.compare;

import io.kamille.perf.load.LoadObserver;
import io.kamille.perf.load.LoadOutcome;
import io.kamille.perf.load.LoadRequest;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Counts what became of the requests on both routes, before, during and after the fault, by when
 * they should have been sent. Confined to the client's thread until the run is over.
 */
final class FaultTally implements LoadObserver {

  private static final long GREATEST_NANOS = TimeUnit.SECONDS.toNanos(100);

  private final LoadRequest other;
  private final long faultNanos;
  private final long healNanos;
  private final Histogram before = new Histogram(GREATEST_NANOS, 3);
  private final Histogram during = new Histogram(GREATEST_NANOS, 3);
  private long asked;
  private long failed;
  private long failedAfter;
  private long otherFailed;
  private long lastFailureNanos;

  /**
   * A tally of nothing yet.
   *
   * @param other what is asked on the other route; all else is on the route with the fault
   * @param faultNanos after the beginning of the run, the fault begins
   * @param healNanos after the beginning of the run, it ends
   */
  FaultTally(LoadRequest other, long faultNanos, long healNanos) {
    this.other = other;
    this.faultNanos = faultNanos;
    this.healNanos = healNanos;
    this.lastFailureNanos = faultNanos;
  }

  @Override
  public void ended(LoadOutcome outcome) {
    long sent = outcome.intendedNanos();
    boolean isDuring = sent >= faultNanos && sent < healNanos;
    if (outcome.request() == other) {
      otherEnded(outcome, isDuring);
    } else if (isDuring) {
      asked++;
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

  long asked() {
    return asked;
  }

  long failed() {
    return failed;
  }

  long failedAfter() {
    return failedAfter;
  }

  long otherFailed() {
    return otherFailed;
  }

  /** From the beginning of the fault to when the last failed request of it was sent. */
  double lastFailureSeconds() {
    return (lastFailureNanos - faultNanos) / 1e9;
  }

  double otherP99BeforeMicros() {
    return before.getValueAtPercentile(99) / 1e3;
  }

  double otherP99DuringMicros() {
    return during.getValueAtPercentile(99) / 1e3;
  }
}
