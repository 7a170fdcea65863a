package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.head;
import static io.kamille.launcher.appliance.StubOrigin.message;
import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.launcher.appliance.StubOrigin.Request;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What an intermediary changes in a message, and what it leaves alone (RFC 9110 §7.6). */
class ForwardingIT {

  @RegisterExtension private final Journey journey = new Journey();

  @Test
  void theHostOfTheClientReachesTheOriginInNormalForm() {
    journey.origin().on("/a", ok("x"));
    journey.say("GET /a HTTP/1.1\r\nHost: WWW.Example.org:08080\r\n\r\n");
    assertThat(journey.origin().request("/a").values("Host"))
        .containsExactly("www.example.org:8080");
  }

  @Test
  void theClientIsTheOneThatALoadBalancerNames() {
    journey
        .with("listeners: [{address: '127.0.0.1:0', proxy-protocol: {from: [127.0.0.1]}}]")
        .origin()
        .on("/a", ok("x"));
    String header = "PROXY TCP4 192.0.2.7 198.51.100.1 56324 443\r\n";
    journey.say(header + "GET /a HTTP/1.1\r\nHost: k.test\r\n\r\n");
    assertThat(journey.origin().request("/a").field("X-Forwarded-For")).isEqualTo("192.0.2.7");
    assertThat(journey.accessLog(1).getFirst()).startsWith("192.0.2.7 ");
  }

  @Test
  void noSpellingOfTheHostIsStoredForOthers() {
    journey
        .origin()
        .on(
            "/a",
            visit ->
                visit.send(
                    ok(
                        visit.request().field("Host")
                            + ' '
                            + visit.request().field("X-Forwarded-Host"),
                        "Cache-Control: no-cache")));
    for (String host : List.of("K.TEST:80", "k.test:", "k.test:080", "k.test")) {
      assertThat(journey.say("GET /a HTTP/1.1\r\nHost: " + host + "\r\n\r\n").content())
          .isEqualTo("k.test k.test");
    }
    assertThat(journey.say("GET http://K.test:80/a HTTP/1.1\r\nHost: other\r\n\r\n").content())
        .isEqualTo("k.test k.test");
    assertThat(journey.origin().requests("/a")).hasSize(5);
  }

  @Test
  void aRouteMayWriteAnotherHost() {
    journey
        .with("routes: [{upstream: site, host-rewrite: internal.example.org}]")
        .origin()
        .on("/a", ok("x"));
    journey.say("GET /a HTTP/1.1\r\nHost: www.example.org\r\n\r\n");
    Request asked = journey.origin().request("/a");
    assertThat(asked.values("Host")).containsExactly("internal.example.org");
    assertThat(asked.field("X-Forwarded-Host")).isEqualTo("www.example.org");
  }

  @Test
  void theOriginLearnsWhoAskedAndByWhichWay() {
    journey.origin().on("/a", ok("x"));
    journey.get("/a", "X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https", "Via: 1.0 fred");
    Request asked = journey.origin().request("/a");
    assertThat(asked.values("X-Forwarded-For")).containsExactly("127.0.0.1");
    assertThat(asked.values("X-Forwarded-Proto")).containsExactly("http");
    assertThat(asked.values("X-Forwarded-Host")).containsExactly("a");
    assertThat(asked.field("Via")).isEqualTo("1.0 fred, 1.1 kamille");
    assertThat(asked.values("Forwarded")).isEmpty();
  }

  @Test
  void behindATrustedProxyTheListsGrow() {
    journey.with("forwarding: {x-forwarded: append, forwarded: append}").origin().on("/a", ok("x"));
    journey.get("/a", "X-Forwarded-For: 192.0.2.1", "Forwarded: for=192.0.2.1");
    Request asked = journey.origin().request("/a");
    assertThat(asked.field("X-Forwarded-For")).isEqualTo("192.0.2.1, 127.0.0.1");
    assertThat(asked.field("Forwarded"))
        .isEqualTo("for=192.0.2.1, for=127.0.0.1;host=\"a\";proto=http");
    assertThat(asked.field("Via")).isEqualTo("1.1 kamille");
  }

  @Test
  void whatNoCacheKeyCoversDoesNotReachTheOrigin() {
    journey
        .origin()
        .on(
            "/a",
            visit ->
                visit.send(
                    ok(
                        String.valueOf(visit.request().field("X-Original-URL")),
                        "Cache-Control: max-age=60")));
    String[] claims = {
      "Forwarded: host=evil.example",
      "Request-Uri: /evil",
      "X-Backend-Host: evil.example",
      "X-Forwarded-Host: evil.example",
      "X-Forwarded-Port: 1",
      "X-Forwarded-Prefix: /evil",
      "X-Forwarded-Server: evil.example",
      "X-Host: evil.example",
      "X-HTTP-Method-Override: DELETE",
      "X-Invoke-Path: /evil",
      "X-Middleware-Prefetch: evil",
      "X-Nextjs-Data: evil",
      "X-Now-Route-Matches: evil",
      "X-Original-URL: /evil",
      "X-Rewrite-URL: /evil",
      "X_Original_URL: /evil",
    };
    assertThat(journey.get("/a", claims).content()).isEqualTo("null");
    assertThat(journey.origin().request("/a").head()).doesNotContain("evil", "DELETE");
    assertThat(journey.origin().request("/a").values("X-Forwarded-Host")).containsExactly("a");
    assertThat(journey.get("/a").content()).isEqualTo("null");
  }

