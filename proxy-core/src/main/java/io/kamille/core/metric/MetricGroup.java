package io.kamille.core.metric;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleSupplier;

/**
 * Metrics of one subject, which end with it: what is registered here is read until this is closed.
 * What is asked for later counts, and nobody reads it. Any thread.
 */
public final class MetricGroup implements AutoCloseable {

  private final MetricRegistry registry;

  @GuardedBy("this")
  private final List<Registration> registrations = new ArrayList<>();

  @GuardedBy("this")
  private boolean isClosed;

  /** An empty group. */
  public MetricGroup(MetricRegistry registry) {
    this.registry = registry;
  }

  /** A counter for one writer. */
  public synchronized Counter counter(MetricDescriptor descriptor, String... labelValues) {
    Counter counter = new Counter();
    if (!isClosed) {
      registrations.add(registry.counting(descriptor, counter::value, labelValues));
    }
    return counter;
  }

  /** Exports a count that is kept elsewhere, asked for on the reader's thread. */
  public synchronized void counting(
      MetricDescriptor descriptor, DoubleSupplier count, String... labelValues) {
    if (!isClosed) {
      registrations.add(registry.counting(descriptor, count, labelValues));
    }
  }

  /** A histogram for one writer. */
  public synchronized Histogram histogram(MetricDescriptor descriptor, String... labelValues) {
    Histogram histogram = new Histogram();
    if (!isClosed) {
      registrations.add(registry.export(descriptor, histogram, labelValues));
    }
    return histogram;
  }

  /** Exports a value that goes up and down, asked for on the reader's thread. */
  public synchronized void gauge(
      MetricDescriptor descriptor, DoubleSupplier value, String... labelValues) {
    if (!isClosed) {
      registrations.add(registry.gauge(descriptor, value, labelValues));
    }
  }

  /** Ends the export of all that is registered here. Closing again does nothing. */
  @Override
  public synchronized void close() {
    isClosed = true;
    registrations.forEach(Registration::close);
    registrations.clear();
  }
}
