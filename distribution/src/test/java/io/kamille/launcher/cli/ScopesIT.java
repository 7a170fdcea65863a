package io.kamille.launcher.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.admin.auth.AuditLog;
import io.kamille.launcher.client.LocalApi;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What a token may not do with a process that has everything, by the process's own description. */
class ScopesIT {

  /** Signing a browser in and out, which changes nothing else. */
  private static final Set<String> OF_SESSIONS = Set.of("/v1/session", "/v1/session/codes");

  @TempDir private Path directory;

  @Test
  void aTokenToReadChangesNothingAndLearnsNothingOfFiles() throws Exception {
    Path file =
        Files.writeString(
            directory.resolve("kamille.yaml"),
            """
            listeners: ["127.0.0.1:0"]
            routes: [{upstream: welcome}]
            admin: {address: "127.0.0.1:0"}
            """);
    LocalApi api = new LocalApi(directory);
    int refused = 0;
    try (KamilleProcess kamille =
            KamilleProcess.start(directory, "run", "--config", file.toString());
        HttpClient client = HttpClient.newHttpClient()) {
      String base = "http://" + kamille.awaitLine("admin on ");
      JsonMapper mapper = JsonMapper.builder().build();
      String order = "{\"name\":\"screen\",\"scope\":\"read\"}";
      Map<String, String> json = Map.of("Content-Type", "application/json");
      String token =
          mapper
              .readTree(api.ask("POST", "/v1/tokens", json, order).content())
              .path("token")
              .stringValue();
      JsonNode paths =
          mapper
              .readTree(api.ask("GET", "/v1/openapi.json", Map.of(), null).content())
              .path("paths");
      assertThat(paths.has("/v1/config/validate")).isTrue();
      for (Map.Entry<String, JsonNode> path : paths.properties()) {
        for (String method : path.getValue().propertyNames()) {
          if (!method.equals("get") && !OF_SESSIONS.contains(path.getKey())) {
            HttpRequest request =
                HttpRequest.newBuilder(URI.create(base + path.getKey().replaceAll("\\{.*?}", "1")))
                    .header("Authorization", "Bearer " + token)
                    .method(
                        method.toUpperCase(Locale.ROOT), HttpRequest.BodyPublishers.ofString("{}"))
                    .build();
            assertThat(client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode())
                .as(method + " " + path.getKey())
                .isEqualTo(403);
            refused++;
          }
        }
      }
    }
    assertThat(refused).isGreaterThan(15);
    assertThat(Files.readString(directory.resolve("audit.jsonl")))
        .contains("\"name\":\"screen\"", "\"outcome\":\"403\"");
    assertThat(AuditLog.verify(directory.resolve("audit.jsonl")).trouble()).isNull();
  }
}
