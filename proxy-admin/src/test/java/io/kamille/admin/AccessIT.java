package io.kamille.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.admin.auth.AuditLog;
import io.kamille.core.loop.ManualClock;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may do what: tokens, sessions, the local socket, and what is taken down of it. */
class AccessIT {

  @TempDir private Path directory;

  private SmallAppliance appliance;
  private ManualClock clock;
  private AdminServer server;
  private String fileToken;

  @BeforeEach
  void begin() throws IOException {
    appliance = new SmallAppliance();
    clock = appliance.clock;
    open();
  }

  private void open() throws IOException {
    server = appliance.open(directory);
    fileToken = Files.readString(directory.resolve("token")).strip();
  }

  @AfterEach
  void close() {
    server.close();
    appliance.close();
  }

  // Named tokens

  @ParameterizedTest
  @CsvSource({
    "read, GET /v1/status, 200",
    "read, POST /v1/cache/purges, 403",
    "read, GET /v1/tokens, 403",
    "operate, POST /v1/cache/purges, 200",
    "operate, PUT /v1/engine/loops, 200",
    "operate, GET /v1/tokens, 403",
    "purge, POST /v1/cache/purges, 200",
    "purge, GET /v1/status, 403",
    "purge, PUT /v1/engine/loops, 403",
    "admin, GET /v1/tokens, 200",
    "admin, POST /v1/cache/purges, 200",
  })
  void aTokenMayDoWhatItsScopeSays(String scope, String operation, int status) throws IOException {
    String content = operation.startsWith("GET") ? "" : content(operation);
    assertThat(ask(operation, bearer(token(scope)), content)).startsWith("HTTP/1.1 " + status);
  }

  private static String content(String operation) {
    return operation.contains("purges") ? "{\"url\":\"http://h/\"}" : "{\"pacing\":\"off\"}";
  }

  @Test
  void theSecretOfATokenIsKeptNowhere() throws IOException {
    String secret = token("read");
    String kept = Files.readString(directory.resolve("tokens.json"));
    assertThat(kept).doesNotContain(secret.substring(secret.length() - 20));
    assertThat(Files.getPosixFilePermissions(directory.resolve("tokens.json")))
        .isEqualTo(PosixFilePermissions.fromString("rw-------"));
    assertThat(ask("GET /v1/tokens", bearer(fileToken), "")).doesNotContain("digest");
    assertThat(Files.readString(directory.resolve("audit.jsonl"))).doesNotContain(secret);
  }

  @Test
  void aTokenEndsWhenItExpiresOrIsRevoked() throws IOException {
    String first = token("read");
    String second = token("read");
    String id = second.split("_", -1)[1];
    assertThat(ask("DELETE /v1/tokens/" + id, bearer(fileToken), "")).startsWith("HTTP/1.1 200");
    assertThat(ask("GET /v1/status", bearer(second), "")).startsWith("HTTP/1.1 401");
    assertThat(ask("GET /v1/status", bearer(first), "")).startsWith("HTTP/1.1 200");
    clock.advance(Duration.ofDays(90));
    assertThat(ask("GET /v1/status", bearer(first), "")).startsWith("HTTP/1.1 401");
  }

  @Test
  void aTokenThatHasExpiredTakesNoPlace() throws IOException {
    for (int i = 0; i < 200; i++) {
      token("read");
    }
    assertThat(make()).startsWith("HTTP/1.1 400").contains("There are 200 tokens");
    clock.advance(Duration.ofDays(91));
    assertThat(make()).startsWith("HTTP/1.1 201");
    assertThat(ask("GET /v1/tokens", bearer(fileToken), "").split("\"id\"", -1)).hasSize(2);
  }

  private String make() throws IOException {
    return ask("POST /v1/tokens", bearer(fileToken), "{\"name\":\"one\",\"scope\":\"read\"}");
  }

  @Test
  void tokensOutliveTheProcess() throws IOException {
    String secret = token("read");
    server.close();
    open();
    assertThat(ask("GET /v1/status", bearer(secret), "")).startsWith("HTTP/1.1 200");
  }