  @Test
  void theClientsForwardedPassesOnlyWhereNothingIsSaidOfTheClient() {
    journey
        .with("forwarding: {x-forwarded: off, removed-fields: [X-A]}")
        .origin()
        .on("/a", ok("x"));
    journey.get("/a", "Forwarded: for=192.0.2.1", "X-Forwarded-For: x", "X-Host: y", "X-A: z");
    Request asked = journey.origin().request("/a");
    assertThat(asked.values("Forwarded")).containsExactly("for=192.0.2.1");
    assertThat(asked.values("X-Forwarded-For")).containsExactly("x");
    assertThat(asked.values("X-Host")).containsExactly("y");
    assertThat(asked.values("X-A")).isEmpty();
  }

  @Test
  void fieldsThatAreRemovedDoNotPassAsTrailersEither() {
    List<String> trailers = new CopyOnWriteArrayList<>();
    journey
        .origin()
        .on(
            "/a",
            visit -> {
              trailers.add(visit.trailers());
              visit.send(ok("x"));
            });
    String[] lines = {
      "POST /a HTTP/1.1",
      "Host: a",
      "Transfer-Encoding: chunked",
      "",
      "0",
      "X-Original-URL: /evil",
      "X-Sum: 1",
      "",
      ""
    };
    journey.say(String.join("\r\n", lines));
    assertThat(trailers).containsExactly("X-Sum: 1\r\n\r\n");
  }

  @Test
  void theAnswerSaysThatItPassedHere() {
    journey.origin().on("/a", ok("x", "Via: 1.1 inner", "Cache-Control: max-age=60"));
    assertThat(String.join("\n", journey.get("/a").lines())).contains("Via: 1.1 inner");
    assertThat(journey.get("/a").field("Cache-Status")).contains("hit");
  }

  @Test
  void whatConnectionNamesGoesNoFurtherInEitherDirection() {
    journey
        .origin()
        .on(
            "/a",
            ok("x", "Connection: X-Secret", "X-Secret: 1", "Keep-Alive: timeout=5", "X-Kept: 1"));
    Answer answer =
        journey.get(
            "/a",
            "Connection: keep-alive, X-Hop",
            "X-Hop: 1",
            "Keep-Alive: 1",
            "Proxy-Connection: keep-alive",
            "TE: gzip",
            "X-End: 1");
    Request asked = journey.origin().request("/a");
    assertThat(asked.values("X-Hop")).isEmpty();
    assertThat(asked.values("Keep-Alive")).isEmpty();
    assertThat(asked.values("Proxy-Connection")).isEmpty();
    assertThat(asked.values("TE")).isEmpty();
    assertThat(asked.values("X-End")).containsExactly("1");
    assertThat(answer.field("X-Secret")).isNull();
    assertThat(answer.field("Keep-Alive")).isNull();
    assertThat(answer.field("Connection")).isNull();
    assertThat(answer.field("X-Kept")).isEqualTo("1");
  }

