package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.message;
import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.launcher.appliance.StubOrigin.Request;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * No client gets a request past us that we did not see as one (RFC 9112 §11.2). The names of the
 * techniques are those of the literature: Linhart et al., "HTTP Request Smuggling", 2005; James
 * Kettle, "HTTP Desync Attacks", 2019, "Browser-Powered Desync Attacks", 2022, and "HTTP/1.1 must
 * die", 2025.
 */
class RequestSmugglingIT {

  private static final String SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

  @RegisterExtension private final Journey journey = new Journey();

  /** RFC 9112 §6.1, §6.2, §6.3. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "CL.TE            | 400 | Content-Length: 6~Transfer-Encoding: chunked~~0~~",
        "TE.CL            | 400 | Transfer-Encoding: chunked~Content-Length: 3~~0~~",
        "CL.CL            | 400 | Content-Length: 0~Content-Length: 40~~",
        "CL.CL, equal     | 400 | Content-Length: 0~Content-Length: 0~~",
        "CL list          | 400 | Content-Length: 0, 0~~",
        "CL signed        | 400 | Content-Length: +0~~",
        "CL negative      | 400 | Content-Length: -1~~",
        "CL hexadecimal   | 400 | Content-Length: 0x0~~",
        "CL with blank    | 400 | Content-Length: 0 0~~",
        "CL overflow      | 400 | Content-Length: 18446744073709551616~~",
        "CL empty         | 400 | Content-Length:~~",
        "CL folded        | 400 | Content-Length:~ 0~~",
        "0.CL by space    | 400 | Content-Length : 40~~",
        "0.CL by line     | 400 | X: y~ Content-Length: 40~~",
        "TE.TE            | 400 | Transfer-Encoding: chunked~Transfer-Encoding: x~~0~~",
        "TE.TE, chunked 1st|400 | Transfer-Encoding: chunked, identity~~0~~",
        "TE.TE, chunked 2 | 501 | Transfer-Encoding: chunked~Transfer-Encoding: chunked~~0~~",
        "TE.TE, another   | 400 | Transfer-Encoding: chunked, xchunked~~0~~",
        "TE.TE, in 2 lines| 400 | Transfer-Encoding: chunked~Transfer-Encoding: xchunked~~0~~",
        "TE identity      | 400 | Transfer-Encoding: identity~~",
        "TE gzip          | 501 | Transfer-Encoding: gzip, chunked~~0~~",
        "TE quoted        | 400 | Transfer-Encoding: \"chunked\"~~0~~",
        "TE parameter     | 400 | Transfer-Encoding: chunked;a=b~~0~~",
        "TE prefix        | 400 | Transfer-Encoding: xchunked~~0~~",
        "TE vertical tab  | 400 | Transfer-Encoding:^chunked~~0~~",
        "TE by space      | 400 | Transfer-Encoding : chunked~~0~~",
        "TE by line       | 400 | X: y~ Transfer-Encoding: chunked~~0~~",
        "TE by name       | 400 | Transfer-Encoding^: chunked~~0~~",
        "TE list end      | 400 | Transfer-Encoding: chunked,~~0~~",
        "no colon         | 400 | Content-Length 40~~",
      })
  void whatFramesARequestInTwoWaysIsRefused(String technique, int status, String rest) {
    refused(technique, status, "POST /a HTTP/1.1\r\nHost: a\r\n" + wire(rest));
  }

  /** RFC 9112 §2.2: only CRLF ends a line, and a CR alone is not replaced but refused. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "POST /a HTTP/1.1~Host: a~X: y\nTransfer-Encoding: chunked~~0~~",
        "POST /a HTTP/1.1~Host: a~X: y\rTransfer-Encoding: chunked~~0~~",
        "POST /a HTTP/1.1~Host: a~X: y\n~Content-Length: 40~~",
        "POST /a HTTP/1.1\nHost: a\nContent-Length: 40\n\n",
        "POST /a HTTP/1.1~Host: a~\n",
        "POST /a HTTP/1.1~Host: a~\r~\n",
        "POST /a HTTP/1.1~Host: a~X: \0~~",
        "POST /a HTTP/1.1~Host: a~X\0: y~~",
        "POST /a HTTP/1.1~Host: a~: y~~",
        "POST /a HTTP/1.1 ~Host: a~~",
        "POST  /a HTTP/1.1~Host: a~~",
        "POST /a\tHTTP/1.1~Host: a~~",
        "POST /a b HTTP/1.1~Host: a~~",
        "POST /a HTTP/1.1~~",
        "POST /a HTTP/1.10~Host: a~~",
        "POST /a http/1.1~Host: a~~",
        "POST /a~~",
      })
  void aHeadWithLinesThatEndInTwoWaysIsRefused(String head) {
    refused(head, 400, wire(head));
  }

  /** RFC 9112 §6.1: HTTP/1.0 knows no transfer codings. */
  @Test
  void http10IsNotChunked() {
    refused(
        "TE in 1.0",
        400,
        "POST /a HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    refused(
        "both in 1.0",
        400,
        wire("POST /a HTTP/1.0~Host: a~Content-Length: 5~Transfer-Encoding: chunked~~0~~"));
    refused("HTTP/0.9", 505, "GET /a HTTP/0.9\r\nHost: a\r\n\r\n");
  }

