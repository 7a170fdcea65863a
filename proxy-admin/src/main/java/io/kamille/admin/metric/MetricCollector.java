package io.kamille.admin.metric;

import io.kamille.core.metric.HistogramSnapshot;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricFamily;
import io.kamille.core.metric.MetricFamily.Sample;
import io.kamille.core.metric.MetricRegistry;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.ArrayList;
import java.util.List;

/** Our metrics as Prometheus collects them. Any thread. */
final class MetricCollector implements MultiCollector {

  /*
   * Micrometer's meters cannot carry a histogram that was counted elsewhere, so our metrics go into
   * the Prometheus registry beneath it, side by side with those Micrometer brings. Of the four
   * buckets to each power of two every second bound is exported: half the lines, and still no
   * bucket more than half as wide again as its lower bound.
   */
  private static final int BUCKETS_PER_BOUND = 2;

  private final MetricRegistry registry;

  MetricCollector(MetricRegistry registry) {
    this.registry = registry;
  }

  @Override
  public MetricSnapshots collect() {
    List<MetricSnapshot> snapshots = new ArrayList<>();
    for (MetricFamily family : registry.read()) {
      snapshots.add(
          switch (family.descriptor().kind()) {
            case COUNTER -> counter(family);
            case GAUGE -> gauge(family);
            case HISTOGRAM -> histogram(family);
          });
    }
    return new MetricSnapshots(snapshots);
  }

  private static MetricSnapshot counter(MetricFamily family) {
    MetricDescriptor descriptor = family.descriptor();
    CounterSnapshot.Builder counter =
        CounterSnapshot.builder()
            .name(descriptor.name().substring(0, descriptor.name().lastIndexOf("_total")))
            .help(descriptor.help());
    for (Sample sample : family.samples()) {
      counter.dataPoint(
          CounterDataPointSnapshot.builder()
              .labels(labels(descriptor, sample))
              .value(sample.value())
              .build());
    }
    return counter.build();
  }

  private static MetricSnapshot gauge(MetricFamily family) {
    MetricDescriptor descriptor = family.descriptor();
    GaugeSnapshot.Builder gauge =
        GaugeSnapshot.builder().name(descriptor.name()).help(descriptor.help());
    for (Sample sample : family.samples()) {
      gauge.dataPoint(
          GaugeDataPointSnapshot.builder()
              .labels(labels(descriptor, sample))
              .value(sample.value())
              .build());
    }
    return gauge.build();
  }

  private static MetricSnapshot histogram(MetricFamily family) {
    MetricDescriptor descriptor = family.descriptor();
    double parts = descriptor.unit().parts();
    var histogram =
        io.prometheus.metrics.model.snapshots.HistogramSnapshot.builder()
            .name(descriptor.name())
            .help(descriptor.help());
    for (Sample sample : family.samples()) {
      histogram.dataPoint(
          HistogramDataPointSnapshot.builder()
              .labels(labels(descriptor, sample))
              .classicHistogramBuckets(buckets(sample.durations(), parts))
              .sum(sample.durations().sumNanos() / parts)
              .build());
    }
    return histogram.build();
  }

  private static ClassicHistogramBuckets buckets(HistogramSnapshot durations, double parts) {
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
