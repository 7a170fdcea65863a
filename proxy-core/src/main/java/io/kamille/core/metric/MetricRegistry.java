package io.kamille.core.metric;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.core.metric.MetricDescriptor.MetricType;
import io.kamille.core.metric.MetricParts.Part;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Where subsystems register what they count, and where it is read. Any thread. */
public final class MetricRegistry extends MetricSink {

  /*
   * Whoever counts asks for a part of its own under a label set, as often as there are writers;
   * reading adds the parts of a label set up. Nothing on the request path comes here: parts are
   * handed out at start or when a configuration is loaded, and label values come from enums and
   * configurations, never from messages. A limit on label sets catches whoever breaks that rule.
   */
  @GuardedBy("this")
  private final Map<String, MetricParts> metrics = new TreeMap<>();

  /** How many writers and suppliers are registered, of all metrics together. */
  public synchronized int parts() {
    return metrics.values().stream().mapToInt(MetricParts::size).sum();
  }

  /** All metrics with their present values, ordered by name. */
  public List<MetricFamily> read() {
    return copy().stream().map(MetricParts::read).toList();
  }

  /** One metric with its present values; without samples if nobody counts it. */
  public MetricFamily read(MetricDescriptor descriptor) {
    MetricParts parts;
    synchronized (this) {
      MetricParts registered = metrics.get(descriptor.name());
      parts = registered == null ? new MetricParts(descriptor) : registered.copy();
    }
    return parts.read();
  }

  private synchronized List<MetricParts> copy() {
    return metrics.values().stream().map(MetricParts::copy).toList();
  }

  @Override
  synchronized Registration add(
      MetricDescriptor descriptor, MetricType kind, Part part, String... labelValues) {
    check(descriptor, kind, labelValues);
    MetricParts parts =
        metrics.computeIfAbsent(descriptor.name(), _ -> new MetricParts(descriptor));
    if (!parts.descriptor().equals(descriptor)) {
      throw new IllegalArgumentException(
          descriptor + " (expected: the same as " + parts.descriptor() + ")");
    }
    List<String> labels = List.of(labelValues);
    parts.add(labels, part);
    return () -> remove(parts, labels, part);
  }

  private synchronized void remove(MetricParts parts, List<String> labelValues, Part part) {
    parts.remove(labelValues, part);
  }

  private static void check(MetricDescriptor descriptor, MetricType kind, String... labelValues) {
    if (descriptor.kind() != kind) {
      throw new IllegalArgumentException(
          descriptor.name() + ": " + descriptor.kind() + " (expected: " + kind + ")");
    }
    if (labelValues.length != descriptor.labels().size()) {
      throw new IllegalArgumentException(
          descriptor.name()
              + ": "
              + List.of(labelValues)
              + " (expected: one value for each of "
              + descriptor.labels()
              + ")");
    }
  }
}
