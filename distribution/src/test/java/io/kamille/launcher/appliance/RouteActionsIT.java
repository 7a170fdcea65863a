package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.head;
import static io.kamille.launcher.appliance.StubOrigin.message;
import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.client.h2.TestH2Client;
import io.kamille.launcher.appliance.StubOrigin.Visit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What routes do by themselves. */
class RouteActionsIT {

  @RegisterExtension private final Journey journey = new Journey();

  @Test
  void whatHasMovedIsRedirectedBeforeTheCache() throws Exception {
    Path moved = Files.writeString(journey.file("moved.csv"), "/a,/b\n/old/*,/new/*,301\n");
    journey
        .with("routes: [{upstream: site, redirects-file: '" + moved + "'}]")
        .origin()
        .on("/b", ok("b", "Cache-Control: max-age=60"));
    assertThat(journey.get("/a?q=1").status()).isEqualTo(308);
    assertThat(journey.get("/a?q=1").field("Location")).isEqualTo("/b?q=1");
    assertThat(journey.get("/old/x").field("Location")).isEqualTo("/new/x");
    assertThat(journey.get("/b").content()).isEqualTo("b");
    assertThat(journey.get("/b").field("Cache-Status")).contains("hit");
    assertThat(journey.admin("/v1/explain?url=http://h/old/x").body())
        .contains("routes[].redirects-file", "301 to /new/x", "\"decision\":\"answer\"");
  }

  /** So the log tells of a change once, and memory holds the redirects once. */
  @Test
  void pathsThatBypassTheCacheGoByTheSameRedirects() throws Exception {
    Path moved = Files.writeString(journey.file("moved.csv"), "/a,/b\n/cart/a,/b\n");
    journey.with(
        "routes: [{upstream: site, cache: {bypass-paths: [/cart]}, redirects-file: '"
            + moved
            + "'}]");
    assertThat(journey.get("/cart/a").field("Location")).isEqualTo("/b");
    Files.writeString(moved, "/a,/new\n/cart/a,/new\n");
    Await.until(() -> "/new".equals(journey.get("/a").field("Location")));
    assertThat(journey.get("/cart/a").field("Location")).isEqualTo("/new");
  }

  @Test
  void aRedirectKeepsPathAndQueryButNoOtherHost() {
    journey.with("routes: [{redirect: 'https://www.{host}{uri}'}, {path: /p, redirect: '{path}'}]");
    Answer answer = journey.get("/a?b");
    assertThat(answer.status()).isEqualTo(308);
    assertThat(answer.field("Location")).endsWith("/a?b").startsWith("https://www.");
    assertThat(journey.get("//p//evil.org").field("Location")).isEqualTo("/p//evil.org");
  }

  @Test
  void whatAClientSendsIsNoPlaceForMore() {
    journey.with("routes: [{redirect: 'https://www.example.org{path}'}]");
    assertThat(journey.get("/{uri}{host}").field("Location"))
        .isEqualTo("https://www.example.org/{uri}{host}");
  }

  @Test
  void aRouteMayAnswerByItself() {
    journey.with(
        "routes: [{respond: {status: 503, body: Back soon.},"
            + " response-headers: {set: {Retry-After: '60'}}}]");
    Answer answer = journey.get("/a");
    assertThat(answer.status()).isEqualTo(503);
    assertThat(answer.content()).isEqualTo("Back soon.");
    assertThat(answer.field("Retry-After")).isEqualTo("60");
    assertThat(journey.ask("HEAD", "/a").content()).isEmpty();
    assertThat(journey.origin().requests()).isEmpty();
  }

  @Test
  void fieldsChangeOnTheirWay() {
    journey.origin().on("/a", ok("x", "Server: secret", "X-Two: 1"));
    journey.with(
        "routes: [{upstream: site, request-headers: {remove: [Cookie], set: {X-Env: prod}},"
            + " response-headers: {remove: [server], set: {X-Two: 'a, b'},"
            + " add: {Cache-Control: max-age=60}}}]");
    Answer answer = journey.get("/a", "Cookie: c", "X-Env: test");
    assertThat(answer.field("Server")).isNull();
    assertThat(answer.field("X-Two")).isEqualTo("a, b");
    assertThat(journey.get("/a").field("Cache-Status")).contains("hit");
    StubOrigin.Request request = journey.origin().request("/a");
    assertThat(request.values("X-Env")).containsExactly("prod");
    assertThat(request.field("Cookie")).isNull();
  }

