package io.kamille.admin.metric;

import io.kamille.core.metric.Histogram;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricFamily;
import io.kamille.core.metric.MetricFamily.Sample;
import io.kamille.core.metric.MetricRegistry;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Exemplars;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.ArrayList;
import java.util.List;

/** Our metrics as Prometheus collects them. Any thread. */
record MetricCollector(MetricRegistry registry) implements MultiCollector {

  /*
   * Micrometer's meters cannot carry a histogram that was counted elsewhere, so our metrics go into
   * the Prometheus registry beneath it, side by side with those Micrometer brings. Of the four
   * buckets to each power of two every second bound is exported: half the lines, and still no
   * bucket more than half as wide again as its lower bound.
   */
  private static final int BUCKETS_PER_BOUND = 2;

  @Override
  public MetricSnapshots collect() {
    return new MetricSnapshots(registry.read().stream().map(MetricCollector::snapshot).toList());
  }

  private static MetricSnapshot snapshot(MetricFamily family) {
    MetricDescriptor descriptor = family.descriptor();
    String name = descriptor.name();
    List<Sample> samples = family.samples();
    return switch (descriptor.kind()) {
      case COUNTER ->
          new CounterSnapshot(
              new MetricMetadata(name.substring(0, name.lastIndexOf("_total")), descriptor.help()),
              samples.stream()
                  .map(
                      sample ->
                          new CounterDataPointSnapshot(
                              sample.value(), labels(descriptor, sample), null, 0))
                  .toList());
      case GAUGE ->
          new GaugeSnapshot(
              new MetricMetadata(name, descriptor.help()),
              samples.stream()
                  .map(
                      sample ->
                          new GaugeDataPointSnapshot(
                              sample.value(), labels(descriptor, sample), null))
                  .toList());
      case HISTOGRAM ->
          new io.prometheus.metrics.model.snapshots.HistogramSnapshot(
              new MetricMetadata(name, descriptor.help()),
              samples.stream().map(sample -> durations(descriptor, sample)).toList());
    };
  }

  private static HistogramDataPointSnapshot durations(MetricDescriptor descriptor, Sample sample) {
    double parts = descriptor.parts();
    return new HistogramDataPointSnapshot(
        buckets(sample.durations(), parts),
        sample.durations().sumNanos() / parts,
        labels(descriptor, sample),
        Exemplars.EMPTY,
        0);
  }

  private static ClassicHistogramBuckets buckets(Histogram.Snapshot durations, double parts) {
    List<Double> bounds = new ArrayList<>();
    List<Long> counts = new ArrayList<>();
    int last = durations.buckets() - 1;
    long count = 0;
    for (int i = 0; i < last; i++) {
      count += durations.count(i);
      if (i % BUCKETS_PER_BOUND == 0) {
        bounds.add(durations.upperBoundNanos(i) / parts);
        counts.add(count);
        count = 0;
      }
    }
    bounds.add(Double.POSITIVE_INFINITY);
    counts.add(count + durations.count(last));
    return ClassicHistogramBuckets.of(bounds, counts);
  }

  private static Labels labels(MetricDescriptor descriptor, Sample sample) {
    return Labels.of(descriptor.labels(), sample.labelValues());
  }
}
