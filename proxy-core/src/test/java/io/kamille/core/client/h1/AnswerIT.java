package io.kamille.core.client.h1;

import static io.kamille.core.client.h1.TestServer.answer;
import static io.kamille.core.client.h1.TestServer.octets;
import static io.kamille.core.client.h1.TestServer.stored;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import java.io.EOFException;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How answers are framed (RFC 9112 §6), begun, and broken off. */
class AnswerIT {

  private static final Failure BROKEN = Failure.of(ErrorType.HTTP_RESPONSE_INCOMPLETE, "it broke");

  private final TestServer server = new TestServer();
  private final TestClient client = server.connect();

  @AfterEach
  void close() {
    server.close();
  }

  @Test
  void aKnownLengthIsSaid() {
    server.on("/", exchange -> answer(exchange.reply(), 200, 6, "abc", "def"));
    Answer answer = client.get("/").answer();
    assertThat(answer.lines())
        .containsExactly("A: b", "Date: Thu, 01 Jan 1970 00:00:00 GMT", "Content-Length: 6");
    assertThat(answer.content()).isEqualTo("abcdef");
  }

  @Test
  void unknownLengthIsChunkedToHttp11() {
    server.on(
        "/",
        exchange -> {
          Reply reply = exchange.reply();
          reply.head(ResponseHead.of(200, "Date", "today"), Reply.UNKNOWN_LENGTH);
          reply.write(octets("x".repeat(17)));
          reply.write(octets(""));
          reply.write(octets("y"));
          reply.end(Fields.of("Digest", "d"));
        });
    client.get("/");
    String wire =
        "HTTP/1.1 200 OK\r\nDate: today\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "11\r\n"
            + "x".repeat(17)
            + "\r\n1\r\ny\r\n0\r\nDigest: d\r\n\r\n";
    assertThat(client.read(wire.length())).isEqualTo(wire);
    assertThat(client.get("/").answer().trailers()).containsExactly("Digest: d");
  }

  @Test
  void unknownLengthEndsWithTheConnectionToHttp10() {
    server.on("/", exchange -> answer(exchange.reply(), 200, -1, "abc", "def"));
    client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    Answer answer = client.answer();
    assertThat(answer.field("Transfer-Encoding")).isNull();
    assertThat(answer.field("Connection")).isEqualTo("close");
    assertThat(answer.content()).isEqualTo("abcdef");
  }

  @Test
  void framingFieldsOfTheStationsAreNotTrusted() {
    server.on(
        "/",
        exchange -> {
          Reply reply = exchange.reply();
          reply.head(ResponseHead.of(200, "Content-Length", "9", "Transfer-Encoding", "gzip"), 1);
          reply.write(octets("x"));
          reply.end(null);
        });
    Answer answer = client.get("/").answer();
    assertThat(answer.field("Content-Length")).isEqualTo("1");
    assertThat(answer.field("Transfer-Encoding")).isNull();
  }

  @Test
  void headTellsTheLengthAndSendsNothing() {
    server.on("/known", exchange -> answer(exchange.reply(), 200, 6, "abc", "def"));
    server.on("/unknown", exchange -> answer(exchange.reply(), 200, -1, "abc"));
    client.request("HEAD", "/known").request("HEAD", "/unknown").request("HEAD", "/stored");
    assertThat(client.answer("HEAD").field("Content-Length")).isEqualTo("6");
    Answer unknown = client.answer("HEAD");
    assertThat(unknown.field("Content-Length")).isNull();
    assertThat(unknown.field("Transfer-Encoding")).isNull();
    assertThat(client.answer("HEAD").field("Content-Length")).isEqualTo("7");
    assertThat(client.get("/after").answer().content()).isEqualTo("/after");
  }

