package io.kamille.launcher.cli;

import io.kamille.admin.api.ProblemType;
import io.kamille.cluster.ClusterMetrics;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.launcher.UserHome;
import io.kamille.launcher.appliance.Appliance;
import io.kamille.launcher.client.LocalApi;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The reference pages of the API and of all metrics, from what a running appliance declares. */
public final class ReferencePages {

  /*
   * A loop registers what it counts of cache and upstreams with its first request, so one request
   * is made, to an origin that is not there. Disk tier and API have a directory for the time being.
   */
  private static final String CONFIGURATION =
      """
      listeners:
      - '127.0.0.1:0'
      - {address: '127.0.0.1:0', tls: {source: acme, names: [site.invalid]}}
      acme: {terms-agreed: yes, directory: 'https://127.0.0.1:1/'}
      loops: 1
      upstreams: {nobody: {origins: ['http://127.0.0.1:1']}}
      routes: [{upstream: nobody}]
      cache: {memory: {capacity: 1MiB}, disk: {path: '%s/disk', capacity: 4MiB}}
      log: {level: error, access: {enabled: on, output: /dev/null}}
      tracing: {endpoint: 'http://127.0.0.1:1/v1/traces'}
      admin: {address: '127.0.0.1:0', token-file: '%s/token'}
      """;

  private static final String METRICS_HEAD =
      """
      # Metrics

      Generated from the code; do not edit. `GET /metrics` on the admin address gives them in the
      text format of Prometheus, with those of the Java runtime (`jvm_…`, `process_…`, `system_…`).
      Units are base units and part of the name. A histogram `x` has `x_bucket`, `x_sum`, `x_count`.

      | Metric | Kind | Labels | Meaning |
      |---|---|---|---|
      """;

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private ReferencePages() {}

  /** What an appliance declares. */
  public record Declared(List<MetricDescriptor> metrics, JsonNode openApi) {}

  /**
   * Brings the pages up to date.
   *
   * @param arguments the directory with {@code api.md} and {@code metrics.md}
   */
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    Path api = directory.resolve("api.md");
    Declared declared = declared();
    Files.writeString(directory.resolve("metrics.md"), metrics(declared.metrics));
    Files.writeString(api, api(Files.readString(api), declared.openApi));
  }

  /** What an appliance with all its parts declares. */
  public static Declared declared() throws Exception {
    Path state = Files.createTempDirectory("kamille-reference");
    Path file =
        Files.writeString(
            state.resolve("kamille.yaml"), CONFIGURATION.replace("%s", state.toString()));
    PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    try (UserHome _ = new UserHome(state.toString());
        VersionedFile versions = new VersionedFile(file);
        Appliance appliance =
            Running.start(Running.accepted(versions.reading(), err), versions::resources)) {
      ask(appliance.listening().getFirst());
      String openApi = new LocalApi(state).ask("GET", "/v1/openapi.json", Map.of(), null).content();
      List<MetricDescriptor> metrics = new ArrayList<>();
      appliance.metrics().read().forEach(family -> metrics.add(family.descriptor()));
      metrics.addAll(ClusterMetrics.descriptors());
      return new Declared(metrics, JSON.readTree(openApi));
    } finally {
      try (Stream<Path> files = Files.walk(state)) {
        for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(each);
        }
      }
    }
  }

  private static void ask(String address) throws IOException {
    int port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.getOutputStream().write("GET / HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      socket.getInputStream().readAllBytes();
    }
  }

  // Metrics

  /** The page in Markdown, one row per metric, ordered by name. */
  static String metrics(List<MetricDescriptor> descriptors) {
    StringBuilder page = new StringBuilder(METRICS_HEAD);
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

  // The API

  /** The page with the tables that belong into it. */
  static String api(String page, JsonNode openApi) {
    return replaced(
        replaced(page, "operations", operations(openApi, page)), "problems", problems());
  }

  private static String replaced(String page, String name, String table) {
    String begin = "<!-- " + name + ": written by ./dev doc -->\n";
    int start = page.indexOf(begin);
    int end = page.indexOf("<!-- end -->", start);
    if (start < 0 || end < 0) {
      throw new IllegalArgumentException("the page has no place for " + name);
    }
    return page.substring(0, start + begin.length()) + "\n" + table + "\n" + page.substring(end);
  }

  private static String operations(JsonNode document, String page) {
    StringBuilder table = new StringBuilder("| Resource | Method | Scope | What it does |\n");
    table.append("|---|---|---|---|\n");
    for (Map.Entry<String, JsonNode> path : document.path("paths").properties()) {
      for (Map.Entry<String, JsonNode> method : path.getValue().properties()) {
        JsonNode operation = method.getValue();
        table.append(
            String.format(
                Locale.ROOT,
                "| %s | %s | %s | %s |\n",
                resource(path.getKey(), operation, page),
                method.getKey().toUpperCase(Locale.ROOT),
                operation.path("security").path(0).path("bearer").path(0).stringValue("none"),
                operation.path("summary").stringValue("").replace("|", "\\|")));
      }
    }
    return table.toString();
  }

  /** With its parameters, and linked if the page says more about it. */
  private static String resource(String path, JsonNode operation, String page) {
    String query =
        operation.path("parameters").values().stream()
            .filter(parameter -> parameter.path("in").stringValue("").equals("query"))
            .map(parameter -> parameter.path("name").stringValue(""))
            .collect(Collectors.joining("&"));
    String shown = "`" + path + (query.isEmpty() ? "" : "?" + query) + "`";
    return page.contains("\n## `" + path + "`\n")
        ? "[" + shown + "](#" + path.replaceAll("[^A-Za-z0-9-]", "") + ")"
        : shown;
  }

  private static String problems() {
    StringBuilder table = new StringBuilder("| Type | Status | Meaning | What to do |\n");
    table.append("|---|---|---|---|\n");
    for (ProblemType type : ProblemType.values()) {
      table.append("| `/problems/").append(type.token()).append("` | ").append(type.status());
      table.append(" | ").append(type.title()).append(" | ").append(type.advice()).append(" |\n");
    }
    return table.toString();
  }
}