  @Test
  void aValidationAddsToTheFieldsThatA304BringsAlone() {
    journey.origin().on("/a", ok("x", "Cache-Control: no-cache", "ETag: \"1\"", "X-Two: origin"));
    journey.with("routes: [{upstream: site, response-headers: {add: {X-One: rule, X-Two: rule}}}]");
    journey.get("/a");
    journey.origin().on("/a", head("304 Not Modified", "ETag: \"1\"", "X-Two: newer") + "\r\n");
    Answer validated = journey.get("/a");
    assertThat(validated.content()).isEqualTo("x");
    assertThat(validated.lines().stream().filter(line -> line.startsWith("X-")))
        .containsExactlyInAnyOrder("X-One: rule", "X-Two: newer", "X-Two: rule");
  }

  @Test
  void theOriginGetsAnotherPathAndTheKeyStays() {
    journey.origin().on("/v2/a?q", ok("x", "Cache-Control: max-age=60"));
    journey.with("routes: [{path: /api, upstream: site, path-rewrite: /v2}]");
    assertThat(journey.get("/api/a?q").content()).isEqualTo("x");
    assertThat(journey.get("/api/a?q").field("Cache-Status")).contains("hit");
    assertThat(journey.origin().requests("/v2/a?q")).hasSize(1);
  }

  @Test
  void noDotSegmentLeadsOutOfTheNewPath() {
    journey.origin().on("/v2/b", ok("x"));
    journey.with("routes: [{path: /api, upstream: site, path-rewrite: /v2}]");
    assertThat(journey.get("/api/a/../../api/b").content()).isEqualTo("x");
    assertThat(journey.get("/%61pi/b").content()).isEqualTo("x");
  }

  @Test
  void noDisguiseLeadsOutOfTheNewPath() {
    journey.origin().on("/v2/%252e%252e/admin", ok("x"));
    journey.with("routes: [{path: /api, upstream: site, path-rewrite: /v2}]");
    assertThat(journey.get("/api/%%32e%%32e/admin").content()).isEqualTo("x");
    assertThat(journey.get("/api/..%2fadmin").status()).isEqualTo(400);
    assertThat(journey.origin().requests()).hasSize(1);
  }

  @Test
  void theAsteriskOfOptionsIsNoPath() {
    journey.origin().on("*", ok(""));
    journey.with("routes: [{upstream: site, path-rewrite: /v2}]");
    assertThat(journey.ask("OPTIONS", "*").status()).isEqualTo(200);
    assertThat(journey.origin().request("*").method()).isEqualTo("OPTIONS");
  }

  @Test
  void whatWasEncodedIsEncodedBehindTheNewPath() {
    journey.origin().on("/v2/..%3B/a%7Cb+c%2Fd", ok("x"));
    journey.with("routes: [{path: /api, upstream: site, path-rewrite: /v2}]");
    assertThat(journey.get("/api/..%3B/a%7Cb%2Bc%2Fd").content()).isEqualTo("x");
  }

  @Test
  void eachResponseHasTheNameOfItsRequest() {
    journey.origin().on("/a", ok("x", "Cache-Control: max-age=60", "X-Request-Id: stale"));
    journey.with("routes: [{upstream: site, request-id: on}]");
    String first = String.valueOf(journey.get("/a", "X-Request-Id: forged").field("X-Request-Id"));
    String second = String.valueOf(journey.get("/a").field("X-Request-Id"));
    assertThat(List.of(first, second)).doesNotHaveDuplicates().allMatch(id -> id.length() == 32);
    assertThat(journey.origin().request("/a").values("X-Request-Id")).containsExactly(first);
  }