  /** From 4 KiB on, content is no longer copied behind the head. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 4_096, 4_097, 100_000})
  void contentAtHandGoesWithItsHeadOrBehindIt(int length) {
    String content = "x".repeat(length);
    server.on("/", exchange -> whole(exchange.reply(), 200, content));
    Answer answer = client.get("/").answer();
    assertThat(answer.field("Content-Length")).isEqualTo(Integer.toString(length));
    assertThat(answer.content()).isEqualTo(content);
    assertThat(client.get("/after").answer().content()).isEqualTo("/after");
    server.on("/stored", exchange -> stored(exchange, content));
    assertThat(client.get("/stored").answer().content()).isEqualTo(content);
    assertThat(client.get("/after").answer().content()).isEqualTo("/after");
  }

  @Test
  void contentAtHandIsDroppedWhereNoneMayFollow() {
    server.on("/200", exchange -> whole(exchange.reply(), 200, "never"));
    server.on("/304", exchange -> whole(exchange.reply(), 304, "never"));
    client.request("HEAD", "/200");
    assertThat(client.answer("HEAD").field("Content-Length")).isEqualTo("5");
    assertThat(client.get("/304").answer().field("Content-Length")).isEqualTo("5");
    assertThat(client.get("/after").answer().content()).isEqualTo("/after");
  }

  /** Answers as who has all content when the head comes. */
  private static void whole(Reply reply, int status, String content) {
    ByteBuf octets = octets(content + "behind");
    int length = content.length();
    if (!reply.head(ResponseHead.of(status, "A", "b"), length, octets)) {
      reply.write(octets.readRetainedSlice(length));
    }
    assertThat(octets.toString(StandardCharsets.US_ASCII)).isEqualTo("behind");
    octets.release();
    reply.end(null);
  }

  @Test
  void noContentAndNotModifiedHaveNoContent() {
    server.on("/204", exchange -> answer(exchange.reply(), 204, 0));
    server.on("/204-unknown", exchange -> answer(exchange.reply(), 204, -1, "never"));
    server.on("/304", exchange -> answer(exchange.reply(), 304, 500, "never"));
    server.on("/304-unknown", exchange -> answer(exchange.reply(), 304, -1));
    for (String path : new String[] {"/204", "/204-unknown", "/304-unknown"}) {
      Answer answer = client.get(path).answer();
      assertThat(answer.field("Content-Length")).as(path).isNull();
      assertThat(answer.field("Transfer-Encoding")).as(path).isNull();
    }
    // RFC 9110 §8.6: the length a 200 would have had
    assertThat(client.get("/304").answer().field("Content-Length")).isEqualTo("500");
    assertThat(client.get("/after").answer().content()).isEqualTo("/after");
  }

  @Test
  void storedHeadIsFollowedByContent() {
    server.on(
        "/",
        exchange -> {
          Reply reply = exchange.reply();
          byte[] own = {'A', ':', 'b', '\r', '\n'};
          reply.storedHead(200, own, own.length, octets("Content-Length: 3\r\n\r\n"), 3);
          exchange
              .loop()
              .execute(
                  () -> {
                    reply.write(octets("abc"));
                    reply.end(null);
                  });
        });
    assertThat(client.get("/").answer().content()).isEqualTo("abc");
    assertThat(client.get("/").answer().content()).isEqualTo("abc");
  }

  // Interim responses (RFC 9110 §15.2)

  @Test
  void interimResponsesPrecedeTheFinalOne() {
    server.on(
        "/",
        exchange -> {
          exchange.reply().interim(ResponseHead.of(103, "Link", "</a>"));
          exchange.reply().interim(ResponseHead.of(100));
          exchange.reply().interim(ResponseHead.of(102));
          stored(exchange, "final");
          exchange.reply().interim(ResponseHead.of(102));
        });
    client.get("/");
    Answer hints = client.answer();
    assertThat(hints.status()).isEqualTo(103);
    assertThat(hints.lines()).containsExactly("Link: </a>");
    assertThat(client.answer().status()).as("nobody asked for 100").isEqualTo(102);
    assertThat(client.answer().content()).isEqualTo("final");
    assertThat(client.get("/after").answer().content()).isEqualTo("/after");
  }

  @Test
  void http10GetsNoInterimResponse() {
    server.on(
        "/",
        exchange -> {
          exchange.reply().interim(ResponseHead.of(103));
          stored(exchange, "final");
        });
    client.send("GET / HTTP/1.0\r\n\r\n");
    assertThat(client.answer().status()).isEqualTo(200);
  }