  /** While one process takes over from another, both serve the API. */
  @Test
  void whatIsMadeOrRevokedAtOneProcessIsSoAtTheOther() throws IOException {
    AdminServer old = server;
    String first = token("read");
    open();
    try {
      String second = token("read");
      AdminServer other = server;
      server = old;
      assertThat(ask("GET /v1/status", bearer(second), "")).startsWith("HTTP/1.1 200");
      String id = first.split("_", -1)[1];
      assertThat(ask("DELETE /v1/tokens/" + id, bearer(fileToken), "")).startsWith("HTTP/1.1 200");
      server = other;
      assertThat(ask("GET /v1/status", bearer(first), "")).startsWith("HTTP/1.1 401");
      clock.advance(Duration.ofMinutes(30));
      assertThat(ask("GET /v1/status", bearer(second), "")).startsWith("HTTP/1.1 200");
      assertThat(Files.readString(directory.resolve("tokens.json"))).doesNotContain(id);
    } finally {
      old.close();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"name\":\"\",\"scope\":\"read\"}",
        "{\"name\":\"a\",\"scope\":\"root\"}",
        "{\"name\":\"a\",\"scope\":\"read\",\"days\":0}",
        "{\"name\":\"a\",\"scope\":\"read\",\"days\":4000}",
        "{\"name\":\"a\",\"scope\":\"read\",\"more\":1}",
        "[]",
      })
  void aTokenThatCannotBeIsABadRequest(String content) throws IOException {
    assertThat(ask("POST /v1/tokens", bearer(fileToken), content)).startsWith("HTTP/1.1 400");
  }

  @Test
  void whoGuessesIsStoppedAndWhoKnowsIsNot() throws IOException {
    for (int i = 0; i < 10; i++) {
      assertThat(ask("GET /v1/status", bearer("kam_a_b"), "")).startsWith("HTTP/1.1 401");
    }
    assertThat(ask("GET /v1/status", bearer("kam_a_b"), ""))
        .startsWith("HTTP/1.1 429")
        .contains("Retry-After: 60");
    assertThat(ask("GET /v1/status", bearer(fileToken), "")).startsWith("HTTP/1.1 200");
    clock.advance(Duration.ofMinutes(1));
    assertThat(ask("GET /v1/status", bearer("kam_a_b"), "")).startsWith("HTTP/1.1 401");
  }

  // Browser sessions

  @Test
  void aSessionNeedsBothHalves() throws IOException {
    Session session = signIn("{\"token\":\"" + fileToken + "\"}");
    assertThat(ask("GET /v1/status", session.fields(), "")).startsWith("HTTP/1.1 200");
    assertThat(ask("GET /v1/status", "Cookie: " + session.cookie + "\r\n", ""))
        .startsWith("HTTP/1.1 401");
    assertThat(ask("GET /v1/status", "X-Kamille-Key: " + session.key + "\r\n", ""))
        .startsWith("HTTP/1.1 401");
  }

  @Test
  void aCodeSignsInOnceAndForAMinute() throws IOException {
    String code = member("code", ask("POST /v1/session/codes", bearer(fileToken), ""));
    signIn("{\"code\":\"" + code + "\"}");
    assertThat(ask("POST /v1/session", "", "{\"code\":\"" + code + "\"}"))
        .startsWith("HTTP/1.1 401");
    String late = member("code", ask("POST /v1/session/codes", bearer(fileToken), ""));
    clock.advance(Duration.ofMinutes(1));
    assertThat(ask("POST /v1/session", "", "{\"code\":\"" + late + "\"}"))
        .startsWith("HTTP/1.1 401");
  }

  @Test
  void aPageOfAnotherOriginChangesNothing() throws IOException {
    Session session = signIn("{\"token\":\"" + fileToken + "\"}");
    String purge = "{\"url\":\"http://h/\"}";
    for (String origin :
        List.of(
            "",
            "Origin: null\r\n",
            "Origin: http://evil\r\n",
            "Origin: http://localhost\r\n",
            "Origin: localhost:" + port() + "\r\n",
            "Origin: https://localhost:" + port() + "\r\n")) {
      assertThat(ask("POST /v1/cache/purges", session.fields() + origin, purge))
          .as(origin)
          .startsWith("HTTP/1.1 403");
    }
    assertThat(ask("POST /v1/cache/purges", session.fields() + ownOrigin(), purge))
        .startsWith("HTTP/1.1 200");
    assertThat(ask("POST /v1/cache/purges", bearer(fileToken), purge)).startsWith("HTTP/1.1 200");
  }

