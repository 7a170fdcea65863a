package io.kamille.core.metric;

import java.util.List;

/** One metric with the values of all its label sets, as they were read. Immutable. */
public record MetricFamily(MetricDescriptor descriptor, List<Sample> samples) {

  public MetricFamily {
    samples = List.copyOf(samples);
  }

  /**
   * What all parts under one label set gave together.
   *
   * @param labelValues in the order of the descriptor's labels
   * @param value of a counter or gauge; zero for a histogram
   * @param durations of a histogram; empty for the others
   */
  public record Sample(List<String> labelValues, double value, Histogram.Snapshot durations) {

    public Sample {
      labelValues = List.copyOf(labelValues);
    }
  }
}