  /** Each field of the request would be compared with all of it. */
  @Test
  void aConnectionFieldWithoutEndIsRefused() {
    Answer answer = journey.get("/", "Connection: " + ",".repeat(2000));
    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.field("Connection")).isEqualTo("close");
    assertThat(journey.origin().requests()).isEmpty();
  }

  @Test
  void connectionNamesAreNotStoredEither() {
    journey
        .origin()
        .on("/a", ok("x", "Connection: X-Secret", "X-Secret: 1", "Cache-Control: max-age=60"));
    journey.get("/a");
    Answer hit = journey.get("/a");
    assertThat(hit.field("Cache-Status")).contains("hit");
    assertThat(hit.field("X-Secret")).isNull();
  }

  @Test
  void absoluteTargetsAndTheAsteriskReachTheOriginInTheirForm() {
    journey.origin().on("/a?b", ok("x")).on("*", ok("", "Allow: GET"));
    assertThat(
            journey.say("GET http://www.example.org/a?b HTTP/1.1\r\nHost: other\r\n\r\n").status())
        .isEqualTo(200);
    assertThat(journey.origin().request("/a?b").values("Host")).containsExactly("www.example.org");
    Answer options = journey.ask("OPTIONS", "*");
    assertThat(options.status()).isEqualTo(200);
    assertThat(options.field("Allow")).isEqualTo("GET");
    assertThat(journey.origin().request("*").method()).isEqualTo("OPTIONS");
    journey.say("OPTIONS http://www.example.org HTTP/1.1\r\nHost: other\r\n\r\n");
    assertThat(journey.origin().requests("*")).hasSize(2);
    assertThat(journey.origin().requests("*").getLast().values("Host"))
        .containsExactly("www.example.org");
  }

  @Test
  void everyMethodTokenIsPassedOn() {
    journey.origin().on("/a", ok("x"));
    for (String method : List.of("PROPFIND", "BREW", "M-SEARCH", "get")) {
      assertThat(journey.ask(method, "/a").status()).as(method).isEqualTo(200);
    }
    assertThat(journey.origin().requests("/a"))
        .extracting(Request::method)
        .containsExactly("PROPFIND", "BREW", "M-SEARCH", "get");
  }

  @Test
  void traceGoesNoFurther() {
    try (TestClient client = journey.client()) {
      Answer answer = client.request("TRACE", "/a", "Cookie: a=b").answer("TRACE");
      assertThat(answer.status()).isEqualTo(405);
      assertThat(answer.field("Allow")).contains("GET").doesNotContain("TRACE");
      assertThat(answer.content()).doesNotContain("a=b");
      assertThat(client.get("/a").answer().status()).isEqualTo(404);
    }
    assertThat(journey.origin().requests()).extracting(Request::method).containsExactly("GET");
  }

  @Test
  void conditionsAndRangesOfRequestsThatAreNotCachedAreAnsweredByTheOrigin() {
    journey
        .with("routes: [{upstream: site, cache: off}]")
        .origin()
        .on("/304", head("304 Not Modified", "ETag: \"x\"") + "\r\n")
        .on("/206", message("206 Partial Content", "a", "Content-Range: bytes 0-0/2"))
        .on("/416", message("416 Range Not Satisfiable", "", "Content-Range: bytes */2"));
    assertThat(journey.get("/304", "If-None-Match: \"x\"").status()).isEqualTo(304);
    assertThat(journey.get("/206", "Range: bytes=0-0").content()).isEqualTo("a");
    assertThat(journey.get("/416", "Range: bytes=9-").status()).isEqualTo(416);
  }

  @Test
  void aClientOfVersion10IsServedAndItsConnectionCloses() {
    journey
        .origin()
        .on("/a", ok("plain", "Cache-Control: max-age=60"))
        .on(
            "/chunked",
            visit ->
                visit.send(
                    head("200 OK", "Transfer-Encoding: chunked")
                        + "\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"));
    try (TestClient client = journey.client()) {
      Answer answer = client.send("GET /a HTTP/1.0\r\nHost: a\r\n\r\n").answer();
      assertThat(answer.content()).isEqualTo("plain");
      assertThat(client.isAtEnd()).isTrue();
    }
    try (TestClient client = journey.client()) {
      Answer answer = client.send("GET /chunked HTTP/1.0\r\n\r\n").answer();
      assertThat(answer.field("Transfer-Encoding")).isNull();
      assertThat(answer.content()).isEqualTo("abcde");
    }
    try (TestClient client = journey.client()) {
      client.send("GET /a HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n");
      Answer hit = client.answer();
      assertThat(hit.field("Connection")).isEqualTo("keep-alive");
      assertThat(client.get("/a").answer().content()).isEqualTo("plain");
    }
    assertThat(journey.origin().requests("/chunked").getFirst().field("Via"))
        .isEqualTo("1.0 kamille");
  }

  @Test
  void theMostSpecificRouteWins() throws Exception {
    try (StubOrigin other = StubOrigin.open()) {
      journey.with(
          "upstreams: {site: {origins: ['"
              + journey.origin().url()
              + "']}, other: {origins: ['"
              + other.url()
              + "']}}",
          "routes: [{host: a, upstream: site}, {host: a, path: /api, upstream: other},"
              + " {host: '*.example.org', upstream: other}]");
      for (StubOrigin origin : List.of(journey.origin(), other)) {
        String name = origin == other ? "other" : "site";
        origin.on("/apis", ok(name)).on("/api/1", ok(name)).on("/", ok(name));
      }
      assertThat(journey.get("/apis").content()).isEqualTo("site");
      assertThat(journey.get("/api/1").content()).isEqualTo("other");
      assertThat(journey.say("GET / HTTP/1.1\r\nHost: X.example.org\r\n\r\n").content())
          .isEqualTo("other");
      Answer lost = journey.say("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n");
      assertThat(lost.status()).isEqualTo(421);
      assertThat(lost.field("Proxy-Status")).contains("error=http_request_error");
    }
  }

  @Test
  void manyUpstreamsAreServed() {
    StringBuilder upstreams = new StringBuilder();
    StringBuilder routes = new StringBuilder();
    for (int i = 0; i < 200; i++) {
      upstreams.append("u" + i + ": {origins: ['" + journey.origin().url() + "']}, ");
      routes.append("{path: /" + i + ", upstream: u" + i + "}, ");
    }
    journey.with("loops: 1", "upstreams: {" + upstreams + "}", "routes: [" + routes + "]");
    try (TestClient client = journey.client()) {
      for (int i = 0; i < 200; i++) {
        journey.origin().on("/" + i, ok("x"));
        assertThat(client.get("/" + i).answer().status()).as("upstream %d", i).isEqualTo(200);
      }
    }
  }
}