  @Test
  void errorsOfOurOwnHaveTheRoutesPage() throws IOException {
    Files.writeString(journey.file("sorry.html"), "<p>Sorry");
    journey.with(
        "routes: [{upstream: site, request-id: on, rate-limit: {rate: 1/h, burst: 4},"
            + " error-pages: {5xx: '"
            + journey.file("sorry.html")
            + "', 429: {body: Wait., type: text/x}}}]");
    journey.origin().on("/a", Visit::close);
    Answer answer = journey.get("/a");
    assertThat(answer.status()).isEqualTo(502);
    assertThat(answer.content()).isEqualTo("<p>Sorry");
    assertThat(answer.field("Content-Type")).isEqualTo("text/html; charset=utf-8");
    assertThat(answer.field("Content-Length")).isEqualTo("8");
    assertThat(answer.field("Proxy-Status")).isEqualTo("kamille; error=connection_terminated");
    assertThat(answer.field("Cache-Status")).startsWith("kamille; fwd=");
    assertThat(answer.field("Cache-Control")).isEqualTo("no-store");
    assertThat(answer.field("X-Request-Id")).hasSize(32);
    assertThat(journey.say("GET /a HTTP/1.0\r\nHost: h\r\n\r\n").content()).isEqualTo("<p>Sorry");
    assertThat(journey.ask("HEAD", "/a").content()).isEmpty();
    assertThat(journey.get("/a", "Content-Type: application/grpc").content()).startsWith("502");
    Answer limited = journey.get("/a");
    assertThat(limited.status()).isEqualTo(429);
    assertThat(limited.content()).isEqualTo("Wait.");
    assertThat(limited.field("Retry-After")).isNotNull();
    assertThat(limited.field("X-Request-Id")).hasSize(32);
  }

  @Test
  void aPageStandsInPlaceOfWhatTheOriginSendsOnlyIfItIntercepts() {
    journey.origin().on("/a", message("404 Not Found", "gone", "ETag: \"1\"", "X-One: 1"));
    journey.origin().on("/b", message("410 Gone", "gone"));
    journey.with(
        "routes: [{upstream: site, error-pages: {4xx: {body: No.},"
            + " 404: {body: Not here., intercept: on}}}]");
    for (int i = 0; i < 2; i++) {
      Answer answer = journey.get("/a");
      assertThat(answer.status()).isEqualTo(404);
      assertThat(answer.content()).isEqualTo("Not here.");
      assertThat(answer.field("ETag")).isNull();
      assertThat(answer.field("X-One")).isEqualTo("1");
    }
    assertThat(journey.ask("HEAD", "/a").content()).isEmpty();
    assertThat(journey.get("/a", "Content-Type: Application/gRPC").content()).isEqualTo("gone");
    assertThat(journey.get("/b").content()).isEqualTo("gone");
    try (TestClient client = journey.client()) {
      assertThat(client.get("/a").answer().content()).isEqualTo("Not here.");
      assertThat(client.get("/b").answer().content()).isEqualTo("gone");
    }
  }

  @Test
  void aPageDoesNotWaitForTheEndOfWhatItReplaces() {
    CountDownLatch released = new CountDownLatch(1);
    journey
        .origin()
        .on(
            "/a",
            visit -> {
              visit.send(head("404 Not Found", "Content-Length: 9") + "\r\ngone");
              Await.opened(released);
              visit.close();
            });
    journey.with(
        "routes: [{upstream: site, error-pages: {404: {body: Not here., intercept: on}}}]");
    try (TestClient client = journey.client()) {
      assertThat(client.get("/a").answer().content()).isEqualTo("Not here.");
      assertThat(client.get("/a").answer().content()).isEqualTo("Not here.");
    } finally {
      released.countDown();
    }
  }

  @Test
  void pagesGoByHttp2AsWell() {
    journey.origin().on("/a", Visit::close);
    journey.with(
        "listeners: [{address: '127.0.0.1:0', protocols: [h2c]}]",
        "routes: [{upstream: site, error-pages: {502: {body: Sorry.}}}]");
    try (TestH2Client client = TestH2Client.connect(journey.address())) {
      TestH2Client.Answer answer = client.get(1, "/a").answer(1);
      assertThat(answer.status()).isEqualTo(502);
      assertThat(answer.content()).isEqualTo("Sorry.");
    }
  }
}
