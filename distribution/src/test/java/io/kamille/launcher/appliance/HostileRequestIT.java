package io.kamille.launcher.appliance;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.admin.AdminServer;
import io.kamille.admin.AdminSettings;
import io.kamille.core.Await;
import io.kamille.core.loop.ManualClock;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.setting.Sections;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Every operation of an appliance, asked in every wrong way. */
class HostileRequestIT {

  private static final List<String> CONTENTS =
      List.of(
          "",
          "{",
          "[]",
          "null",
          "\"x\"",
          "{\"nobody\":1}",
          "{\"url\":{\"a\":[]},\"name\":[],\"decision\":3,\"number\":1e99,\"pacing\":null}",
          "{\"a\":".repeat(2_000) + "1" + "}".repeat(2_000),
          "[".repeat(20_000),
          "1".repeat(5_000),
          "{\"name\":\"" + "x".repeat(30_000) + "\"}",
          "\u0000\uFFFF");

  /** Enough of a stream for the line of its status. */
  private static final int STREAM_HEAD = 100;

  /** Longer than the content of any operation may be. */
  private static final int LONG = 16 << 20;

  private record Asked(
      String method, String path, boolean isOpen, boolean isForReaders, List<String> types) {
    boolean isSafe() {
      return method.equals("GET");
    }
  }

  @TempDir private Path directory;
  @RegisterExtension private final Journey journey = new Journey();
  private final ManualClock clock = ManualClock.atSeconds(1_795_251_660L);

  private AdminServer server;
  private String token;
  private final List<Asked> operations = new ArrayList<>();

  @BeforeEach
  void open() throws IOException {
    AdminSettings own = journey.appliance().admin();
    server =
        AdminServer.open(
            Sections.copy(own)
                .with("allowsRemote", false)
                .with("tokenFile", directory.resolve("token"))
                .record(),
            "test",
            new ControlPlane(journey.appliance(), List.of()).operations(),
            () -> null,
            new MetricRegistry(),
            clock,
            null,
            false);
    token = "Authorization: Bearer " + Files.readString(directory.resolve("token")).strip();
    String answer = ask("GET", "/v1/openapi.json", token, null, "");
    JsonNode document =
        JsonMapper.builder().build().readTree(answer.substring(answer.indexOf("\r\n\r\n") + 4));
    for (Map.Entry<String, JsonNode> path : document.path("paths").properties()) {
      for (Map.Entry<String, JsonNode> method : path.getValue().properties()) {
        JsonNode operation = method.getValue();
        operations.add(
            new Asked(
                method.getKey().toUpperCase(Locale.ROOT),
                path.getKey().replaceAll("\\{[^}]*\\}", "1"),
                operation.path("security").isMissingNode(),
                operation.path("security").toString().contains("\"read\""),
                List.copyOf(operation.path("requestBody").path("content").propertyNames())));
      }
    }
    assertThat(operations).hasSizeGreaterThan(45);
  }

  @AfterEach
  void close() {
    server.close();
  }

  @Test
  void connectionsThatSendNothingKeepNobodyOut() throws IOException {
    List<Socket> silent = new ArrayList<>();
    try {
      for (int i = 0; i < 200; i++) {
        silent.add(connect());
      }
      assertThat(ask("GET", "/readyz", "", null, "")).startsWith("HTTP/1.1 200 ");
      assertThat(silent.getFirst().getInputStream().readAllBytes()).isEmpty();
    } finally {
      for (Socket socket : silent) {
        socket.close();
      }
    }
  }

  private String ask(
      String method, String target, String fields, @Nullable String type, String content)
      throws IOException {
    int length = content.getBytes(StandardCharsets.UTF_8).length;
    return ask(method, target, fields, type, content, length);
  }

  private String ask(
      String method,
      String target,
      String fields,
      @Nullable String type,
      String content,
      int length)
      throws IOException {
    try (Socket socket = connect()) {
      byte[] octets = content.getBytes(StandardCharsets.UTF_8);
      String request =
          method
              + " "
              + target
              + " HTTP/1.1\r\nConnection: close\r\n"
              + (fields.contains("Host:") ? "" : "Host: localhost\r\n")
              + (fields.isEmpty() ? "" : fields + "\r\n")
              + (type == null ? "" : "Content-Type: " + type + "\r\n")
              + "Content-Length: "
              + length
              + "\r\n\r\n"
              + new String(octets, StandardCharsets.ISO_8859_1);
      socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
      boolean isStream = target.startsWith("/v1/live");
      InputStream answer = socket.getInputStream();
      return new String(
          isStream ? answer.readNBytes(STREAM_HEAD) : answer.readAllBytes(),
          StandardCharsets.UTF_8);
    }
  }

  private Socket connect() throws IOException {
    Socket socket = new Socket();
    socket.setSoTimeout(60_000);
    socket.connect(server.address());
    return socket;
  }

  private static int status(String answer) {
    return Integer.parseInt(answer, 9, 12, 10);
  }

  private static @Nullable String type(Asked operation) {
    return operation.types().isEmpty() ? null : operation.types().getFirst();
  }

