package io.kamille.core.upstream;

import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricDescriptor.Unit;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.metric.Registration;
import java.util.ArrayList;
import java.util.List;

/**
 * The metrics of one upstream: the state of its origins, and counters for each loop. Any thread.
 */
public final class UpstreamMetrics implements AutoCloseable {

  public static final MetricDescriptor REQUESTS =
      MetricDescriptor.counter(
          "kamille_upstream_requests_total",
          Unit.COUNT,
          "Requests given to an origin; one that is retried counts each time.",
          "upstream",
          "origin");

  public static final MetricDescriptor FAILURES =
      MetricDescriptor.counter(
          "kamille_upstream_failures_total",
          Unit.COUNT,
          "Requests to origins that came to nothing, by the error that Proxy-Status gives (RFC"
              + " 9209).",
          "upstream",
          "error");

  public static final MetricDescriptor RETRIES =
      MetricDescriptor.counter(
          "kamille_upstream_retries_total",
          Unit.COUNT,
          "Requests that were sent once more, on another connection.",
          "upstream");

  public static final MetricDescriptor HEAD_TIME =
      MetricDescriptor.histogram(
          "kamille_upstream_head_seconds",
          "Time from giving a request to a connection to the complete head of its response.",
          "upstream");

  public static final MetricDescriptor OPENED =
      MetricDescriptor.counter(
          "kamille_upstream_connections_opened_total",
          Unit.COUNT,
          "Connections opened to an origin.",
          "upstream",
          "origin");

  public static final MetricDescriptor CLOSED =
      MetricDescriptor.counter(
          "kamille_upstream_connections_closed_total",
          Unit.COUNT,
          "Connections to an origin that were closed; opened less closed are open.",
          "upstream",
          "origin");

  public static final MetricDescriptor IN_FLIGHT =
      MetricDescriptor.gauge(
          "kamille_upstream_requests_in_flight",
          Unit.COUNT,
          "Requests on their way to an origin or waiting for a connection to it.",
          "upstream",
          "origin");

  public static final MetricDescriptor ORIGIN_IN =
      MetricDescriptor.gauge(
          "kamille_upstream_origin_in",
          Unit.COUNT,
          "1 while an origin gets requests, 0 while it is out after failures.",
          "upstream",
          "origin");

  public static final MetricDescriptor ADAPTIVE_LIMIT =
      MetricDescriptor.gauge(
          "kamille_upstream_concurrency_limit",
          Unit.COUNT,
          "Requests that an origin may get at a time, as found out by all loops together; 0 where"
              + " `concurrency` is `fixed`.",
          "upstream",
          "origin");

  public static final MetricDescriptor EJECTIONS =
      MetricDescriptor.counter(
          "kamille_upstream_ejections_total",
          Unit.COUNT,
          "How often an origin was put out, by failures in a row or by their share.",
          "upstream",
          "origin");

  private final MetricRegistry registry;
  private final String upstream;
  private final List<Registration> registrations = new ArrayList<>();

  /** Exports the state of these origins until closed. */
  public UpstreamMetrics(MetricRegistry registry, String upstream, List<Origin> origins) {
    this.registry = registry;
    this.upstream = upstream;
    for (Origin origin : origins) {
      registrations.add(
          registry.gauge(IN_FLIGHT, () -> origin.inFlight(), upstream, origin.name()));
      registrations.add(
          registry.gauge(ADAPTIVE_LIMIT, () -> origin.adaptiveLimit(), upstream, origin.name()));
      registrations.add(
          registry.gauge(ORIGIN_IN, () -> origin.health().isIn() ? 1 : 0, upstream, origin.name()));
    }
  }

  /** Counters for one loop. */
  UpstreamCounters counters(List<Origin> origins) {
    return new UpstreamCounters(registry, upstream, origins);
  }

  @Override
  public void close() {
    registrations.forEach(Registration::close);
  }
}