  /** CL.0 and fat GET: content is content, whatever the method and whatever it looks like. */
  @ParameterizedTest
  @ValueSource(strings = {"GET", "HEAD", "DELETE", "OPTIONS", "POST", "M-SEARCH"})
  void contentIsNeverARequest(String method) {
    Queue<String> contents = keepContents();
    try (TestClient client = journey.client()) {
      client.send(
          method + " /a HTTP/1.1\r\nHost: a\r\nContent-Length: " + SMUGGLED.length() + "\r\n\r\n");
      client.send(SMUGGLED);
      assertThat(client.answer(method).status()).isEqualTo(200);
      client.send(
          method
              + " /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
              + Integer.toHexString(SMUGGLED.length())
              + "\r\n"
              + SMUGGLED
              + "\r\n0\r\n\r\n");
      assertThat(client.answer(method).status()).isEqualTo(200);
    }
    assertThat(contents).containsExactly(SMUGGLED, SMUGGLED);
    assertThat(journey.origin().requests("/smuggled")).isEmpty();
  }

  /** Content that Kamille has no use for, since it answers itself, is content nevertheless. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "TRACE /a HTTP/1.1~Host: a~Content-Length: 35~~",
        "OPTIONS /a HTTP/1.1~Host: a~Max-Forwards: 0~Content-Length: 35~~",
        "POST https://a/a HTTP/1.1~Host: a~Content-Length: 35~~",
        "GET /a HTTP/1.1~Host: a~Cache-Control: only-if-cached~Content-Length: 35~~",
        "PURGE /a HTTP/1.1~Host: a~Content-Length: 35~~",
      })
  void contentOfARequestThatGoesNoFurtherIsNotARequest(String head) {
    assertThat(SMUGGLED).hasSize(35);
    journey.origin().on("/next", ok("next"));
    try (TestClient client = journey.client()) {
      client.send(wire(head) + SMUGGLED).get("/next");
      assertThat(client.answer().status()).isNotEqualTo(400);
      assertThat(client.answer().content()).isEqualTo("next");
    }
    assertThat(journey.origin().requests("/smuggled")).isEmpty();
  }

  /**
   * Client-side desync: an early answer leaves content behind, which is dropped with its client.
   * Content of gRPC is not waited for, so that it can be answered early.
   */
  @Test
  void whatFollowsAnEarlyAnswerIsContent() {
    journey
        .origin()
        .on(
            "/early",
            visit -> {
              visit.contentIsRead();
              visit.send(message("403 Forbidden", "no"));
              visit.in().readAllBytes();
              visit.close();
            });
    try (TestClient client = journey.client()) {
      client.send(
          "POST /early HTTP/1.1\r\nHost: a\r\nContent-Type: application/grpc\r\n"
              + "Content-Length: 2000000\r\n\r\n"
              + SMUGGLED.repeat(9));
      assertThat(client.answer().status()).isEqualTo(403);
      assertThat(client.isAtEnd()).isTrue();
    }
    assertThat(journey.origin().requests("/smuggled")).isEmpty();
  }

  /** RFC 9110 §10.1.1: one expectation is known, and it is not passed on where nothing waits. */
  @Test
  void expectationsFrameNothing() {
    Queue<String> contents = keepContents();
    refused(
        "obfuscated",
        417,
        "POST /a HTTP/1.1\r\nHost: a\r\nExpect: y 100-continue\r\nContent-Length: 35\r\n\r\n");
    refused(
        "twice",
        417,
        "POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nExpect: 100-continue\r\n\r\n");
    try (TestClient client = journey.client()) {
      client.get("/a", "Expect: 100-continue");
      assertThat(client.answer().status()).isEqualTo(200);
    }
    assertThat(contents).containsExactly("");
    assertThat(journey.origin().request("/a").field("Expect")).isNull();
  }

  /** Jake Miller, "h2c Smuggling", 2020: a tunnel would go past routes and rules. */
  @ParameterizedTest
  @ValueSource(strings = {"h2c", "H2C", "websocket, h2c", "websocket\r\nUpgrade: h2c"})
  void http2InTheClearIsNotSwitchedTo(String protocol) {
    journey.origin().on("/a", ok("x")).on("/b", ok("y"));
    try (TestClient client = journey.client()) {
      client.get(
          "/a",
          "Connection: Upgrade, HTTP2-Settings",
          "Upgrade: " + protocol,
          "HTTP2-Settings: AAMAAABkAAQAAP__");
      client.get("/b");
      assertThat(client.answer().content()).isEqualTo("x");
      assertThat(client.answer().content()).isEqualTo("y");
    }
    Request asked = journey.origin().request("/a");
    assertThat(asked.field("Upgrade")).isNull();
    assertThat(asked.field("Connection")).isNull();
    assertThat(asked.field("HTTP2-Settings")).isNull();
  }

