package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One line for each exchange, whatever became of it. */
class AccessLogIT {

  private static final String START = "127\\.0\\.0\\.1 - - \\[[^]]+ \\+0000\\] ";

  @RegisterExtension private final Journey journey = new Journey();

  @Test
  void missHitAndMalformedRequestHaveTheirLines() {
    journey.origin().on("/a?q", ok("hello", "Cache-Control: max-age=60"));
    try (TestClient client = journey.client()) {
      client.get("/a?q", "Referer: http://b/", "User-Agent: \"quoted\"").answer();
      client.get("/a?q").answer();
      client.send("BAD\r\n\r\n").answer();
    }
    List<String> lines = journey.accessLog(3);
    assertThat(lines.get(0))
        .matches(
            START
                + "\"GET /a\\?q HTTP/1\\.1\" 200 5 \"http://b/\" \"\\\\\"quoted\\\\\"\""
                + " \\d+\\.\\d{6} miss - \"-\"");
    assertThat(lines.get(1))
        .matches(START + "\"GET /a\\?q HTTP/1\\.1\" 200 5 \"-\" \"-\" \\d+\\.\\d{6} hit - \"-\"");
    assertThat(lines.get(2))
        .as("nothing of the request before")
        .matches(START + "\"-\" 400 \\d+ \"-\" \"-\" \\d+\\.\\d{6} - http_request_error \".+\"");
  }

  @Test
  void aFieldOfTheRequestBeforeNeverShowsInTheLineOfAMalformedOne() {
    journey.origin().on("/secret", ok("x", "Cache-Control: max-age=60"));
    try (TestClient client = journey.client()) {
      for (int i = 0; i < 2; i++) {
        client.get("/secret", "Referer: http://secret/", "User-Agent: secret").answer();
      }
      client.send("GET /next HTTP/1.1\r\nHost: a\r\nBad\r\n\r\n").answer();
    }
    assertThat(journey.accessLog(3).get(2)).contains(" 400 ").doesNotContain("secret");
  }

  @Test
  void aClientThatLeavesAndAnOriginThatFailsAreNamed() throws IOException {
    journey
        .origin()
        .on(
            "/hangs",
            visit -> {
              visit.in().read();
              visit.contentIsRead();
            });
    try (TestClient client = journey.client().get("/hangs")) {
      journey.origin().awaitRequests("/hangs", 1);
      client.reset();
    }
    assertThat(journey.accessLog(1).getFirst())
        .contains("\"GET /hangs HTTP/1.1\"")
        .contains(" miss client_gone \"");
    journey.origin().kill();
    journey.get("/a");
    assertThat(journey.accessLog(2).get(1))
        .contains("\"GET /a HTTP/1.1\" 502 ")
        .contains(" connection_refused \"");
  }

  @Test
  void fieldsOfFreshAndStoredResponsesAreAddedAndARouteMayBeSilent() {
    journey.with(
        "routes: [{upstream: site}, {upstream: site, path: /quiet, log: off}]",
        "log: {level: error, access: {format: json, output: '"
            + journey.file("access.log")
            + "', fields: {add: ['response-field:X-Shop', 'response-field:Cache-Status',"
            + " 'request-field:Authorization', origin-time, tls-version], remove: [user-agent]}}}");
    journey.origin().on("/a", ok("x", "Cache-Control: max-age=60, public", "X-Shop: blue"));
    journey.origin().on("/quiet", ok("x"));
    journey.get("/quiet");
    journey.get("/a", "Authorization: Basic c2VjcmV0", "User-Agent: u");
    journey.get("/a");
    // Each loop has a line of its own to the file.
    List<String> lines =
        journey.accessLog(2).stream()
            .sorted(Comparator.comparing(line -> line.contains("kamille; hit")))
            .toList();
    assertThat(lines).hasSize(2).noneMatch(line -> line.contains("/quiet"));
    assertThat(lines.get(0))
        .contains("\"response-field:x-shop\":\"blue\"", "fwd=uri-miss", "\"originSeconds\":")
        .contains("\"request-field:authorization\":\"digest:")
        .doesNotContain("c2VjcmV0", "userAgent", "tlsVersion");
    assertThat(lines.get(1))
        .contains("\"response-field:x-shop\":\"blue\"", "kamille; hit")
        .doesNotContain("originSeconds");
  }

  @Test
  void linesCanBeJson() {
    journey.with(
        "log: {level: error, access: {enabled: on, format: json, output: '"
            + journey.file("access.log")
            + "'}}");
    journey.origin().on("/a", ok("hello", "Cache-Control: max-age=60"));
    journey.get("/a", "User-Agent: \"quoted\"\t");
    assertThat(journey.accessLog(1).getFirst())
        .startsWith("{")
        .endsWith("}")
        .contains("\"status\":200")
        .contains("/a")
        .contains("\\\"quoted\\\"");
  }

  @Test
  void aReloadReopensTheFileThatWasMovedAway() throws IOException {
    journey.origin().on("/a", ok("x", "Cache-Control: max-age=60"));
    journey.get("/a");
    journey.accessLog(1);
    Files.move(journey.file("access.log"), journey.file("access.log.1"));
    journey.appliance().reload(journey.configuration());
    Await.until(() -> Files.exists(journey.file("access.log")), "the file is there again");
    journey.get("/a");
    assertThat(journey.accessLog(1).getFirst()).contains(" hit ");
  }

  @Test
  void aChangedRequestIsLoggedAsItsClientSentIt() throws IOException, InterruptedException {
    journey.origin().on("/v2/users", ok("x", "Cache-Control: no-store"));
    journey.withUpstream("hedge: 300ms");
    journey.with(
        "routes: [{path: /api, upstream: site, path-rewrite: /v2, request-id: on,"
            + " request-headers: {set: {User-Agent: ours}}}]");
    journey.get("/api/users", "User-Agent: theirs");
    assertThat(journey.origin().request("/v2/users").field("User-Agent")).isEqualTo("ours");
    assertThat(journey.accessLog(1).getFirst())
        .contains("\"GET /api/users HTTP/1.1\" 200 ")
        .contains("\"theirs\"");
    assertThat(journey.admin("/v1/requests").body())
        .contains("/api/users\"")
        .doesNotContain("/v2/users");
  }
}
