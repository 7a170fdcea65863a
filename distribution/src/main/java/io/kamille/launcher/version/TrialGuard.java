package io.kamille.launcher.version;

import io.kamille.core.metric.Histogram;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Watches requests while a configuration is on trial. Confined to its control. */
public final class TrialGuard {

  /*
   * Looks at the last ten seconds. The share of requests answered with 5xx is compared with the
   * share since the process began, as it was when the trial started; the 99th percentile of their
   * duration with a limit. Few requests prove nothing, and a percentile needs more of them.
   */
  static final Duration PERIOD = Duration.ofSeconds(1);
  static final int LEAST_REQUESTS = 20;
  static final int LEAST_REQUESTS_FOR_P99 = 100;

  private static final int PERIODS = 10;
  private static final double NANOS_PER_MILLI = 1e6;

  /**
   * What was answered since the process began.
   *
   * @param failures of the requests those answered with 5xx
   * @param durations how long the requests took
   */
  public record Counts(long requests, long failures, Histogram.Snapshot durations) {
    static final Counts NONE = new Counts(0, 0, Histogram.Snapshot.EMPTY);

    Counts since(Counts before) {
      return new Counts(
          Math.max(0, requests - before.requests),
          Math.max(0, failures - before.failures),
          durations.since(before.durations));
    }

    double failureShare() {
      return requests == 0 ? 0 : (double) failures / requests;
    }

    double p99Millis() {
      return durations.quantileNanos(0.99) / NANOS_PER_MILLI;
    }
  }

  /**
   * What ends a trial.
   *
   * @param rise by how much the share of failures may grow; null for no limit
   * @param p99 the longest 99th percentile; null for no limit
   */
  record Limits(@Nullable Double rise, @Nullable Duration p99) {}

  private final Limits limits;
  private final double usual;
  private final ArrayDeque<Counts> window = new ArrayDeque<>();

  /** Ends a trial that goes beyond {@code limits}. */
  TrialGuard(Limits limits, Counts now) {
    this.limits = limits;
    this.usual = now.failureShare();
    window.add(now);
  }

  Limits limits() {
    return limits;
  }

  /** Looks at one period more; a sentence if the trial must end, else null. */
  @Nullable String verdict(Counts now) {
    Counts seen = now.since(window.getFirst());
    window.add(now);
    if (window.size() > PERIODS) {
      window.removeFirst();
    }
    double share = seen.failureShare();
    Double rise = limits.rise();
    if (rise != null && seen.requests() >= LEAST_REQUESTS && share > usual + rise) {
      return String.format(
          Locale.ROOT, "%.1f %% of requests failed, %.1f %% before", share * 100, usual * 100);
    }
    Duration p99 = limits.p99();
    if (p99 != null
        && seen.requests() >= LEAST_REQUESTS_FOR_P99
        && seen.p99Millis() > p99.toNanos() / NANOS_PER_MILLI) {
      return String.format(
          Locale.ROOT,
          "99 %% of requests took up to %.1f ms, the limit is %d ms",
          seen.p99Millis(),
          p99.toMillis());
    }
    return null;
  }
}
