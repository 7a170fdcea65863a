package io.kamille.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.admin.api.Answer;
import io.kamille.admin.api.Operation;
import io.kamille.admin.auth.Scope;
import io.kamille.core.log.RequestSample;
import io.kamille.core.loop.PaceSettings;
import io.kamille.core.loop.Pacing;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Sections;
import java.io.IOException;
import java.net.BindException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AdminServerIT {

  @TempDir private Path directory;

  private SmallAppliance appliance;
  private final CountDownLatch isHanging = new CountDownLatch(1);
  private final CountDownLatch mayEnd = new CountDownLatch(1);
  private AdminServer server;
  private String token;

  @BeforeEach
  void open() throws IOException {
    appliance = new SmallAppliance();
    server =
        appliance.open(
            directory,
            Operation.post("/v1/config/hang", Scope.READ, "Hangs.").takes().by(this::hang),
            Operation.get("/v1/config/later", Scope.READ, "Breaks later.")
                .by(
                    () ->
                        Answer.later(
                            () -> {
                              throw new OutOfMemoryError("for a moment");
                            })),
            Operation.get("/v1/config/broken", Scope.READ, "Breaks.")
                .by(
                    () -> {
                      throw new StackOverflowError();
                    }),
            Operation.open("/bug", "Breaks at once.")
                .immediately()
                .by(
                    () -> {
                      throw new IllegalStateException("broken on purpose");
                    }));
    token = Files.readString(directory.resolve("token")).strip();
  }

  private Answer hang() {
    isHanging.countDown();
    awaitTheEnd();
    return Answer.nothing();
  }

  private void awaitTheEnd() {
    try {
      mayEnd.await();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @AfterEach
  void close() {
    mayEnd.countDown();
    server.close();
    appliance.close();
  }

  // Health, readiness, metrics

  @Test
  void aLivingProcessIsHealthy() throws IOException {
    assertThat(get("/healthz"))
        .startsWith("HTTP/1.1 200 OK\r\n")
        .contains("cache-control: no-store\r\n", "date: Sat, 21 Nov 2026 09:01:00 GMT\r\n")
        .endsWith("\r\n\r\nok\n");
  }

  @Test
  void metricsHoldOursAndThoseOfTheRuntime() throws IOException {
    appliance
        .registry
        .counter(MetricDescriptor.counter("kamille_requests_total", "Requests.", "cache"), "hit")
        .add(3);
    assertThat(get("/metrics"))
        .contains("content-type: text/plain; version=0.0.4; charset=utf-8\r\n")
        .contains("kamille_requests_total{cache=\"hit\"} 3.0\n", "\njvm_memory_used_bytes{");
  }

  @Test
  void headIsGetWithoutContent() throws IOException {
    String response = exchange("HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assertThat(response).startsWith("HTTP/1.1 200 OK\r\n").contains("content-length: 3\r\n");
    assertThat(response).endsWith("\r\n\r\n");
  }

  // Some of the last requests

  @Test
  void requestsAreTheLastOnesThatFit() throws IOException {
    long start = Instant.parse("2026-11-21T09:00:00Z").toEpochMilli();
    appliance.samples.add(sample(1, start, 250_000, "http://h/a", "", 200, 7, "hit", ""));
    appliance.samples.add(
        sample(
            2, start + 1000, 1_500_000, "http://h/b", "q", 502, 0, "miss", "connection_refused"));
    assertThat(getWithToken("/v1/requests"))
        .endsWith(
            "{\"samplesPerSecond\":20,\"requests\":[{\"id\":\"0-2\",\"time\":\"2026-11-21T09:00:01Z\",\"millis\":1.5,\"method\":\"GET\",\"url\":\"http://h/b\",\"query\":\"q\",\"status\":502,\"contentBytes\":0,\"cache\":\"miss\",\"failure\":\"connection_refused\",\"route\":\"*/\",\"origin\":\"\",\"client\":\"192.0.2.1\",\"trace\":\"\"},{\"id\":\"0-1\",\"time\":\"2026-11-21T09:00:00Z\",\"millis\":0.25,\"method\":\"GET\",\"url\":\"http://h/a\",\"query\":\"\",\"status\":200,\"contentBytes\":7,\"cache\":\"hit\",\"failure\":\"\",\"route\":\"*/\",\"origin\":\"\",\"client\":\"192.0.2.1\",\"trace\":\"\"}]}\n");
    assertThat(getWithToken("/v1/requests?status=5xx&cache=miss&url=/b&minMillis=1"))
        .contains("http://h/b")
        .doesNotContain("http://h/a");
    assertThat(getWithToken("/v1/requests?limit=1")).doesNotContain("http://h/a");
    for (String bad : List.of("status=6xx", "status=x", "limit=0", "minMillis=-1", "x=1")) {
      assertThat(getWithToken("/v1/requests?" + bad)).startsWith("HTTP/1.1 400 ");
    }
  }

  private static RequestSample sample(
      long number,
      long start,
      long nanos,
      String url,
      String query,
      int status,
      long bytes,
      String cache,
      String failure) {
    return new RequestSample(
        0,
        number,
        start,
        nanos,
        "GET",
        url,
        query,
        status,
        bytes,
        cache,
        failure,
        "*/",
        "",
        "192.0.2.1",
        "");
  }

  // What is stored

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/v1/cache/objects | The parameter url is missing.",
        "/v1/cache/objects?url=http://h/&url=http://h/ | The parameter url is there more than"
            + " once.",
        "/v1/cache/objects?url=http://h/?a&b=c | There is a parameter that this resource does not",
        "/v1/cache/objects?url=http://h/%zz | The query is not percent-encoded.",
        "/v1/cache/objects?url=http://h/% | The query is not percent-encoded.",
        "/v1/cache/objects?url=/a | url: found",
        "/v1/cache/objects?url=http://h/a+b | url: found",
        "/v1/cache/objects?url=http://h/%C3%A9 | url: found",
        "/v1/cache/objects?url=http://h/%23a | url must have no fragment",
      })
  void aQueryThatAsksForNothingIsABadRequest(String target, String detail) throws IOException {
    assertThat(getWithToken(target))
        .startsWith("HTTP/1.1 400 Bad Request\r\n")
        .contains("\"detail\":\"" + detail);
  }

  // Purges

  @Test
  void aPurgeSaysWhatItIsOfAndHowManyResponsesWereRemoved() throws IOException {
    assertThat(purge("application/json; charset=utf-8", "{\"url\": \"http://h:8080/a?b\"}"))
        .startsWith("HTTP/1.1 200 OK\r\n")
        .endsWith("{\"id\":1,\"state\":\"done\",\"purged\":0}\n");
    assertThat(purges()).contains("\"of\":\"http://h:8080/a?b\"");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"url\": | The content is not JSON: line 1, column 8.",
        "`` | The content must be an object",
        "[] | The content must be an object",
        "{} | The content must be an object",
        "{\"url\": 1} | The content must be an object",
        "{\"url\": \"http://h/\", \"all\": true} | The content must be an object",
        "{\"url\": \"http://h/\", \"url\": \"http://h/\"} | The content is not JSON",
        "{\"url\": \"http://h/\"} {} | The content is not JSON",
        "{\"url\": \"http://h/ /\"} | url: found",
        "{\"url\": \"http://h/\\u00fc\"} | url: found",
        "{\"url\": \"/a\"} | url: found",
        "{\"url\": \"ftp://h/a\"} | url: found",
        "{\"url\": \"http:///a\"} | url: found",
        "{\"url\": \"http://u@h/a\"} | url: found",
        "{\"url\": \"http://h:x/a\"} | url: found",
        "{\"url\": \"http://h:-1/a\"} | url: found",
        "{\"url\": \"http://h:65536/a\"} | url: found",
        "{\"url\": \"http://[::1/a\"} | url: found",
        "{\"url\": \"http://h%2/a\"} | url: found",
        "{\"url\": \"http://h/a#b\"} | url must have no fragment",
        "{\"prefix\": \"/a\"} | prefix: found",
        "{\"prefix\": \"http://h/#\"} | prefix must have no fragment",
        "{\"host\": \"h/a\"} | host must be a host as in a URL",
        "{\"host\": \"h:x\"} | host must be a host as in a URL",
        "{\"host\": \"*.h\"} | host must name one host",
        "{\"url\": \"http://*.h/\"} | url must name one host",
        "{\"prefix\": \"http://*\"} | prefix must name one host",
        "{\"host\": \"\"} | host must be a host as in a URL",
        "{\"tags\": []} | tags must be 1 to 1024 strings",
        "{\"tags\": [\"a,b\"]} | tags must be 1 to 1024 strings",
        "{\"tags\": [\" a\"]} | tags must be 1 to 1024 strings",
        "{\"tags\": [\"\"]} | tags must be 1 to 1024 strings",
        "{\"tags\": [1]} | The content must be an object",
        "{\"tags\": {\"a\": \"b\"}} | tags must be 1 to 1024 strings",
        "{\"tags\": \"a\"} | tags must be 1 to 1024 strings",
        "{\"all\": false} | The content must be an object",
        "{\"all\": true, \"tags\": [\"a\"]} | The content must be an object",
        "{\"all\": true, \"mode\": \"gentle\"} | The content must be an object",
        "{\"all\": true, \"dry_run\": \"yes\"} | The content must be an object",
        "{\"mode\": \"soft\"} | The content must be an object",
      })
  void aPurgeOfNothingSensibleIsABadRequest(String content, String detail) throws IOException {
    String response = purge("application/json", content);
    assertThat(response)
        .startsWith("HTTP/1.1 400 Bad Request\r\n")
        .contains("content-type: application/problem+json\r\n")
        .contains("{\"title\":\"Bad Request\",\"status\":400,\"detail\":\"" + detail);
    assertThat(purges()).endsWith("{\"purges\":[]}\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"prefix", "host"})
  void whatManyUrisBeginWithHasLimitedLength(String name) throws IOException {
    String beginning = name.equals("prefix") ? "http://h/" : "";
    String longest = beginning + "a".repeat(4096 - beginning.length());
    assertThat(purge("application/json", "{\"" + name + "\": \"" + longest + "a\"}"))
        .startsWith("HTTP/1.1 400 Bad Request\r\n")
        .contains("\"detail\":\"" + name + " must have 4096 octets at the most.\"");
    assertThat(purges()).endsWith("{\"purges\":[]}\n");
    assertThat(purge("application/json", "{\"" + name + "\": \"" + longest + "\"}"))
        .startsWith("HTTP/1.1 200 OK\r\n");
  }

  @Test
  void contentThatIsNestedTooDeeplyOrHasTooLongANumberIsABadRequest() throws IOException {
    String deep = "[".repeat(5_000) + "]".repeat(5_000);
    String number = "{\"url\": " + "9".repeat(5_000) + "}";
    for (String content : List.of(deep, number, "[1e99999999999]")) {
      assertThat(purge("application/json", content))
          .startsWith("HTTP/1.1 400 Bad Request\r\n")
          .contains("content-type: application/problem+json\r\n");
    }
  }

  @Test
  void anAsteriskBehindTheHostIsAnOctetLikeOthers() throws IOException {
    assertThat(purge("application/json", "{\"url\": \"http://h/*?*\"}")).contains(" 200 OK");
  }

  @Test
  void aPurgeOfManyIsSwept() throws IOException {
    assertThat(purge("application/json", "{\"tags\": [\"a\", \"b c\"], \"mode\": \"soft\"}"))
        .containsPattern("\\{\"id\":1,\"state\":\"(sweeping|done\",\"purged\":0)");
    assertThat(purge("application/json", "{\"all\": true}")).contains("{\"id\":2,");
    String purges = purges();
    while (purges.contains("sweeping")) {
      purges = purges();
    }
    assertThat(purges)
        .endsWith(
            "{\"purges\":[{\"id\":2,\"kind\":\"all\",\"of\":\"\",\"mode\":\"hard\","
                + "\"time\":\"2026-11-21T09:01:00Z\",\"state\":\"done\",\"purged\":0},"
                + "{\"id\":1,\"kind\":\"tag\",\"of\":\"a b c\",\"mode\":\"soft\","
                + "\"time\":\"2026-11-21T09:01:00Z\",\"state\":\"done\",\"purged\":0}]}\n");
  }

  @Test
  void aDryRunOfAPurgeCounts() throws IOException {
    assertThat(purge("application/json", "{\"url\": \"http://h/\", \"dry_run\": true}"))
        .endsWith("{\"id\":1,\"state\":\"done\",\"matched\":0}\n");
  }

  @Test
  void aPurgeWithoutJsonIsAnUnsupportedMediaType() throws IOException {
    assertThat(purge("text/plain", "{\"url\": \"http://h/\"}"))
        .startsWith("HTTP/1.1 415 Unsupported Media Type\r\n");
    assertThat(
            exchange("POST /v1/cache/purges HTTP/1.1\r\nHost: localhost\r\n" + bearer() + "\r\n"))
        .startsWith("HTTP/1.1 415 Unsupported Media Type\r\n");
  }

  @ParameterizedTest
  @CsvSource({
    "/v1/audit?limit=, 1000",
    "/v1/top?limit=, 200",
    "/v1/connections?limit=, 10000",
    "/v1/traces?limit=, 1000",
    "/v1/requests?limit=, 1000",
    "/v1/requests?minMillis=, 86400000"
  })
  void aNumberOfAQueryIsTakenUpToItsLimit(String query, int most) throws IOException {
    assertThat(getWithToken(query + most)).startsWith("HTTP/1.1 200 ");
    for (String beyond : List.of("0", "-1", Integer.toString(most + 1), "9".repeat(1_000))) {
      assertThat(getWithToken(query + beyond)).startsWith("HTTP/1.1 400 ").contains(" " + most);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "/v1/tokens, '{\"name\":\"n\",\"scope\":\"read\",\"days\":', 366",
    "/v1/cache/what-if, '{\"minutes\":', 60",
    "/v1/traces, '{\"url\":\"/\",\"seconds\":', 600",
    "/v1/traces, '{\"url\":\"/\",\"count\":', 20"
  })
  void aNumberOfAnOrderIsRefusedBeyondItsLimit(String path, String order, int most)
      throws IOException {
    for (String beyond : List.of("0", "-1", Integer.toString(most + 1), "9".repeat(500))) {
      String content = order + beyond + "}";
      assertThat(
              exchange(
                  "POST "
                      + path
                      + " HTTP/1.1\r\nHost: localhost\r\n"
                      + bearer()
                      + "Content-Type: application/json\r\nContent-Length: "
                      + content.length()
                      + "\r\nConnection: close\r\n\r\n"
                      + content))
          .as(content)
          .startsWith("HTTP/1.1 400 ")
          .contains(String.valueOf(most));
    }
  }

  @Test
  void contentOverTheLimitIsTooLarge() throws IOException {
    String head = "POST /v1/cache/purges HTTP/1.1\r\nHost: localhost\r\n" + bearer();
    assertThat(exchange(head + "Content-Length: 65537\r\n\r\n"))
        .startsWith("HTTP/1.1 413 ")
        .contains("connection: close\r\n", "\"detail\":\"At most 65536 octets of content.\"");
    assertThat(
            exchange(
                head
                    + "Transfer-Encoding: chunked\r\n\r\n10001\r\n"
                    + " ".repeat(0x10001)
                    + "\r\n0\r\n\r\n"))
        .startsWith("HTTP/1.1 413 ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "13\r\n{\"url\":\"http://h/\"}\r\nx\r\n\r\n",
        "13\r\n{\"url\":\"http://h/\"}XX0\r\n\r\n",
        "13\r\n{\"url\":\"http://h/\"}\r\n-1\r\n\r\n",
      })
  void brokenContentIsNotCarriedOut(String broken) throws IOException {
    assertThat(
            exchange(
                "POST /v1/cache/purges HTTP/1.1\r\nHost: localhost\r\n"
                    + bearer()
                    + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + broken))
        .startsWith("HTTP/1.1 400 ")
        .contains("The content is malformed.");
    assertThat(purges()).endsWith("{\"purges\":[]}\n");
  }

  @Test
  void whoExpectsToContinueMayUnlessItIsTooMuch() throws IOException {
    String head =
        "POST /v1/cache/purges HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
            + "Content-Type: application/json\r\n"
            + bearer();
    try (Wire wire = new Wire(server.address())) {
      wire.send(head + "Content-Length: 19\r\n\r\n");
      wire.send("{\"url\":\"http://h/\"}");
      assertThat(wire.send(closing("/healthz")).rest())
          .startsWith("HTTP/1.1 100 Continue\r\n")
          .contains(",\"purged\":0}\n");
    }
    assertThat(exchange(head + "Content-Length: 65537\r\n\r\n")).startsWith("HTTP/1.1 413 ");
  }

  // Engine

  private String putTiers(String content) throws IOException {
    return exchange(
        "PUT /v1/cache/tiers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + bearer()
            + "Content-Length: "
            + content.length()
            + "\r\n\r\n"
            + content);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[]",
        "{}",
        "{\"peak\": true}",
        "{\"peak\": \"on\"}",
        "{\"mode\": \"off\"}",
        "{\"peak\": \"off\", \"mode\": \"off\"}"
      })
  void whatIsNoPeakModeIsABadRequest(String content) throws IOException {
    assertThat(putTiers(content))
        .startsWith("HTTP/1.1 400 Bad Request\r\n")
        .contains("The content must be an object with peak, which is auto, off or forced.");
  }

  @Test
  void whatOtherMemoryWouldHitIsWatchedForAWhile() throws IOException {
    String closed = "{\"open\":false,\"since\":";
    assertThat(getWithToken("/v1/cache/what-if")).contains(closed + "null");
    assertThat(order("POST", "{\"minutes\":10}"))
        .contains("{\"open\":true,", "\"until\":\"2026-11-21T09:11:00Z\"");
    for (String content :
        List.of("{}", "{\"minutes\":0}", "{\"minutes\":61}", "{\"minutes\":\"1\"}")) {
      assertThat(order("POST", content)).startsWith("HTTP/1.1 400 ");
    }
    assertThat(order("DELETE", "")).startsWith("HTTP/1.1 200 ").contains(closed + "\"2026");
  }

  private String order(String method, String content) throws IOException {
    return exchange(
        method
            + " /v1/cache/what-if HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + bearer()
            + "Content-Length: "
            + content.length()
            + "\r\n\r\n"
            + content);
  }

  @Test
  void withoutADiskThereIsNoPeakMode() throws IOException {
    assertThat(putTiers("{\"peak\": \"off\"}")).startsWith("HTTP/1.1 409 Conflict\r\n");
    assertThat(getWithToken("/v1/cache/tiers")).endsWith(",\"peak\":null}\n");
  }

  @Test
  void thePaceOfTheRunningProcessChanges() throws IOException {
    assertThat(pace("{\"pacing\": \"750us\", \"spin\": \"20us\"}"))
        .startsWith("HTTP/1.1 200 OK\r\n")
        .contains("{\"pacing\":\"750us\",\"spin\":\"20us\",");
    assertThat(appliance.loops.pace())
        .isEqualTo(PaceSettings.fixed(750_000).withSpin(Duration.ofNanos(20_000)));
    pace("{\"pacing\": \"adaptive\", \"spin\": \"off\"}");
    assertThat(appliance.loops.pace()).isEqualTo(PaceSettings.ADAPTIVE);
    pace("{\"pacing\": \"off\"}");
    assertThat(appliance.loops.pace().pacing().mode()).isEqualTo(Pacing.Mode.OFF);
  }

  private String pace(String content) throws IOException {
    return exchange(
        "PUT /v1/engine/loops HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + bearer()
            + "Content-Length: "
            + content.length()
            + "\r\n\r\n"
            + content);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[] | The content must be an object with any of pacing",
        "{} | The content must be an object with any of pacing",
        "{\"pacing\": 500} | The content must be an object with any of pacing",
        "{\"speed\": \"off\"} | The content must be an object with any of pacing",
        "{\"spin\": \"1h\"} | spin: expected a duration of 1us–100ms",
        "{\"pacing\": \"fast\"} | pacing: expected a duration of 50us–100ms",
      })
  void aPaceThatIsNoneIsABadRequestAndChangesNothing(String content, String detail)
      throws IOException {
    assertThat(pace(content))
        .startsWith("HTTP/1.1 400 Bad Request\r\n")
        .contains("\"detail\":\"" + detail);
    assertThat(appliance.loops.pace()).isEqualTo(PaceSettings.ADAPTIVE);
  }

  // Who may

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/status",
        "/v1/cache/objects",
        "/v1/cache/objects",
        "/v1/cache/purges",
        "/v1/cache/tiers",
        "/v1/engine/loops",
        "/v1/nothing"
      })
  void everythingUnderV1WantsTheToken(String path) throws IOException {
    assertThat(get(path))
        .startsWith("HTTP/1.1 401 Unauthorized\r\n")
        .contains("WWW-Authenticate: Bearer realm=\"kamille\"\r\n")
        .contains("\"status\":401");
  }

  @Test
  void aWrongTokenIsToldSo() throws IOException {
    for (String wrong : new String[] {"Bearer " + token + "x", "Bearer ", "Basic " + token}) {
      assertThat(
              exchange(
                  "GET /v1/status HTTP/1.1\r\nHost: localhost\r\nAuthorization: "
                      + wrong
                      + "\r\n\r\n"))
          .startsWith("HTTP/1.1 401 Unauthorized\r\n")
          .contains("WWW-Authenticate: Bearer realm=\"kamille\", error=\"invalid_token\"\r\n");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"localhost", "LocalHost:1", "127.0.0.1", "192.0.2.7:9090", "[::1]", "[::1]:9090"})
  void thisMachineMayBeCalledByAddress(String host) throws IOException {
    assertThat(exchange("GET /healthz HTTP/1.1\r\nHost: " + host + "\r\n\r\n"))
        .startsWith("HTTP/1.1 200 ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"evil.example", "localhost.evil.example", "", "::1", "localhost:x"})
  void aNameThatCouldBeAnyonesIsMisdirected(String host) throws IOException {
    assertThat(exchange("GET /healthz HTTP/1.1\r\nHost: " + host + "\r\n\r\n"))
        .startsWith("HTTP/1.1 421 Misdirected Request\r\n");
  }

  @Test
  void theAuthorityOfAnAbsoluteTargetCounts() throws IOException {
    assertThat(exchange("GET http://localhost/healthz?x HTTP/1.1\r\nHost: evil\r\n\r\n"))
        .startsWith("HTTP/1.1 200 ");
    assertThat(exchange("GET http://evil/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        .startsWith("HTTP/1.1 421 ");
  }

  @Test
  void anAddressBeyondLoopbackMustBeMeant() {
    HostPort everywhere = new HostPort("0.0.0.0", 0);
    Path file = directory.resolve("token");
    AdminSettings unmeant = SmallAppliance.settings(everywhere, file);
    assertThatThrownBy(() -> appliance.open(unmeant))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("expected: a loopback address");
  }

  @Test
  void anOccupiedAddressIsToldFromOtherTrouble() {
    AdminSettings occupied =
        SmallAppliance.settings(
            new HostPort("127.0.0.1", server.address().getPort()), directory.resolve("token"));
    assertThatThrownBy(() -> appliance.open(occupied))
        .isInstanceOf(BindException.class)
        .hasMessageContaining("Address already in use");
  }

  // Everything else

  @Test
  void whatDoesNotExistIsNotFound() throws IOException {
    assertThat(getWithToken("/v1/nothing")).startsWith("HTTP/1.1 404 Not Found\r\n");
  }

  @Test
  void aResourceNamesTheMethodsItHas() throws IOException {
    assertThat(exchange("DELETE /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        .startsWith("HTTP/1.1 405 Method Not Allowed\r\n")
        .contains("Allow: GET, HEAD\r\n");
    assertThat(exchange("PUT /v1/cache/purges HTTP/1.1\r\nHost: localhost\r\n" + bearer() + "\r\n"))
        .startsWith("HTTP/1.1 405 ")
        .contains("Allow: GET, HEAD, POST\r\n");
    assertThat(
            exchange("POST /v1/engine/loops HTTP/1.1\r\nHost: localhost\r\n" + bearer() + "\r\n"))
        .startsWith("HTTP/1.1 405 ")
        .contains("Allow: GET, HEAD, PUT\r\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "400 | GET /healthz HTTP/1.1\\r\\n\\r\\n",
        "400 | GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\nHost: localhost\\r\\n\\r\\n",
        "400 | GET /healthz HTTP/1.1\\r\\nHost : localhost\\r\\n\\r\\n",
        "400 | nonsense\\r\\n\\r\\n",
        "505 | GET /healthz HTTP/9.9\\r\\nHost: localhost\\r\\n\\r\\n",
      })
  void aMalformedRequestHasADefinedAnswer(int status, String request) throws IOException {
    assertThat(exchange(request.replace("\\r\\n", "\r\n"))).startsWith("HTTP/1.1 " + status + " ");
  }

  @Test
  void headsHaveLimits() throws IOException {
    assertThat(exchange("GET /" + "a".repeat(5_000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        .startsWith("HTTP/1.1 414 ");
    assertThat(
            exchange("GET / HTTP/1.1\r\nHost: localhost\r\nA: " + "a".repeat(9_000) + "\r\n\r\n"))
        .startsWith("HTTP/1.1 431 ");
  }

  @Test
  void aBugIsAnInternalErrorAndTheConnectionGoesOn() throws IOException {
    try (Wire wire = new Wire(server.address())) {
      wire.send("GET /bug HTTP/1.1\r\nHost: localhost\r\n\r\n");
      assertThat(wire.response()).startsWith("HTTP/1.1 500 Internal Server Error\r\n");
      wire.send("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n");
      assertThat(wire.response()).startsWith("HTTP/1.1 200 OK\r\n");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/config/later", "/v1/config/broken"})
  void anErrorIsAnAnswerToo(String path) throws IOException {
    assertThat(getWithToken(path)).startsWith("HTTP/1.1 500 Internal Server Error\r\n");
    assertThat(getWithToken("/v1/config/later")).startsWith("HTTP/1.1 500 ");
  }

  /** Such as a reload that reads a file of a disk that hangs. */
  @Test
  void whileAnOperationHangsOthersAreAnswered() throws Exception {
    try (Wire hanging = new Wire(server.address())) {
      hanging.send(
          "POST /v1/config/hang HTTP/1.1\r\nHost: localhost\r\n"
              + bearer()
              + "Content-Length: 0\r\n\r\n");
      assertThat(isHanging.await(60, TimeUnit.SECONDS)).isTrue();
      othersAreAnswered();
      assertThat(purge("application/json", "{\"url\":\"http://h/\"}")).startsWith("HTTP/1.1 200 ");
      mayEnd.countDown();
      assertThat(hanging.response()).startsWith("HTTP/1.1 204 ");
    }
  }

  /** Such as a purge at a process that gives way to the next one. */
  @Test
  void whatIsUnderWayIsAnsweredBeforeTheEnd() throws Exception {
    Thread closing = Thread.ofVirtual().unstarted(server::close);
    try (Wire idle = new Wire(server.address());
        Wire hanging = new Wire(server.address())) {
      hanging.send(
          "POST /v1/config/hang HTTP/1.1\r\nHost: localhost\r\n"
              + bearer()
              + "Content-Length: 0\r\n\r\n");
      assertThat(isHanging.await(60, TimeUnit.SECONDS)).isTrue();
      closing.start();
      assertThat(idle.rest()).isEmpty();
      mayEnd.countDown();
      assertThat(hanging.rest())
          .startsWith("HTTP/1.1 204 ")
          .containsIgnoringCase("connection: close");
    }
    closing.join();
  }

  private void othersAreAnswered() throws IOException {
    for (String path :
        List.of("/metrics", "/readyz", "/healthz", "/v1/status", "/v1/tokens", "/v1/top")) {
      assertThat(getWithToken(path)).as(path).startsWith("HTTP/1.1 200 ");
    }
  }

  @Test
  void pipelinedRequestsAreAnsweredInOrder() throws IOException {
    try (Wire wire = new Wire(server.address())) {
      wire.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" + closing("/readyz"));
      assertThat(wire.response()).endsWith("ok\n");
      assertThat(wire.rest()).contains("connection: close\r\n").endsWith("ready\n");
    }
  }

  @Test
  void anOldClientIsServed() throws IOException {
    try (Wire wire = new Wire(server.address())) {
      assertThat(wire.send("GET /healthz HTTP/1.0\r\n\r\n").rest()).endsWith("ok\n");
    }
    try (Wire wire = new Wire(server.address())) {
      wire.send("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
      assertThat(wire.response()).contains("connection: keep-alive\r\n");
    }
  }

  @Test
  void aConnectionWithoutARequestInTimeIsClosed() throws IOException {
    AdminSettings hasty =
        Sections.copy(SmallAppliance.settings(SmallAppliance.ANY_PORT, directory.resolve("token")))
            .with("requestSamples", 0)
            .with("answerLimit", Duration.ofMillis(50))
            .record();
    try (AdminServer other = appliance.open(hasty);
        Wire wire = new Wire(other.address())) {
      assertThat(wire.send("GET /healthz HTTP/1.1\r\nHost: ").rest()).isEmpty();
    }
  }

  private String closing(String path) {
    return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  }

  private String bearer() {
    return "Authorization: bearer " + token + "\r\n";
  }

  private String get(String path) throws IOException {
    return exchange("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }

  private String getWithToken(String path) throws IOException {
    return exchange("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + bearer() + "\r\n");
  }

  private String purges() throws IOException {
    return getWithToken("/v1/cache/purges");
  }

  private String purge(String contentType, String content) throws IOException {
    return exchange(
        "POST /v1/cache/purges HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
            + contentType
            + "\r\n"
            + bearer()
            + "Content-Length: "
            + content.length()
            + "\r\n\r\n"
            + content);
  }

  private String exchange(String request) throws IOException {
    try (Wire wire = new Wire(server.address())) {
      wire.send(request);
      return request.startsWith("HEAD") ? wire.head() : wire.response();
    }
  }
}
