package io.kamille.admin.live;

import io.kamille.admin.view.ApplianceView;
import io.kamille.admin.view.ApplianceView.CacheSnapshot;
import io.kamille.admin.view.ApplianceView.LoopSnapshot;
import io.kamille.admin.view.ApplianceView.RequestDurations;
import io.kamille.core.metric.Histogram;

/** Makes a point of each second from counters that only grow. Confined to the control thread. */
public final class Sampler {

  private static final double NANOS_PER_MILLI = 1e6;

  private final ApplianceView appliance;
  private double seconds = Double.NaN;
  private Counts before = new Counts(0, 0, 0, 0);
  private RequestDurations durations;

  private record Counts(double requests, double hits, double failures, double cpuSeconds) {}

  /** A sampler that has not looked yet. */
  public Sampler(ApplianceView appliance) {
    this.appliance = appliance;
    this.durations = appliance.durations();
  }

  /**
   * The figures since the last look; rates are 0 at the first.
   *
   * @param nowSeconds of a clock that never goes back
   */
  public Point look(double nowSeconds) {
    CacheSnapshot cache = appliance.cache();
    Counts now =
        new Counts((double) cache.hits() + cache.misses(), cache.hits(), failures(), cpuSeconds());
    double passed = nowSeconds - seconds;
    boolean isFirst = Double.isNaN(passed) || passed <= 0;
    double[] values = new double[Figure.values().length];
    values[Figure.REQUESTS.ordinal()] = rate(now.requests - before.requests, passed, isFirst);
    values[Figure.HITS.ordinal()] = rate(now.hits - before.hits, passed, isFirst);
    values[Figure.FAILURES.ordinal()] = rate(now.failures - before.failures, passed, isFirst);
    values[Figure.CONNECTIONS.ordinal()] =
        appliance.loops().stream().mapToLong(LoopSnapshot::connections).sum();
    values[Figure.MEMORY.ordinal()] = cache.usedBytes();
    values[Figure.PROCESSORS.ordinal()] = rate(now.cpuSeconds - before.cpuSeconds, passed, isFirst);
    RequestDurations taken = appliance.durations();
    values[Figure.HIT_P99.ordinal()] = p99Millis(taken.hits(), durations.hits());
    values[Figure.MISS_P99.ordinal()] = p99Millis(taken.others(), durations.others());
    durations = taken;
    before = now;
    seconds = nowSeconds;
    return new Point(values);
  }

  private static double p99Millis(Histogram.Snapshot now, Histogram.Snapshot before) {
    return now.since(before).quantileNanos(0.99) / NANOS_PER_MILLI;
  }

  private double failures() {
    return appliance.upstreams().stream()
        .flatMap(upstream -> upstream.origins().stream())
        .mapToLong(origin -> origin.failures())
        .sum();
  }

  private double cpuSeconds() {
    return appliance.loops().stream().mapToDouble(LoopSnapshot::cpuSeconds).sum();
  }

  /** A counter can fall when an origin leaves: that second has no rate. */
  private static double rate(double difference, double seconds, boolean isFirst) {
    return isFirst ? 0 : Math.max(0, difference / seconds);
  }
}
