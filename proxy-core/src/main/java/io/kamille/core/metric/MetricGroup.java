package io.kamille.core.metric;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.core.metric.MetricDescriptor.MetricType;
import io.kamille.core.metric.MetricParts.Part;
import java.util.ArrayList;
import java.util.List;

/**
 * Metrics of one subject, which end with it: what is registered here is read until this is closed.
 * What is asked for later counts, and nobody reads it. Any thread.
 */
public final class MetricGroup extends MetricSink implements AutoCloseable {

  private final MetricRegistry registry;

  @GuardedBy("this")
  private final List<Registration> registrations = new ArrayList<>();

  @GuardedBy("this")
  private boolean isClosed;

  /** An empty group. */
  public MetricGroup(MetricRegistry registry) {
    this.registry = registry;
  }

  @Override
  synchronized Registration add(
      MetricDescriptor descriptor, MetricType kind, Part part, String... labelValues) {
    if (isClosed) {
      return () -> {};
    }
    Registration added = registry.add(descriptor, kind, part, labelValues);
    registrations.add(added);
    return added;
  }

  /** Ends the export of all that is registered here. Closing again does nothing. */
  @Override
  public synchronized void close() {
    isClosed = true;
    registrations.forEach(Registration::close);
    registrations.clear();
  }
}
