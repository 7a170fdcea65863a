package io.kamille.core.metric;

import java.util.List;
import java.util.regex.Pattern;

/**
 * The declaration of one metric, made once by the subsystem it belongs to. Immutable; any thread.
 *
 * @param name as it is exported: {@code kamille_}, words with underscores, base unit; a counter
 *     ends in {@code _total}
 * @param kind how its values move
 * @param unit what one is one of
 * @param help one sentence for the reader of the reference page
 * @param labels the label names, in the order in which values are given
 */
public record MetricDescriptor(
    String name, MetricType kind, Unit unit, String help, List<String> labels) {

  /** How the values of a metric move. */
  public enum MetricType {
    /** Only up. */
    COUNTER,
    /** Up and down. */
    GAUGE,
    /** Durations or other amounts, by size. */
    HISTOGRAM
  }

  /** What is counted or measured; the name of the metric says so (vocabulary, units). */
  public enum Unit {
    /** Things; the name says which. */
    COUNT("", 1),
    SECONDS("_seconds", 1e9),
    BYTES("_bytes", 1),
    /** A share between 0 and 1. */
    RATIO("_ratio", 1e9);

    private final String suffix;
    private final double parts;

    Unit(String suffix, double parts) {
      this.suffix = suffix;
      this.parts = parts;
    }

    /** How many whole numbers of a histogram are one: nanoseconds, billionths, octets. */
    public double parts() {
      return parts;
    }
  }

  private static final Pattern NAME = Pattern.compile("kamille(_[a-z0-9]+)+");
  private static final Pattern LABEL = Pattern.compile("[a-z][a-z0-9_]*");
  private static final String TOTAL = "_total";

  public MetricDescriptor {
    labels = List.copyOf(labels);
    String end = unit.suffix + (kind == MetricType.COUNTER ? TOTAL : "");
    if (!NAME.matcher(name).matches() || !name.endsWith(end)) {
      throw new IllegalArgumentException(
          "name: " + name + " (expected: kamille_<words>" + end + ")");
    }
    if (kind != MetricType.COUNTER && name.endsWith(TOTAL)) {
      throw new IllegalArgumentException("name: " + name + " (expected: no " + TOTAL + ")");
    }
    for (String label : labels) {
      if (!LABEL.matcher(label).matches() || label.equals("le")) {
        throw new IllegalArgumentException("label: " + label + " of " + name);
      }
    }
  }

  /** Something that only grows. */
  public static MetricDescriptor counter(String name, Unit unit, String help, String... labels) {
    return new MetricDescriptor(name, MetricType.COUNTER, unit, help, List.of(labels));
  }

  /** Something that goes up and down. */
  public static MetricDescriptor gauge(String name, Unit unit, String help, String... labels) {
    return new MetricDescriptor(name, MetricType.GAUGE, unit, help, List.of(labels));
  }

  /** Durations. */
  public static MetricDescriptor histogram(String name, String help, String... labels) {
    return histogram(name, Unit.SECONDS, help, labels);
  }

  /** Other amounts, by size. */
  public static MetricDescriptor histogram(String name, Unit unit, String help, String... labels) {
    return new MetricDescriptor(name, MetricType.HISTOGRAM, unit, help, List.of(labels));
  }
}
