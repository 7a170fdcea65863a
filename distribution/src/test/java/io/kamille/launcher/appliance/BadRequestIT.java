package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is malformed gets its answer and never reaches an origin (RFC 9112 §11). */
class BadRequestIT {

  private static final String[] MALFORMED = {
    "400 GET / HTTP/1.1~~",
    "400 GET / HTTP/1.1~Host: a~Host: a~~",
    "400 GET / HTTP/1.1~Host: a b~~",
    "400 GET / HTTP/1.1~Host: a~Bad Name: x~~",
    "400 GET / HTTP/1.1~Host: a~Name : x~~",
    "400 GET / HTTP/1.1~Host: a~X: y~ folded~~",
    "400 GET / HTTP/1.1~Host: a~X: \0~~",
    "400 GET  / HTTP/1.1~Host: a~~",
    "400 GET /\u00e4 HTTP/1.1~Host: a~~",
    "400 GET /a#b HTTP/1.1~Host: a~~",
    "400 GET * HTTP/1.1~Host: a~~",
    "400 GET ftp://a/ HTTP/1.1~Host: a~~",
    "400 GET / HTTP/1.1\nHost: a\n\n",
    "400 GET /~~",
    "400 POST / HTTP/1.1~Host: a~Content-Length: 1~Content-Length: 2~~ab",
    "400 POST / HTTP/1.1~Host: a~Content-Length: +1~~a",
    "400 POST / HTTP/1.1~Host: a~Content-Length: 99999999999999999999~~a",
    "400 POST / HTTP/1.1~Host: a~Content-Length: 3~Transfer-Encoding: chunked~~0~~",
    "400 POST / HTTP/1.0~Host: a~Transfer-Encoding: chunked~~0~~",
    "400 POST / HTTP/1.1~Host: a~Transfer-Encoding: chunked, gzip~~0~~",
    "501 POST / HTTP/1.1~Host: a~Transfer-Encoding: gzip, chunked~~0~~",
    "505 GET / HTTP/2.0~Host: a~~",
    "505 PRI * HTTP/2.0~~SM~~",
    "417 POST / HTTP/1.1~Host: a~Content-Length: 1~Expect: miracles~~a",
    "405 CONNECT a:80 HTTP/1.1~Host: a:80~~",
  };

  @RegisterExtension private final Journey journey = new Journey();

  @Test
  void theAnswerNamesTheFaultAndTheConnectionEnds() {
    for (String malformed : MALFORMED) {
      try (TestClient client = journey.client()) {
        Answer answer = client.send(malformed.substring(4).replace("~", "\r\n")).answer();
        assertThat(answer.status())
            .as(malformed)
            .isEqualTo(Integer.parseInt(malformed.substring(0, 3)));
        assertThat(answer.field("Proxy-Status"))
            .as(malformed)
            .startsWith("kamille; error=http_request_error; details=\"");
        assertThat(answer.field("Cache-Status")).as(malformed).isEqualTo("kamille; detail=refused");
        assertThat(answer.field("Connection")).as(malformed).isEqualTo("close");
        assertThat(client.isAtEnd()).as(malformed).isTrue();
      }
    }
    assertThat(journey.origin().requests()).isEmpty();
  }

  @Test
  void limitsAreAnsweredWith414And431And413() {
    journey.with("limits: {head-size: 4KiB, request-content: 10}");
    assertThat(journey.say("GET /" + "x".repeat(1100) + " HTTP/1.1\r\nHost: a\r\n\r\n").status())
        .isEqualTo(414);
    assertThat(journey.get("/", "X: " + "y".repeat(5000)).status()).isEqualTo(431);
    assertThat(journey.get("/", "X: y\r\n".repeat(100) + "X: y").status()).isEqualTo(431);
    assertThat(
            journey
                .say("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n01234567890")
                .status())
        .isEqualTo(413);
    assertThat(journey.origin().requests()).isEmpty();
    journey.origin().on("/c", visit -> visit.send(ok(visit.content())));
    assertThat(
            journey
                .say(
                    """
                    POST /c HTTP/1.1
                    Host: a
                    Transfer-Encoding: chunked

                    b
                    01234567890
                    0

                    """
                        .replace("\n", "\r\n"))
                .status())
        .isEqualTo(413);
  }

  @Test
  void malformedContentIsAnsweredAndTheOriginNeverGetsItsEnd() {
    journey.origin().on("/a", visit -> visit.send(ok(visit.content())));
    Answer answer =
        journey.say(
            "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloXX\r\n");
    assertThat(answer.status()).isEqualTo(400);
  }

  @Test
  void aHeadThatIsLateIsA408() {
    journey.with("limits: {head-timeout: 100ms}");
    try (TestClient client = journey.client().send("GET / HTTP/1.1\r\nHo")) {
      assertThat(client.answer().status()).isEqualTo(408);
      assertThat(client.isAtEnd()).isTrue();
    }
  }

  @Test
  void whatStandsBeforeTheFaultIsAnsweredAndWhatStandsBehindItIsNot() {
    journey.origin().on("/a", ok("x", "Cache-Control: max-age=60")).on("/smuggled", ok("x"));
    try (TestClient client = journey.client()) {
      client.get("/a").send("GET /bad HTTP/1.1\r\nHost: a\r\nBad\r\n\r\n").get("/smuggled");
      assertThat(client.answer().content()).isEqualTo("x");
      assertThat(client.answer().status()).isEqualTo(400);
      assertThat(client.isAtEnd()).isTrue();
    }
    assertThat(journey.origin().requests()).hasSize(1);
  }
}