  @Test
  void whoIsNotKnownLearnsAndChangesNothing() throws IOException {
    for (Asked each : operations) {
      if (!each.isOpen()) {
        String answer = ask(each.method(), each.path(), "", type(each), "{}");
        assertThat(status(answer)).as(each.toString()).isEqualTo(401);
      }
    }
    assertThat(status(ask("GET", "/v1/nothing", "", null, ""))).isEqualTo(401);
  }

  /** A page on another port of localhost: cookies ignore ports, and it has ours. */
  @Test
  void theCookieAloneIsNobody() throws IOException {
    String signedIn =
        ask(
            "POST",
            "/v1/session",
            "",
            "application/json",
            "{\"token\":\"" + token.substring(token.lastIndexOf(' ') + 1) + "\"}");
    int at = signedIn.indexOf("kamille-");
    String fields =
        "Origin: http://localhost:8000\r\nCookie: "
            + signedIn.substring(at, signedIn.indexOf(';', at));
    for (Asked each : operations) {
      if (!each.isOpen()) {
        String answer = ask(each.method(), each.path(), fields, type(each), "{}");
        assertThat(status(answer)).as(each.toString()).isEqualTo(401);
        assertThat(answer).doesNotContain("Access-Control-");
      }
    }
  }

  @Test
  void aTokenToReadChangesNothingAndEachTryIsTakenDown() throws IOException {
    String made =
        ask(
            "POST",
            "/v1/tokens",
            token,
            "application/json",
            "{\"name\":\"screen\",\"scope\":\"read\"}");
    String secret = made.substring(made.indexOf("kam_"), made.indexOf('"', made.indexOf("kam_")));
    int refused = 0;
    for (Asked each : operations) {
      if (each.isSafe() || each.isOpen() || each.isForReaders()) {
        continue;
      }
      String answer =
          ask(each.method(), each.path(), "Authorization: Bearer " + secret, type(each), "{}");
      assertThat(status(answer)).as(each.toString()).isEqualTo(403);
      refused++;
      clock.advance(Duration.ofMinutes(1));
    }
    assertThat(refused).isGreaterThan(5);
    assertThat(auditOf(2 + refused))
        .filteredOn(line -> line.contains("\"outcome\":\"403\""))
        .hasSize(refused)
        .allMatch(line -> line.contains("\"name\":\"screen\""));
  }

  /** Whoever is refused again and again does not push other lines out of the audit log. */
  @Test
  void refusalsTakeFewLinesAMinute() throws IOException {
    for (int i = 0; i < 50; i++) {
      ask("GET", "/v1/status", "Authorization: Bearer kam_a_b", null, "");
    }
    assertThat(auditOf(10)).hasSize(10);
    clock.advance(Duration.ofMinutes(1));
    ask("GET", "/v1/status", "Authorization: Bearer kam_a_b", null, "");
    assertThat(auditOf(12)).hasSize(12).anyMatch(line -> line.contains("40 more within a minute"));
  }

  /** Refusals are written a little after they were answered. */
  private List<String> auditOf(int lines) {
    Path audit = directory.resolve("audit.jsonl");
    Await.until(() -> linesOf(audit).size() >= lines, lines + " lines are in the audit log");
    return linesOf(audit);
  }

  private static List<String> linesOf(Path file) {
    try {
      return Files.exists(file) ? Files.readAllLines(file) : List.of();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** DNS rebinding: a page elsewhere whose name leads to this machine. */
  @Test
  void aRequestForAnotherHostIsMisdirected() throws IOException {
    for (Asked each : operations) {
      String fields = "Host: evil.example\r\n" + token;
      assertThat(status(ask(each.method(), each.path(), fields, type(each), "{}")))
          .as(each.toString())
          .isEqualTo(421);
    }
  }

  @Test
  void wrongContentIsToldAndBreaksNothing() throws IOException {
    for (Asked each : operations) {
      if (each.types().isEmpty()) {
        continue;
      }
      for (String content : CONTENTS) {
        String answer = ask(each.method(), each.path(), token, type(each), content);
        assertThat(status(answer)).as(each + " " + content).isBetween(200, 499);
      }
      assertThat(status(ask(each.method(), each.path(), token, "text/html", "<b>")))
          .as(each.toString())
          .isEqualTo(415);
      assertThat(ask(each.method(), each.path(), token, type(each), "", LONG))
          .as(each.toString())
          .startsWith("HTTP/1.1 413");
    }
    assertThat(status(ask("GET", "/v1/status", token, null, ""))).isEqualTo(200);
  }

  @Test
  void wrongQueriesAreToldAndAreNeverInThePage() throws IOException {
    for (Asked each : operations) {
      if (!each.isSafe()) {
        continue;
      }
      for (String query : List.of("?<script>=1", "?url=%", "?limit=99999999999", "?x=%00")) {
        String answer = ask("GET", each.path() + query, token, null, "");
        assertThat(status(answer)).as(each.path() + query).isBetween(200, 499);
        assertThat(answer).doesNotContain("<script>");
      }
    }
  }

  /** A state that GET changed could be changed by any image on any page. */
  @Test
  void nothingChangesByGet() throws IOException {
    for (Asked each : operations) {
      ask("GET", each.path(), token, null, "");
      ask("HEAD", each.path(), token, null, "");
    }
    Path audit = directory.resolve("audit.jsonl");
    assertThat(Files.notExists(audit) || Files.readString(audit).isEmpty()).isTrue();
  }
}
