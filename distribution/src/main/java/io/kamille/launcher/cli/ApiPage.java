package io.kamille.launcher.cli;

import io.kamille.admin.api.ProblemType;
import io.kamille.launcher.appliance.Appliance;
import io.kamille.launcher.client.LocalApi;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Writes the tables of the API's reference page, from what a running appliance declares. */
public final class ApiPage {

  private static final String CONFIGURATION =
      """
      listeners: ['127.0.0.1:0']
      loops: 1
      upstreams: {nobody: {origins: ['http://127.0.0.1:1']}}
      routes: [{upstream: nobody}]
      cache: {memory: {capacity: 1MiB}}
      log: {level: error}
      admin: {address: '127.0.0.1:0', token-file: '%s'}
      """;

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private ApiPage() {}

  /**
   * Brings the tables of the page up to date.
   *
   * @param arguments the page
   */
  public static void main(String[] arguments) throws IOException, CommandFailure {
    if (arguments.length != 1) {
      throw new IllegalArgumentException("expected: one argument, the file to write");
    }
    Path page = Path.of(arguments[0]);
    Files.writeString(page, render(Files.readString(page)));
  }

  /** The page with the tables that belong into it. */
  static String render(String page) throws IOException, CommandFailure {
    return replaced(
        replaced(page, "operations", operations(openApi(), page)), "problems", problems());
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

  private static JsonNode openApi() throws IOException, CommandFailure {
    Path state = Files.createTempDirectory("kamille-reference");
    Path file =
        Files.writeString(
            state.resolve("kamille.yaml"),
            CONFIGURATION.replace("%s", state.resolve("token").toString()));
    if (!(ConfigurationFile.read(file) instanceof ConfigurationReading.Accepted accepted)) {
      throw new IllegalStateException(CONFIGURATION);
    }
    try (VersionedFile versions = new VersionedFile(file);
        Appliance _ = Running.start(accepted.configuration(), versions::resources)) {
      return JSON.readTree(
          new LocalApi(state).ask("GET", "/v1/openapi.json", Map.of(), null).content());
    } finally {
      try (Stream<Path> files = Files.walk(state)) {
        for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(each);
        }
      }
    }
  }

  private static String operations(JsonNode document, String page) {
    StringBuilder table = new StringBuilder("| Resource | Method | Scope | What it does |\n");
    table.append("|---|---|---|---|\n");
    for (Map.Entry<String, JsonNode> path : document.path("paths").properties()) {
      for (Map.Entry<String, JsonNode> method : path.getValue().properties()) {
        JsonNode operation = method.getValue();
        table
            .append("| ")
            .append(resource(path.getKey(), operation, page))
            .append(" | ")
            .append(method.getKey().toUpperCase(Locale.ROOT))
            .append(" | ")
            .append(operation.path("security").path(0).path("bearer").path(0).stringValue("none"))
            .append(" | ")
            .append(operation.path("summary").stringValue("").replace("|", "\\|"))
            .append(" |\n");
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
