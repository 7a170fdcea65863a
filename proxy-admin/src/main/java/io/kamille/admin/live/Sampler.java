package io.kamille.admin.live;

import io.kamille.cache.tiers.Store;
import io.kamille.cluster.peer.Peers;
import io.kamille.core.client.open.ConnectionMetrics;
import io.kamille.core.exchange.ExchangeMetrics;
import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.loop.LoopGroup;
import io.kamille.core.metric.Histogram;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricFamily.Sample;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.UpstreamMetrics;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** Makes a point of each second from the metrics. Confined to the control thread. */
public final class Sampler {

  private static final double NANOS_PER_MILLI = 1e6;
  private static final Set<String> HITS =
      Set.of(CacheResult.HIT.token(), CacheResult.STALE_HIT.token());

  private final MetricRegistry registry;
  private double seconds = Double.NaN;
  private Counts before;

  private record Counts(
      double requests,
      double hits,
      double failures,
      double cpuSeconds,
      Histogram.Snapshot hitTimes,
      Histogram.Snapshot otherTimes) {}

  /** A sampler that has not looked yet. */
  public Sampler(MetricRegistry registry) {
    this.registry = registry;
    this.before = counts();
  }

  /**
   * The figures since the last look; rates are 0 at the first.
   *
   * @param nowSeconds of a clock that never goes back
   */
  public Map<Figure, Double> sample(double nowSeconds) {
    Counts now = counts();
    double passed = nowSeconds - seconds;
    boolean isFirst = Double.isNaN(passed) || passed <= 0;
    Map<Figure, Double> point = new EnumMap<>(Figure.class);
    point.put(Figure.REQUESTS, rate(now.requests - before.requests, passed, isFirst));
    point.put(Figure.HITS, rate(now.hits - before.hits, passed, isFirst));
    point.put(Figure.FAILURES, rate(now.failures - before.failures, passed, isFirst));
    point.put(Figure.CONNECTIONS, sum(ConnectionMetrics.CONNECTIONS, _ -> true));
    point.put(Figure.MEMORY, sum(Store.USED, _ -> true));
    point.put(Figure.PROCESSORS, rate(now.cpuSeconds - before.cpuSeconds, passed, isFirst));
    point.put(Figure.HIT_P99, p99Millis(now.hitTimes, before.hitTimes));
    point.put(Figure.MISS_P99, p99Millis(now.otherTimes, before.otherTimes));
    before = now;
    seconds = nowSeconds;
    return point;
  }

  private Counts counts() {
    return new Counts(
        sum(ExchangeMetrics.REQUESTS, _ -> true),
        sum(ExchangeMetrics.REQUESTS, Sampler::isHit),
        sum(UpstreamMetrics.FAILURES, labels -> !labels.getFirst().equals(Peers.UPSTREAM)),
        sum(LoopGroup.CPU, _ -> true),
        times(Sampler::isHit),
        times(labels -> !isHit(labels)));
  }

  /** The result of the cache is the last label of requests and of their durations. */
  private static boolean isHit(List<String> labels) {
    return HITS.contains(labels.getLast());
  }

  private double sum(MetricDescriptor metric, Predicate<List<String>> labels) {
    return registry.read(metric).samples().stream()
        .filter(sample -> labels.test(sample.labelValues()))
        .mapToDouble(Sample::value)
        .sum();
  }

  private Histogram.Snapshot times(Predicate<List<String>> labels) {
    return registry.read(ExchangeMetrics.DURATION).samples().stream()
        .filter(sample -> labels.test(sample.labelValues()))
        .map(Sample::durations)
        .reduce(Histogram.Snapshot.EMPTY, Histogram.Snapshot::plus);
  }

  private static double p99Millis(Histogram.Snapshot now, Histogram.Snapshot before) {
    return now.since(before).quantileNanos(0.99) / NANOS_PER_MILLI;
  }

  /** A counter can fall when an upstream leaves: that second has no rate. */
  private static double rate(double difference, double seconds, boolean isFirst) {
    return isFirst ? 0 : Math.max(0, difference / seconds);
  }
}
