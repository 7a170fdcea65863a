package io.kamille.core.gate;

import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import java.util.concurrent.atomic.LongAdder;

/** What is counted of requests that are not let in. Any thread. */
public final class AdmissionMetrics {

  private static final MetricDescriptor REFUSED_REQUESTS =
      MetricDescriptor.counter(
          "kamille_requests_refused_total",
          "Requests answered with 429: too many of their client were under way (client), or came in"
              + " too short a time (rate).",
          "reason");

  private static final MetricDescriptor DRY_RUN =
      MetricDescriptor.counter(
          "kamille_requests_over_rate_total",
          "Requests over a rate limit with dry-run, which went on.");

  private static final MetricDescriptor SHED_REQUESTS =
      MetricDescriptor.counter(
          "kamille_requests_shed_total",
          "Requests shed because their loop was late, with 503 or a stale response. forward: it"
              + " would have been forwarded. any: it was not looked up yet.",
          "kind");

  private static final MetricDescriptor SHED_SHARE =
      MetricDescriptor.gauge(
          "kamille_loop_shed_share",
          "The share of requests that a loop sheds now. Up to 1 counts requests to be forwarded;"
              + " beyond 1 is the share of all others.",
          "loop");

  private AdmissionMetrics() {}

  /** Registers what is counted of clients that have too many requests under way. */
  public static void register(MetricRegistry registry, ClientTable clients) {
    registry.counting(REFUSED_REQUESTS, clients::refusedRequests, "client");
  }

  /**
   * Registers what is counted of requests over the rate of a route.
   *
   * @param overRate counts them, of all routes
   * @param dryRun likewise, those that went on
   */
  public static void register(MetricRegistry registry, LongAdder overRate, LongAdder dryRun) {
    registry.counting(REFUSED_REQUESTS, overRate::sum, "rate");
    registry.counting(DRY_RUN, dryRun::sum);
  }

  /** Registers what is counted of requests that loops are too late for. */
  public static void register(MetricRegistry registry, Overload overload) {
    registry.counting(SHED_REQUESTS, overload::shedForwards, "forward");
    registry.counting(SHED_REQUESTS, overload::shedAtOnce, "any");
  }

  /** Registers what one loop sheds. */
  public static void register(MetricRegistry registry, Shedder shedder, String loop) {
    registry.gauge(SHED_SHARE, shedder::share, loop);
  }
}
