package io.kamille.core.metric;

import io.kamille.core.metric.MetricDescriptor.MetricType;
import io.kamille.core.metric.MetricParts.Durations;
import io.kamille.core.metric.MetricParts.Part;
import io.kamille.core.metric.MetricParts.Value;
import java.util.function.DoubleSupplier;

/** Takes what a subsystem counts, to be read. Any thread. */
public abstract class MetricSink {

  MetricSink() {}

  /** A counter for one writer. */
  public final Counter counter(MetricDescriptor descriptor, String... labelValues) {
    Counter counter = new Counter();
    counting(descriptor, counter::value, labelValues);
    return counter;
  }

  /** A histogram for one writer. */
  public final Histogram histogram(MetricDescriptor descriptor, String... labelValues) {
    Histogram histogram = new Histogram();
    add(descriptor, MetricType.HISTOGRAM, new Durations(histogram), labelValues);
    return histogram;
  }

  /** Exports a count that is kept elsewhere, asked for on the reader's thread. */
  public final Registration counting(
      MetricDescriptor descriptor, DoubleSupplier count, String... labelValues) {
    return add(descriptor, MetricType.COUNTER, new Value(count), labelValues);
  }

  /** Exports a value that goes up and down, asked for on the reader's thread. */
  public final Registration gauge(
      MetricDescriptor descriptor, DoubleSupplier value, String... labelValues) {
    return add(descriptor, MetricType.GAUGE, new Value(value), labelValues);
  }

  /** The same count without labels, declared where it is exported. */
  public final Registration counting(String name, String help, DoubleSupplier count) {
    return counting(MetricDescriptor.counter(name, help), count);
  }

  /** The same value without labels, declared where it is exported. */
  public final Registration gauge(String name, String help, DoubleSupplier value) {
    return gauge(MetricDescriptor.gauge(name, help), value);
  }

  abstract Registration add(
      MetricDescriptor descriptor, MetricType kind, Part part, String... labelValues);
}
