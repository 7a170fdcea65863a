package io.kamille.admin.metric;

import io.kamille.core.metric.MetricDescriptor;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** The reference page of metrics, from their declarations. Stateless; any thread. */
public final class MetricsReference {

  private static final String HEAD =
      """
      # Metrics

      Generated from the code; do not edit. `GET /metrics` on the admin address gives them in the
      text format of Prometheus, with those of the Java runtime (`jvm_…`, `process_…`, `system_…`).
      Units are base units and part of the name. A histogram `x` has `x_bucket`, `x_sum`, `x_count`.

      | Metric | Kind | Labels | Meaning |
      |---|---|---|---|
      """;

  private MetricsReference() {}

  /** The page in Markdown, one row per metric, ordered by name. */
  public static String markdown(List<MetricDescriptor> descriptors) {
    StringBuilder page = new StringBuilder(HEAD);
    descriptors.stream()
        .sorted(Comparator.comparing(MetricDescriptor::name))
        .forEach(descriptor -> page.append(row(descriptor)));
    return page.toString();
  }

  private static String row(MetricDescriptor descriptor) {
    return "| `"
        + descriptor.name()
        + "` | "
        + descriptor.kind().name().toLowerCase(Locale.ROOT)
        + " | "
        + labels(descriptor.labels())
        + " | "
        + descriptor.help().replace("|", "\\|")
        + " |\n";
  }

  private static String labels(List<String> labels) {
    return labels.isEmpty() ? "" : "`" + String.join("`, `", labels) + "`";
  }
}