  @Test
  void anOpenScreenCannotChangeAnythingAfterAWhile() throws IOException {
    Session session = signIn("{\"token\":\"" + fileToken + "\"}");
    clock.advance(Duration.ofMinutes(15));
    assertThat(
            ask("POST /v1/cache/purges", session.fields() + ownOrigin(), "{\"url\":\"http://h/\"}"))
        .startsWith("HTTP/1.1 403")
        .contains("/problems/proof-needed");
    assertThat(ask("GET /v1/status", session.fields(), "")).startsWith("HTTP/1.1 200");
    clock.advance(Duration.ofHours(12));
    assertThat(ask("GET /v1/status", session.fields(), "")).startsWith("HTTP/1.1 401");
  }

  @Test
  void aSessionEndsWithItsTokenAndWhenSignedOut() throws IOException {
    String secret = token("operate");
    Session session = signIn("{\"token\":\"" + secret + "\"}");
    ask("DELETE /v1/tokens/" + secret.split("_", -1)[1], bearer(fileToken), "");
    assertThat(ask("GET /v1/status", session.fields(), "")).startsWith("HTTP/1.1 401");
    Session other = signIn("{\"token\":\"" + fileToken + "\"}");
    assertThat(ask("DELETE /v1/session", other.fields() + ownOrigin(), ""))
        .startsWith("HTTP/1.1 200");
    assertThat(ask("GET /v1/status", other.fields(), "")).startsWith("HTTP/1.1 401");
  }

  @Test
  void whoSignsInOftenSignsOutNobodyElse() throws IOException {
    Session administrator = signIn("{\"token\":\"" + fileToken + "\"}");
    String weak = token("purge");
    Session first = signIn("{\"token\":\"" + weak + "\"}");
    Session last = first;
    for (int i = 0; i < 10; i++) {
      last = signIn("{\"token\":\"" + weak + "\"}");
    }
    assertThat(ask("GET /v1/status", administrator.fields(), "")).startsWith("HTTP/1.1 200");
    assertThat(ask("GET /v1/status", first.fields(), "")).startsWith("HTTP/1.1 401");
    assertThat(ask("GET /v1/status", last.fields(), "")).startsWith("HTTP/1.1 403");
  }

  @ParameterizedTest
  @ValueSource(strings = {"purge", "read", "operate", "admin"})
  void everySessionCanSignItselfOut(String scope) throws IOException {
    Session session = signIn("{\"token\":\"" + token(scope) + "\"}");
    assertThat(ask("DELETE /v1/session", session.fields() + ownOrigin(), ""))
        .startsWith("HTTP/1.1 200");
    assertThat(ask("GET /v1/status", session.fields(), "")).startsWith("HTTP/1.1 401");
  }

  // Streams

  @Test
  void aStreamEndsWithItsToken() throws IOException {
    String revoked = token("read");
    try (Wire stream = live(bearer(revoked))) {
      ask("DELETE /v1/tokens/" + revoked.split("_", -1)[1], bearer(fileToken), "");
      assertThat(stream.rest()).startsWith("d\r\nretry: 2000");
    }
    try (Wire stream = live(bearer(token("read")))) {
      clock.advance(Duration.ofDays(90));
      assertThat(stream.rest()).startsWith("d\r\nretry: 2000");
    }
  }

  @Test
  void aStreamEndsWithItsSession() throws IOException {
    Session out = signIn("{\"token\":\"" + fileToken + "\"}");
    try (Wire stream = live(out.fields())) {
      ask("DELETE /v1/session", out.fields() + ownOrigin(), "");
      assertThat(stream.rest()).startsWith("d\r\nretry: 2000");
    }
    try (Wire stream = live(signIn("{\"token\":\"" + fileToken + "\"}").fields())) {
      clock.advance(Duration.ofHours(12));
      assertThat(stream.rest()).startsWith("d\r\nretry: 2000");
    }
  }