  // Broken off: the client never sees a clean end

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void contentOfKnownLengthBreaksOffShort(boolean later) {
    server.on("/", exchange -> breakOff(exchange, 10, later));
    client.get("/");
    assertThatThrownBy(client::answer).hasRootCauseInstanceOf(EOFException.class);
    assertNoted();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void chunkedContentBreaksOffWithoutTheLastChunk(boolean later) {
    server.on("/", exchange -> breakOff(exchange, -1, later));
    client.get("/");
    assertThatThrownBy(client::answer).hasRootCauseInstanceOf(EOFException.class);
    assertNoted();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void contentThatEndsWithTheConnectionBreaksOffByReset(boolean later) {
    server.on("/", exchange -> breakOff(exchange, -1, later));
    client.send("GET / HTTP/1.0\r\n\r\n");
    assertThatThrownBy(client::answer).hasRootCauseInstanceOf(SocketException.class);
    assertNoted();
  }

  @Test
  void lessContentThanSaidIsBrokenOff() {
    server.on("/", exchange -> answer(exchange.reply(), 200, 10, "short"));
    client.get("/");
    assertThatThrownBy(client::answer).hasRootCauseInstanceOf(EOFException.class);
  }

  @Test
  void moreContentThanSaidIsBrokenOffAndItsSourceStopped() {
    TestSource source = new TestSource();
    server.on(
        "/",
        exchange -> {
          exchange.reply().open(source);
          answer(exchange.reply(), 200, 3, "ab", "cd", "ef");
        });
    client.get("/");
    assertThatThrownBy(client::answer).hasRootCauseInstanceOf(EOFException.class);
    server.settle();
    assertThat(source.cancelled).hasSize(1);
  }

  private static void breakOff(Exchange exchange, long length, boolean later) {
    Reply reply = exchange.reply();
    reply.head(ResponseHead.of(200), length);
    reply.write(octets("abc"));
    if (later) {
      exchange.loop().schedule(() -> reply.abort(BROKEN), 1, TimeUnit.MILLISECONDS);
    } else {
      reply.abort(BROKEN);
    }
  }

  private void assertNoted() {
    Await.until(() -> server.ended().size() == 1, "the observer");
    assertThat(server.ended().getFirst().contentBytes()).isEqualTo(3);
    Await.until(() -> server.connections() == 0, "the end");
  }

  // Failures before an answer

  @Test
  void aFailureBeforeTheHeadIsAnAnswerThatSaysNothingOfTheOrigin() {
    server.on("/", exchange -> exchange.reply().abort(BROKEN));
    Answer answer = client.get("/").answer();
    assertThat(answer.status()).isEqualTo(502);
    assertThat(answer.content()).isEqualTo("502 Bad Gateway\nhttp response incomplete\n");
    assertThat(answer.field("Proxy-Status")).isEqualTo("kamille; error=http_response_incomplete");
    assertThat(answer.field("Cache-Control")).isEqualTo("no-store");
    assertThat(client.get("/after").answer().content()).isEqualTo("/after");
  }

  @Test
  void aFailureToldToHeadHasNoContent() {
    server.on("/", exchange -> exchange.reply().fail(BROKEN));
    client.request("HEAD", "/");
    assertThat(client.answer("HEAD").status()).isEqualTo(502);
    assertThat(client.get("/after").answer().content()).isEqualTo("/after");
  }

  @Test
  void aHandlerThatThrowsHarmsItsOwnExchangeOnly() {
    TestSource source = new TestSource();
    server.on(
        "/throws",
        exchange -> {
          exchange.reply().open(source);
          throw new IllegalStateException("a bug, made for this test");
        });
    server.on(
        "/throws-late",
        exchange -> {
          exchange.reply().head(ResponseHead.of(200), 5);
          throw new IllegalStateException("a bug, made for this test");
        });
    TestClient other = server.connect();
    other.get("/before").answer();
    assertThat(client.get("/throws").answer().status()).isEqualTo(500);
    assertThat(source.cancelled).hasSize(1);
    assertThat(client.get("/after").answer().content()).isEqualTo("/after");
    client.get("/throws-late");
    assertThatThrownBy(client::answer).hasRootCauseInstanceOf(EOFException.class);
    assertThat(other.get("/after").answer().content()).isEqualTo("/after");
  }

  /** Netty says so when direct memory is used up. */
  @Test
  void anExchangeThatIsRefusedMemoryFailsAlone() {
    server.on(
        "/large",
        exchange -> {
          throw new OutOfMemoryError("refused, for this test");
        });
    TestClient other = server.connect();
    other.get("/before").answer();
    assertThat(client.get("/large").answer().status()).isEqualTo(500);
    assertThat(client.get("/after").answer().content()).isEqualTo("/after");
    assertThat(other.get("/after").answer().content()).isEqualTo("/after");
  }

  @Test
  void connectIsForForwardProxies() {
    // What comes early is neither for a tunnel nor a request.
    client.send(
        """
        CONNECT b:443 HTTP/1.1\r
        Host: b:443\r
        \r
        GET /smuggled HTTP/1.1\r
        Host: a\r
        \r
        """);
    Answer answer = client.answer();
    assertThat(answer.status()).isEqualTo(405);
    assertThat(answer.field("Allow")).contains("GET");
    assertThat(client.isAtEnd()).isTrue();
    assertThat(server.ended()).noneMatch(ended -> ended.target().equals("/smuggled"));
  }
}
