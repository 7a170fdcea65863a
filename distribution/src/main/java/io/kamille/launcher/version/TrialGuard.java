package io.kamille.launcher.version;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Watches how many requests fail while a configuration is on trial. Confined to its control. */
public final class TrialGuard {

  /*
   * The share of requests answered with 5xx in the last ten seconds is compared with the share since
   * the process began, as it was when the trial started. Few requests prove nothing.
   */
  static final Duration PERIOD = Duration.ofSeconds(1);
  static final int LEAST_REQUESTS = 20;

  private static final int PERIODS = 10;

  /**
   * What was answered since the process began.
   *
   * @param failures of the requests those answered with 5xx
   */
  public record Counts(long requests, long failures) {
    static final Counts NONE = new Counts(0, 0);

    double shareSince(Counts before) {
      long all = requests - before.requests;
      return all <= 0 ? 0 : (double) (failures - before.failures) / all;
    }
  }

  private final double rise;
  private final double usual;
  private final ArrayDeque<Counts> window = new ArrayDeque<>();

  /** Ends a trial when the share of failures is greater by {@code rise} than it was. */
  TrialGuard(double rise, Counts now) {
    this.rise = rise;
    this.usual = now.shareSince(Counts.NONE);
    window.add(now);
  }

  double rise() {
    return rise;
  }

  /** Looks at one period more; a sentence if the trial must end, else null. */
  @Nullable String verdict(Counts now) {
    Counts before = window.getFirst();
    window.add(now);
    if (window.size() > PERIODS) {
      window.removeFirst();
    }
    double share = now.shareSince(before);
    if (now.requests() - before.requests() < LEAST_REQUESTS || share <= usual + rise) {
      return null;
    }
    return String.format(
        Locale.ROOT, "%.1f %% of requests failed, %.1f %% before", share * 100, usual * 100);
  }
}
