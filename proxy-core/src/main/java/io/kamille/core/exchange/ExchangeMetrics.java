package io.kamille.core.exchange;

import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.metric.AnswerCounts;
import io.kamille.core.metric.Counter;
import io.kamille.core.metric.Histogram;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Counts the exchanges of one loop when they are over. Confined to its loop. */
public final class ExchangeMetrics implements ExchangeObserver {

  public static final MetricDescriptor REQUESTS =
      MetricDescriptor.counter(
          "kamille_requests_total",
          "Requests that are over, by status class (none: the client left first) and by the cache's"
              + " result (none: the route has no cache).",
          "status",
          "cache");

  public static final MetricDescriptor DURATION =
      MetricDescriptor.histogram(
          "kamille_request_duration_seconds",
          "From the complete request head to the last octet handed to the connection, by what the"
              + " cache did.",
          "cache");

  static final MetricDescriptor CONTENT =
      MetricDescriptor.counter(
          "kamille_response_content_bytes_total",
          "Octets of content sent to clients, without heads and framing.");

  static final MetricDescriptor FAILURES =
      MetricDescriptor.counter(
          "kamille_request_failures_total",
          "Requests that could not be completed as asked, by the error token of RFC 9209.",
          "error");

  private static final List<String> STATUS_CLASSES =
      List.of("none", "1xx", "2xx", "3xx", "4xx", "5xx");

  private static final int SERVER_ERRORS = 5;

  private final Map<CacheResult, Counter[]> requests = new EnumMap<>(CacheResult.class);
  private final Map<CacheResult, Histogram> durations = new EnumMap<>(CacheResult.class);
  private final Map<Failure.ErrorType, Counter> failures = new EnumMap<>(Failure.ErrorType.class);
  private final Counter content;

  private ExchangeMetrics(MetricRegistry registry) {
    for (CacheResult result : CacheResult.values()) {
      requests.put(
          result,
          STATUS_CLASSES.stream()
              .map(status -> registry.counter(REQUESTS, status, result.token()))
              .toArray(Counter[]::new));
      durations.put(result, registry.histogram(DURATION, result.token()));
    }
    for (Failure.ErrorType kind : Failure.ErrorType.values()) {
      failures.put(kind, registry.counter(FAILURES, kind.token()));
    }
    content = registry.counter(CONTENT);
  }

  /** The counters of one loop more. */
  public static ExchangeMetrics forLoop(MetricRegistry registry) {
    return new ExchangeMetrics(registry);
  }

  @Override
  public void ended(
      Exchange exchange, int status, long contentBytes, long startNanos, long endNanos) {
    CacheResult result = exchange.notes().cache();
    of(requests, result)[statusClass(status)].increment();
    of(durations, result).record(endNanos - startNanos);
    content.add(contentBytes);
    Failure failure = exchange.notes().failure();
    if (failure != null) {
      of(failures, failure.kind()).increment();
    }
  }

  /** Exchanges that are over. Any thread. */
  public long requests() {
    return requests.keySet().stream().mapToLong(this::requests).sum();
  }

  /** Exchanges answered from the store without asking an origin first. Any thread. */
  public long hits() {
    return requests(CacheResult.HIT) + requests(CacheResult.STALE_HIT);
  }

  /** Exchanges answered with a status code of 5xx. Any thread. */
  public long serverErrors() {
    return requests.values().stream().mapToLong(classes -> classes[SERVER_ERRORS].value()).sum();
  }

  /** How long the exchanges took. Any thread. */
  public Histogram.Snapshot durations() {
    return durations.values().stream()
        .map(Histogram::snapshot)
        .reduce(Histogram.Snapshot.EMPTY, Histogram.Snapshot::plus);
  }

  /** What was answered so far. Any thread. */
  public AnswerCounts answers() {
    long nanos =
        durations.entrySet().stream()
            .filter(duration -> !isHit(duration.getKey()))
            .mapToLong(duration -> duration.getValue().sumNanos())
            .sum();
    return new AnswerCounts(requests(), requests() - hits(), nanos);
  }

  private static boolean isHit(CacheResult result) {
    return result == CacheResult.HIT || result == CacheResult.STALE_HIT;
  }

  private long requests(CacheResult result) {
    return Arrays.stream(of(requests, result)).mapToLong(Counter::value).sum();
  }

  private static int statusClass(int status) {
    return status < 100 || status >= 600 ? 0 : status / 100;
  }

  private static <K extends Enum<K>, V> V of(Map<K, V> map, K key) {
    return Objects.requireNonNull(map.get(key));
  }
}
