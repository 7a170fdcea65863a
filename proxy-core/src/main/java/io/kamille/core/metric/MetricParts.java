package io.kamille.core.metric;

import io.kamille.core.metric.MetricFamily.Sample;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleSupplier;

/** The parts of one metric, by label set. Guarded by its registry. */
final class MetricParts {

  /** What one writer counts, or one supplier gives. */
  sealed interface Part permits Value, Durations {}

  record Value(DoubleSupplier supplier) implements Part {}

  record Durations(Histogram histogram) implements Part {}

  /** Room for every kind of failure at each of a thousand upstreams. */
  private static final int LABEL_SETS = 20_000;

  private final MetricDescriptor descriptor;
  private final Map<List<String>, List<Part>> parts = new LinkedHashMap<>();

  MetricParts(MetricDescriptor descriptor) {
    this.descriptor = descriptor;
  }

  MetricDescriptor descriptor() {
    return descriptor;
  }

  void add(List<String> labelValues, Part part) {
    if (parts.size() == LABEL_SETS && !parts.containsKey(labelValues)) {
      throw new IllegalStateException(
          descriptor.name()
              + ": "
              + labelValues
              + " (expected: at most "
              + LABEL_SETS
              + " label sets)");
    }
    parts.computeIfAbsent(labelValues, _ -> new ArrayList<>()).add(part);
  }

  void remove(List<String> labelValues, Part part) {
    List<Part> rest = parts.get(labelValues);
    if (rest != null && rest.remove(part) && rest.isEmpty()) {
      parts.remove(labelValues);
    }
  }

  int size() {
    return parts.values().stream().mapToInt(List::size).sum();
  }

  MetricParts copy() {
    MetricParts copy = new MetricParts(descriptor);
    parts.forEach((labelValues, each) -> copy.parts.put(labelValues, List.copyOf(each)));
    return copy;
  }

  MetricFamily read() {
    List<Sample> samples = new ArrayList<>();
    parts.forEach((labelValues, each) -> samples.add(sample(labelValues, each)));
    return new MetricFamily(descriptor, samples);
  }

  private static Sample sample(List<String> labelValues, List<Part> parts) {
    double value = 0;
    Histogram.Snapshot durations = Histogram.Snapshot.EMPTY;
    for (Part part : parts) {
      switch (part) {
        case Value(var supplier) -> value += supplier.getAsDouble();
        case Durations(var histogram) -> durations = durations.plus(histogram.snapshot());
      }
    }
    return new Sample(labelValues, value, durations);
  }
}
