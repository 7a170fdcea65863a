package io.kamille.core.origin;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.metric.Counter;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricGroup;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.UpstreamCounters.OfLoop;
import io.kamille.core.origin.UpstreamCounters.OfOrigin;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The metrics of one upstream, for as long as a configuration names it: the state of its origins,
 * and counters for each loop. Any thread.
 */
public final class UpstreamMetrics implements AutoCloseable {

  public static final MetricDescriptor REQUESTS =
      MetricDescriptor.counter(
          "kamille_upstream_requests_total",
          "Requests given to an origin; one that is retried counts each time.",
          "upstream",
          "origin");

  public static final MetricDescriptor FAILURES =
      MetricDescriptor.counter(
          "kamille_upstream_failures_total",
          "Requests to origins that came to nothing, by the error that Proxy-Status gives (RFC"
              + " 9209).",
          "upstream",
          "error");

  public static final MetricDescriptor RETRIES =
      MetricDescriptor.counter(
          "kamille_upstream_retries_total",
          "Requests that were sent once more, on another connection.",
          "upstream");

  public static final MetricDescriptor HEDGES =
      MetricDescriptor.counter(
          "kamille_upstream_hedges_total",
          "Requests that a second origin got because the first one was late or could not serve.",
          "upstream");

  public static final MetricDescriptor HEAD_TIME =
      MetricDescriptor.histogram(
          "kamille_upstream_head_seconds",
          "Time from giving a request to a connection to the complete head of its response.",
          "upstream");

  public static final MetricDescriptor OPENED =
      MetricDescriptor.counter(
          "kamille_upstream_connections_opened_total",
          "Connections opened to an origin.",
          "upstream",
          "origin");

  public static final MetricDescriptor CLOSED =
      MetricDescriptor.counter(
          "kamille_upstream_connections_closed_total",
          "Connections to an origin that were closed; opened less closed are open.",
          "upstream",
          "origin");

  public static final MetricDescriptor IN_FLIGHT =
      MetricDescriptor.gauge(
          "kamille_upstream_requests_in_flight",
          "Requests on their way to an origin or waiting for a connection to it.",
          "upstream",
          "origin");

  public static final MetricDescriptor ORIGIN_IN =
      MetricDescriptor.gauge(
          "kamille_upstream_origin_in",
          "1 while an origin gets requests, 0 while it is out after failures.",
          "upstream",
          "origin");

  public static final MetricDescriptor EJECTIONS =
      MetricDescriptor.counter(
          "kamille_upstream_ejections_total",
          "How often an origin was put out, by failures in a row or by their share.",
          "upstream",
          "origin");

  private final MetricRegistry registry;
  private final String upstream;
  private final MetricGroup whole;

  @GuardedBy("this")
  private final Map<EventLoop, OfLoop> loops = new HashMap<>();

  @GuardedBy("this")
  private final Map<String, MetricGroup> ofOrigin = new HashMap<>();

  @GuardedBy("this")
  private MetricGroup states;

  @GuardedBy("this")
  private List<Origin> origins = List.of();

  /** Exports the state of these origins, and what is counted of them, until closed. */
  public UpstreamMetrics(MetricRegistry registry, String upstream, List<Origin> origins) {
    this.registry = registry;
    this.upstream = upstream;
    this.whole = new MetricGroup(registry);
    this.states = new MetricGroup(registry);
    origins(origins);
  }

  /**
   * The upstream may soon have these origins besides those that it has: what is counted of them is
   * exported, until {@link #origins} says who stays. Comes before the first request that a handler
   * of theirs may get, which decides what its loop counts with.
   */
  public synchronized void expect(List<Origin> coming) {
    for (Origin origin : coming) {
      ofOrigin.computeIfAbsent(origin.name(), _ -> new MetricGroup(registry));
    }
  }

  /**
   * The upstream has these origins from now on. What was counted of those that it had or expected
   * before goes on; what was counted of others is exported no more.
   */
  public synchronized void origins(List<Origin> present) {
    expect(present);
    if (!origins.equals(present)) {
      origins = List.copyOf(present);
      states.close();
      states = new MetricGroup(registry);
      for (Origin origin : origins) {
        exportState(origin);
      }
    }
    forgetAllBut(present.stream().map(Origin::name).collect(Collectors.toSet()));
  }

  @GuardedBy("this")
  private void forgetAllBut(Set<String> names) {
    for (Map.Entry<String, MetricGroup> origin : ofOrigin.entrySet()) {
      if (!names.contains(origin.getKey())) {
        origin.getValue().close();
      }
    }
    ofOrigin.keySet().retainAll(names);
    for (OfLoop loop : loops.values()) {
      loop.origins().keySet().retainAll(names);
    }
  }

  @GuardedBy("this")
  private void exportState(Origin origin) {
    states.gauge(IN_FLIGHT, origin::inFlight, upstream, origin.name());
    states.gauge(ORIGIN_IN, () -> origin.health().isIn() ? 1 : 0, upstream, origin.name());
  }

  /**
   * What this loop counts. Handlers that a loop has of the upstream, one after the other or beside
   * each other, count together.
   *
   * @param asked the origins of the handler; those that the upstream neither has any more nor
   *     expects are counted for nobody
   */
  public synchronized UpstreamCounters counters(EventLoop loop, List<Origin> asked) {
    OfLoop counters = loops.computeIfAbsent(loop, _ -> loopCounters());
    List<OfOrigin> places = new ArrayList<>();
    for (Origin origin : asked) {
      places.add(originCounters(counters, origin.name()));
    }
    return new UpstreamCounters(counters, places);
  }

  private OfLoop loopCounters() {
    Map<ErrorType, Counter> failures = new EnumMap<>(ErrorType.class);
    for (ErrorType kind : ErrorType.values()) {
      failures.put(kind, whole.counter(FAILURES, upstream, kind.token()));
    }
    return new OfLoop(
        whole.counter(RETRIES, upstream),
        whole.counter(HEDGES, upstream),
        whole.histogram(HEAD_TIME, upstream),
        failures,
        new HashMap<>());
  }

  @GuardedBy("this")
  private OfOrigin originCounters(OfLoop loop, String origin) {
    MetricGroup group = ofOrigin.get(origin);
    return group == null
        ? originCounters(unread(), origin)
        : loop.origins().computeIfAbsent(origin, _ -> originCounters(group, origin));
  }

  private OfOrigin originCounters(MetricGroup group, String origin) {
    return new OfOrigin(
        group.counter(REQUESTS, upstream, origin),
        group.counter(OPENED, upstream, origin),
        group.counter(CLOSED, upstream, origin),
        group.counter(EJECTIONS, upstream, origin));
  }

  private MetricGroup unread() {
    MetricGroup group = new MetricGroup(registry);
    group.close();
    return group;
  }

  /** Exports nothing any more: the upstream is gone. */
  @Override
  public synchronized void close() {
    whole.close();
    states.close();
    ofOrigin.values().forEach(MetricGroup::close);
    ofOrigin.clear();
    loops.clear();
  }
}
