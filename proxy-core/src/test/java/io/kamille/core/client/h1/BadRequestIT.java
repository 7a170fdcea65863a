package io.kamille.core.client.h1;

import static io.kamille.core.client.h1.TestServer.stored;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.client.h1.TestServer.Ended;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A head we do not accept is answered, and nothing behind it is looked at (RFC 9112 §11.2). */
class BadRequestIT {

  private static final String GOOD = "GET /good HTTP/1.1\r\nHost: a\r\n\r\n";

  private final TestServer server = new TestServer();
  private final TestClient client = server.connect();

  @AfterEach
  void close() {
    server.close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "400 | GET / HTTP/1.1~~",
        "400 | GET / HTTP/1.1~Host: a~Host: b~~",
        "400 | GET / HTTP/1.1~Host : a~~",
        "400 | GET / HTTP/1.1~Host: a~ folded~~",
        "400 | POST / HTTP/1.1~Host: a~Content-Length: 1~Transfer-Encoding: chunked~~",
        "501 | POST / HTTP/1.1~Host: a~Transfer-Encoding: gzip, chunked~~",
        "505 | GET / HTTP/2.0~Host: a~~",
        "505 | PRI * HTTP/2.0~~SM~~",
        "400 | hello~",
      })
  void aBadHeadIsAnsweredAndEndsTheConnection(int status, String head) {
    client.send(head.replace("~", "\r\n") + GOOD);
    Answer answer = client.answer();
    assertThat(answer.status()).isEqualTo(status);
    assertThat(answer.field("Connection")).isEqualTo("close");
    assertThat(answer.field("Proxy-Status")).startsWith("kamille; error=http_request_error");
    assertThat(answer.field("Cache-Status")).isEqualTo("kamille; detail=refused");
    assertThat(client.isAtEnd()).isTrue();
    server.settle();
    assertThat(server.ended()).extracting(Ended::status).containsExactly(status);
  }

  /** RFC 9110 §7.4, §15.5.20. */
  @Test
  void aTargetWithAnotherSchemeThanTheConnectionIsMisdirected() {
    client.send("GET https://a/good HTTP/1.1\r\nHost: a\r\n\r\n");
    Answer answer = client.answer();
    assertThat(answer.status()).isEqualTo(421);
    assertThat(answer.field("Proxy-Status")).startsWith("kamille; error=http_request_error");
    client.send("POST HTTPS://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab");
    assertThat(client.answer().status()).isEqualTo(421);
    client.send("GET http://a/good HTTP/1.1\r\nHost: a\r\n\r\n");
    assertThat(client.answer().content()).isEqualTo("/good");
    client.send("GET ftp://a/good HTTP/1.1\r\nHost: a\r\n\r\n");
    assertThat(client.answer().status()).isEqualTo(400);
  }

  /** RFC 9211 §2: a cache speaks for itself alone. */
  @Test
  void whatARouteTookIsNotCalledRefused() {
    server.on(
        "/routed",
        exchange -> {
          exchange.notes().route("somewhere");
          exchange.reply().fail(Failure.of(ErrorType.CONNECTION_REFUSED, "nobody there"));
        });
    Answer answer = client.get("/routed").answer();
    assertThat(answer.status()).isEqualTo(502);
    assertThat(answer.field("Cache-Status")).isNull();
  }

  @Test
  void limitsAreAnswered() {
    client.send("GET /" + "x".repeat(1_024) + " HTTP/1.1\r\nHost: a\r\n\r\n");
    assertThat(client.answer().status()).isEqualTo(414);
    TestClient second = server.connect();
    second.send("GET / HTTP/1.1\r\nHost: a\r\nX: " + "x".repeat(5_000));
    assertThat(second.answer().status()).isEqualTo(431);
    TestClient third = server.connect();
    third.send("GET / HTTP/1.1\r\nHost: a\r\n" + "X: y\r\n".repeat(20) + "\r\n");
    assertThat(third.answer().status()).isEqualTo(431);
    assertThat(third.isAtEnd()).isTrue();
  }

  @Test
  void requestsBeforeTheBadOneAreAnswered() {
    server.on("/later", exchange -> exchange.loop().execute(() -> stored(exchange, "later")));
    client.send(GOOD + "GET /later HTTP/1.1\r\nHost: a\r\n\r\n" + GOOD + "BAD\r\n\r\n" + GOOD);
    assertThat(client.answer().content()).isEqualTo("/good");
    assertThat(client.answer().content()).isEqualTo("later");
    assertThat(client.answer().content()).isEqualTo("/good");
    assertThat(client.answer().status()).isEqualTo(400);
    assertThat(client.isAtEnd()).isTrue();
    server.settle();
    assertThat(server.ended()).hasSize(4);
  }

  @Test
  void anAnswerToABadRequestSurvivesWhatTheClientStillSends() {
    client.send("BAD\r\n\r\n" + "x".repeat(4 << 20));
    assertThat(client.answer().status()).isEqualTo(400);
    assertThat(client.isAtEnd()).isTrue();
  }

  @Test
  void aBadRequestLeavesNothingBehindInTheNextExchange() {
    client.send("OPTIONS * HTTP/1.1\r\nHost: b\r\nConnection: close\r\nBad\r\n\r\n");
    assertThat(client.answer().status()).isEqualTo(400);
    Answer answer = server.connect().get("/good").answer();
    assertThat(answer.content()).isEqualTo("/good");
    assertThat(answer.field("Connection")).isNull();
  }
}
