package io.kamille.launcher.configuration;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The dashboard and the alerts ask for metrics and labels that there are. */
class MonitoringFilesTest {

  private static final Path DEPLOY = Path.of("src", "main", "deploy");
  private static final Pattern METRIC =
      Pattern.compile("(kamille_[a-z0-9_]+)(?:\\{([^}]*)\\})?(?![a-z_]*[:/])");
  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| `(kamille_[a-z0-9_]+)` \\| (\\w+) \\| ([^|]*)\\|");
  private static final Pattern GROUPED = Pattern.compile("by \\(([^)]*)\\)");

  /** Labels that Prometheus adds. */
  private static final Set<String> OUTSIDE = Set.of("instance", "job", "le");

  /** The labels of each metric, by the names that Prometheus has. */
  private static Map<String, Set<String>> metrics() throws IOException {
    Map<String, Set<String>> metrics = new HashMap<>();
    Matcher row = ROW.matcher(Files.readString(Path.of("../docs/reference/metrics.md")));
    while (row.find()) {
      Set<String> labels = new TreeSet<>(OUTSIDE);
      Matcher label = Pattern.compile("`([^`]+)`").matcher(row.group(3));
      while (label.find()) {
        labels.add(label.group(1));
      }
      metrics.put(row.group(1), labels);
      if (row.group(2).equals("histogram")) {
        for (String part : List.of("_bucket", "_sum", "_count")) {
          metrics.put(row.group(1) + part, labels);
        }
      }
    }
    return metrics;
  }

  private static List<String> unknown(String expression) throws IOException {
    Map<String, Set<String>> metrics = metrics();
    List<String> unknown = new ArrayList<>();
    Set<String> labels = new TreeSet<>(OUTSIDE);
    Matcher metric = METRIC.matcher(expression);
    while (metric.find()) {
      Set<String> known = metrics.get(metric.group(1));
      if (known == null) {
        unknown.add(metric.group(1));
        continue;
      }
      labels.addAll(known);
      for (String matcher : String.valueOf(metric.group(2)).split(",", -1)) {
        String label = matcher.split("[=!]", 2)[0];
        if (!matcher.equals("null") && !known.contains(label)) {
          unknown.add(metric.group(1) + "{" + label + "}");
        }
      }
    }
    Matcher grouped = GROUPED.matcher(expression);
    while (grouped.find()) {
      for (String label : grouped.group(1).split(", ", -1)) {
        if (!labels.contains(label)) {
          unknown.add("by (" + label + ")");
        }
      }
    }
    return unknown;
  }

  @Test
  void theDashboardAsksForWhatThereIs() throws IOException {
    JsonNode dashboard =
        JsonMapper.builder()
            .build()
            .readTree(Files.readString(DEPLOY.resolve("grafana/kamille.json")));
    List<String> unknown = new ArrayList<>();
    int expressions = 0;
    for (JsonNode panel : dashboard.path("panels").values()) {
      for (JsonNode target : panel.path("targets").values()) {
        unknown.addAll(unknown(target.path("expr").stringValue("")));
        expressions++;
      }
    }
    assertThat(unknown).isEmpty();
    assertThat(expressions).isGreaterThan(15);
  }

  @Test
  void theAlertsAskForWhatThereIs() throws IOException {
    String text = Files.readString(DEPLOY.resolve("prometheus/alerts.yaml"));
    Map<?, ?> document = (Map<?, ?>) new Load(LoadSettings.builder().build()).loadFromString(text);
    List<String> unknown = new ArrayList<>();
    int alerts = 0;
    for (Object group : list(document, "groups")) {
      for (Object rule : list((Map<?, ?>) group, "rules")) {
        Map<?, ?> alert = (Map<?, ?>) rule;
        unknown.addAll(unknown(String.valueOf(alert.get("expr"))));
        assertThat(alert.get("annotations")).isNotNull();
        alerts++;
      }
    }
    assertThat(unknown).isEmpty();
    assertThat(alerts).isGreaterThan(9);
  }

  @Test
  void aNameThatIsWrongWouldBeFound() throws IOException {
    assertThat(unknown("rate(kamille_requests_totals[5m])")).hasSize(1);
    assertThat(unknown("kamille_requests_total{state=\"x\"}")).hasSize(1);
    assertThat(unknown("sum by (nobody) (kamille_requests_total)")).hasSize(1);
  }

  private static List<?> list(Map<?, ?> around, String name) {
    return (List<?>) requireNonNull(around.get(name), name);
  }
}