  private Wire live(String fields) throws IOException {
    Wire wire = new Wire(server.address());
    wire.send("GET /v1/live HTTP/1.1\r\nHost: localhost:" + port() + "\r\n" + fields + "\r\n");
    assertThat(wire.head()).startsWith("HTTP/1.1 200");
    return wire;
  }

  // The local socket

  @Test
  void theLocalSocketIsTheWayBackIn() throws IOException {
    Path socket = directory.resolve("admin.sock");
    assertThat(Files.getPosixFilePermissions(socket))
        .isEqualTo(PosixFilePermissions.fromString("rw-------"));
    assertThat(
            local(socket, "GET /v1/tokens HTTP/1.1\r\nHost: kamille\r\nConnection: close\r\n\r\n"))
        .startsWith("HTTP/1.1 200");
    server.close();
    assertThat(socket).doesNotExist();
    open();
  }

  private static String local(Path socket, String request) throws IOException {
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      channel.connect(UnixDomainSocketAddress.of(socket));
      channel.write(ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII)));
      return new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  // What is taken down

  @Test
  void whatWasOrderedIsTakenDownAndSecretsAreNot() throws IOException {
    ask("POST /v1/cache/purges", bearer(fileToken), "{\"url\":\"http://h/\"}");
    ask("POST /v1/session", "", "{\"token\":\"" + fileToken + "\"}");
    ask("POST /v1/session", "", "{\"token\":\"kam_guess\"}");
    server.close();
    assertThat(Files.readString(directory.resolve("audit.jsonl")))
        .contains("\"order\":\"{\\\"url\\\":\\\"http://h/\\\"}\",\"outcome\":\"200\"")
        .contains("\"action\":\"wrong secret\",\"target\":\"127.0.0.1\"")
        .doesNotContain(fileToken)
        .doesNotContain("kam_guess");
  }

  /** A target is at most a request line long, an order as long as its operation takes. */
  @ParameterizedTest
  @CsvSource({"512, 512", "513, 513", "4000, 60000"})
  void ofALongOrderTheBeginningIsTakenDown(int targetLength, int orderLength) throws IOException {
    String target = filled("/v1/cache/purges?url=http://h/", targetLength, "");
    String order = filled("{\"url\":\"http://h/", orderLength, "\"}");
    ask("POST " + target, bearer(fileToken), order);
    ask("POST " + target, bearer(token("read")), order);
    server.close();
    List<String> lines = Files.readString(directory.resolve("audit.jsonl")).lines().toList();
    assertThat(lines)
        .filteredOn(line -> line.contains("\"target\":\"" + shown(target) + "\""))
        .extracting(line -> line.replaceFirst(".*\"outcome\":\"(\\w+)\".*", "$1"))
        .containsExactly("begun", "200", "403");
    assertThat(lines)
        .filteredOn(line -> line.replace("\\", "").contains("\"order\":\"" + shown(order) + "\""))
        .hasSize(2);
  }

  private static String filled(String beginning, int length, String end) {
    return beginning + "a".repeat(length - beginning.length() - end.length()) + end;
  }

  private static String shown(String text) {
    return text.length() > 512 ? text.substring(0, 511) + "…" : text;
  }

  @Test
  void changesAreTakenDownAndReadingIsNot() throws IOException {
    ask("GET /v1/status", bearer(fileToken), "");
    ask("POST /v1/cache/purges", bearer(fileToken), "{\"url\":\"http://h/\"}");
    String audit = Files.readString(directory.resolve("audit.jsonl"));
    assertThat(audit.lines()).hasSize(2);
    assertThat(audit)
        .contains("\"action\":\"POST /v1/cache/purges\"", "\"outcome\":\"begun\"")
        .contains("\"outcome\":\"200\"", "\"via\":\"file\"");
    assertThat(AuditLog.verify(directory.resolve("audit.jsonl")).trouble()).isNull();
    assertThat(ask("GET /v1/audit?limit=1", bearer(fileToken), "")).contains("\"seq\":2");
  }

  @Test
  void queriesOfClientsAreForThoseWhoMayOperate() throws IOException {
    String escaped = "{\"prefix\":\"http://h/\\u003fsecret\"}";
    for (String content : List.of("{\"url\":\"http://h/a?secret\"}", escaped)) {
      ask("POST /v1/cache/purges?url=http://h/?secret", bearer(fileToken), content);
    }
    ask("POST /v1/traces", bearer(fileToken), "{\"url\":\"/a?secret\"}");
    String reader = bearer(token("read"));
    String operator = bearer(token("operate"));
    for (String path : List.of("/v1/audit", "/v1/cache/purges", "/v1/traces")) {
      assertThat(ask("GET " + path, reader, "")).contains("/a?…").doesNotContain("secret");
      assertThat(ask("GET " + path, operator, "")).contains("/a?secret");
    }
    server.close();
    open();
    assertThat(ask("GET /v1/audit", reader, "")).contains("/a?…").doesNotContain("secret");
  }

  @Test
  void changesThatASessionIsRefusedAreTakenDown() throws IOException {
    Session session = signIn("{\"token\":\"" + fileToken + "\"}");
    ask("PUT /v1/engine/loops", session.fields() + "Origin: http://evil\r\n", "{}");
    clock.advance(Duration.ofMinutes(15));
    ask("POST /v1/cache/purges", session.fields() + ownOrigin(), "{}");
    server.close();
    assertThat(Files.readString(directory.resolve("audit.jsonl")).lines())
        .anyMatch(line -> line.matches(".*\"PUT /v1/engine/loops\".*\"outcome\":\"403\".*"))
        .anyMatch(line -> line.matches(".*\"POST /v1/cache/purges\".*\"outcome\":\"403\".*"));
  }

  // The description

  @Test
  void theDescriptionHasEveryOperation() throws IOException {
    assertThat(ask("GET /v1/openapi.json", bearer(fileToken), ""))
        .contains("\"openapi\":\"3.1.0\"", "\"/v1/tokens/{id}\":{\"delete\":", "\"/v1/status\"")
        .contains("\"security\":[{\"bearer\":[\"operate\"]}]")
        .contains("\"secondsLeft\":{\"type\":\"integer\"}");
  }

  private record Session(String cookie, String key) {

    String fields() {
      return "Cookie: " + cookie + "\r\nX-Kamille-Key: " + key + "\r\n";
    }
  }

  private Session signIn(String content) throws IOException {
    String answer = ask("POST /v1/session", "", content);
    assertThat(answer).startsWith("HTTP/1.1 200").contains("HttpOnly; SameSite=Strict");
    Matcher cookie = Pattern.compile("(kamille-\\d+=[^;]+);").matcher(answer);
    assertThat(cookie.find()).isTrue();
    return new Session(cookie.group(1), member("key", answer));
  }

  private String token(String scope) throws IOException {
    String answer =
        ask(
            "POST /v1/tokens",
            bearer(fileToken),
            "{\"name\":\"test\",\"scope\":\"" + scope + "\"}");
    assertThat(answer).startsWith("HTTP/1.1 201");
    return member("token", answer);
  }

  private static String member(String name, String answer) {
    Matcher found = Pattern.compile("\"" + name + "\":\"([^\"]+)\"").matcher(answer);
    assertThat(found.find()).as(answer).isTrue();
    return found.group(1);
  }

  private static String bearer(String token) {
    return "Authorization: Bearer " + token + "\r\n";
  }

  private String ownOrigin() {
    return "Origin: http://localhost:" + port() + "\r\n";
  }

  private int port() {
    return server.address().getPort();
  }

  private String ask(String operation, String fields, String content) throws IOException {
    try (Wire wire = new Wire(server.address())) {
      String length =
          content.isEmpty()
              ? ""
              : "Content-Type: application/json\r\nContent-Length: " + content.length() + "\r\n";
      wire.send(
          operation
              + " HTTP/1.1\r\nHost: localhost:"
              + port()
              + "\r\nConnection: close\r\n"
              + fields
              + length
              + "\r\n"
              + content);
      return wire.rest();
    }
  }
}