  /** 0ang3el, "Websocket smuggling", 2019: only a 101 of the origin opens a tunnel. */
  @Test
  void behindADeclinedUpgradeRequestsAreRequests() {
    journey
        .origin()
        .on(
            "/ws",
            visit -> {
              visit.send(message("426 Upgrade Required", "no", "Upgrade: websocket"));
            })
        .on("/b", ok("y"));
    try (TestClient client = journey.client()) {
      client.get("/ws", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 777");
      client.get("/b", "X-Forwarded-Host: evil");
      assertThat(client.answer().status()).isEqualTo(426);
      assertThat(client.answer().content()).isEqualTo("y");
    }
    assertThat(journey.origin().request("/b").values("X-Forwarded-Host")).containsExactly("a");
  }

  /** A name with an underscore is another name to us, and none to an origin that speaks CGI. */
  @Test
  void framingInDisguiseGoesNoFurther() {
    Queue<String> contents = keepContents();
    try (TestClient client = journey.client()) {
      client.send(
          wire("POST /a HTTP/1.1~Host: a~Content_Length: 4~Transfer_Encoding: chunked~Host_: b~~"));
      assertThat(client.answer().status()).isEqualTo(200);
    }
    Request asked = journey.origin().request("/a");
    assertThat(asked.head().toLowerCase(Locale.ROOT))
        .doesNotContain("content_length")
        .doesNotContain("transfer_encoding");
    assertThat(contents).containsExactly("");
  }

  /** RFC 9110 §6.5.1. */
  @Test
  void trailersFrameNothing() {
    Queue<String> trailers = new ConcurrentLinkedQueue<>();
    journey
        .origin()
        .on(
            "/a",
            visit -> {
              trailers.add(visit.trailers());
              visit.send(ok("x"));
            });
    Answer answer =
        journey.say(
            wire(
                "POST /a HTTP/1.1~Host: a~Transfer-Encoding: chunked~~1~x~0~Content-Length:"
                    + " 5~Transfer-Encoding: chunked~Content_Length: 5~Host: b~Connection: x~Sum:"
                    + " 1~~"));
    assertThat(answer.content()).isEqualTo("x");
    assertThat(trailers).containsExactly("Sum: 1\r\n\r\n");
  }

  /** RFC 9112 §7: one normal form goes on, whatever the client's chunks looked like. */
  @Test
  void chunksGoOnAsOneContentWithItsLengthOrInNormalForm() {
    Queue<String> contents = keepContents();
    String head = "POST /a HTTP/1.1~Host: a~transfer-encoding:\t ChunKed \t~~";
    Answer whole = journey.say(wire(head + "0003;a=\"b\"~abc~00~~"));
    assertThat(whole.status()).isEqualTo(200);
    Answer withTrailer = journey.say(wire(head + "0003;a=\"b\"~abc~00~digest: d~~"));
    assertThat(withTrailer.status()).isEqualTo(200);
    assertThat(contents).containsExactly("abc", "abc");
    List<Request> requests = journey.origin().requests("/a");
    assertThat(requests.getFirst().values("Content-Length")).containsExactly("3");
    assertThat(requests.getFirst().values("Transfer-Encoding")).isEmpty();
    assertThat(requests.getLast().values("Transfer-Encoding")).containsExactly("chunked");
    assertThat(requests.getLast().values("Content-Length")).isEmpty();
  }

  private Queue<String> keepContents() {
    Queue<String> contents = new ConcurrentLinkedQueue<>();
    journey
        .origin()
        .on(
            "/a",
            visit -> {
              contents.add(visit.content());
              if (visit.request().method().equals("HEAD")) {
                visit.send(StubOrigin.head("200 OK", "Cache-Control: no-store") + "\r\n");
              } else {
                visit.send(ok("x", "Cache-Control: no-store"));
              }
            });
    return contents;
  }

  /** The answer is an error of ours, the connection ends, and no origin hears of anything. */
  private void refused(String technique, int status, String octets) {
    try (TestClient client = journey.client()) {
      Answer answer = client.send(octets + SMUGGLED).answer();
      assertThat(answer.status()).as(technique).isEqualTo(status);
      assertThat(answer.field("Proxy-Status")).as(technique).contains("http_request_error");
      assertThat(answer.field("Connection")).as(technique).isEqualTo("close");
      assertThat(client.isAtEnd()).as(technique).isTrue();
    }
    assertThat(journey.origin().requests()).as(technique).isEqualTo(List.of());
  }

  private static String wire(String text) {
    return text.replace("~", "\r\n").replace('^', '\u000b');
  }
}
