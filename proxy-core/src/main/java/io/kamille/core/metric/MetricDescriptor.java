package io.kamille.core.metric;

import java.util.List;
import java.util.regex.Pattern;

/**
 * The declaration of one metric, made once by the subsystem it belongs to. Immutable; any thread.
 *
 * @param name as it is exported: {@code kamille_}, words with underscores, base unit such as {@code
 *     _bytes}; a counter ends in {@code _total}
 * @param kind how its values move
 * @param help one sentence for the reader of the reference page
 * @param labels the label names, in the order in which values are given
 */
public record MetricDescriptor(String name, MetricType kind, String help, List<String> labels) {

  /** How the values of a metric move. */
  public enum MetricType {
    /** Only up. */
    COUNTER,
    /** Up and down. */
    GAUGE,
    /** Durations or other amounts, by size. */
    HISTOGRAM
  }

  private static final Pattern NAME = Pattern.compile("kamille(_[a-z0-9]+)+");
  private static final Pattern LABEL = Pattern.compile("[a-z][a-z0-9_]*");
  private static final String TOTAL = "_total";

  public MetricDescriptor {
    labels = List.copyOf(labels);
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException("name: " + name + " (expected: kamille_<words>)");
    }
    if (name.endsWith(TOTAL) != (kind == MetricType.COUNTER)) {
      throw new IllegalArgumentException(
          "name: " + name + " (expected: " + TOTAL + " of counters, and of no others)");
    }
    for (String label : labels) {
      if (!LABEL.matcher(label).matches() || label.equals("le")) {
        throw new IllegalArgumentException("label: " + label + " of " + name);
      }
    }
  }

  /** Something that only grows. */
  public static MetricDescriptor counter(String name, String help, String... labels) {
    return new MetricDescriptor(name, MetricType.COUNTER, help, List.of(labels));
  }

  /** Something that goes up and down. */
  public static MetricDescriptor gauge(String name, String help, String... labels) {
    return new MetricDescriptor(name, MetricType.GAUGE, help, List.of(labels));
  }

  /** Durations, or other amounts by size. */
  public static MetricDescriptor histogram(String name, String help, String... labels) {
    return new MetricDescriptor(name, MetricType.HISTOGRAM, help, List.of(labels));
  }

  /** How many whole numbers of a histogram are one of its unit, which the name says. */
  public double parts() {
    return name.endsWith("_seconds") || name.endsWith("_ratio") ? 1e9 : 1;
  }
}
