package io.kamille.core.upstream;

import io.kamille.core.failure.Failure;
import io.kamille.core.failure.Failure.Kind;
import io.kamille.core.metric.Counter;
import io.kamille.core.metric.Histogram;
import io.kamille.core.metric.MetricRegistry;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What one loop counts of an upstream. Confined to its loop; sums are read from the registry. */
final class UpstreamCounters {

  private final Counter[] requests;
  private final Counter[] opened;
  private final Counter[] closed;
  private final Counter[] ejections;
  private final Counter retries;
  private final Histogram headTime;
  private final Map<Kind, Counter> failures = new EnumMap<>(Kind.class);

  UpstreamCounters(MetricRegistry registry, String upstream, List<Origin> origins) {
    int count = origins.size();
    requests = new Counter[count];
    opened = new Counter[count];
    closed = new Counter[count];
    ejections = new Counter[count];
    for (int i = 0; i < count; i++) {
      String origin = origins.get(i).name();
      requests[i] = registry.counter(UpstreamMetrics.REQUESTS, upstream, origin);
      opened[i] = registry.counter(UpstreamMetrics.OPENED, upstream, origin);
      closed[i] = registry.counter(UpstreamMetrics.CLOSED, upstream, origin);
      ejections[i] = registry.counter(UpstreamMetrics.EJECTIONS, upstream, origin);
    }
    retries = registry.counter(UpstreamMetrics.RETRIES, upstream);
    headTime = registry.histogram(UpstreamMetrics.HEAD_TIME, upstream);
    for (Kind kind : Kind.values()) {
      failures.put(kind, registry.counter(UpstreamMetrics.FAILURES, upstream, kind.token()));
    }
  }

  /** A request goes to the origin at {@code place}. */
  void request(int place) {
    requests[place].increment();
  }

  void retry() {
    retries.increment();
  }

  /** The origin at {@code place} was put out. */
  void ejected(int place) {
    ejections[place].increment();
  }

  /** A response head is complete, so long after the request was given to the connection. */
  void head(long nanos) {
    headTime.record(nanos);
  }

  @SuppressWarnings("NullAway") // every kind has its counter
  void failure(Failure why) {
    failures.get(why.kind()).increment();
  }

  /** Connections opened to the origin at {@code place}. */
  Counter opened(int place) {
    return opened[place];
  }

  /** Connections closed to the origin at {@code place}. */
  Counter closed(int place) {
    return closed[place];
  }
}
