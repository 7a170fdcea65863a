package io.kamille.core.origin.send;

import static io.kamille.core.origin.send.UpstreamFixture.await;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.Reply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.origin.ProxyAnnouncement;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.send.ScriptedOrigin.Script;
import io.kamille.core.setting.Sections;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class H1OriginConnectionTest {

  private static final UpstreamSettings SETTINGS =
      UpstreamFixture.unbuffered(UpstreamSettings.DEFAULTS);
  private static final String URI = "http://example.org/";
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  // Responses

  @Test
  void aChunkedResponseKeepsItsTrailersAndTheConnection() throws Exception {
    String chunked =
        head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked")
            + "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Sum: 5\r\n\r\n";
    try (var origin = ScriptedOrigin.open(answering(chunked, OK));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = fixture.get("/");
      assertThat(reply.content()).isEqualTo("abcde");
      assertThat(reply.contentLength()).isEqualTo(Reply.UNKNOWN_LENGTH);
      assertThat(reply.trailers()).isEqualTo("X-Sum: 5\n");
      assertThat(reply.head().fields().has(FieldName.TRANSFER_ENCODING)).isFalse();
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(1);
    }
  }

  @Test
  void everySplitOfAResponseGivesTheSame() throws Exception {
    String chunked =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    Script octetByOctet =
        with -> {
          with.readHead();
          for (int i = 0; i < chunked.length(); i++) {
            with.send(chunked.substring(i, i + 1));
            Thread.onSpinWait();
          }
        };
    try (var origin = ScriptedOrigin.open(octetByOctet);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = fixture.get("/");
      assertThat(reply.content()).isEqualTo("ok");
      assertThat(reply.head().fields().all("x-a")).containsExactly("1");
    }
  }

  @Test
  void contentUntilCloseEndsWithTheConnection() throws Exception {
    Script http10 =
        with -> {
          with.readHead();
          with.send("HTTP/1.0 200 OK\r\n\r\nabc");
          with.close();
        };
    try (var origin = ScriptedOrigin.open(http10);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = fixture.get("/");
      assertThat(reply.content()).isEqualTo("abc");
      assertThat(reply.hasFailed()).isFalse();
    }
  }

  @Test
  void contentUntilCloseThatEndsInAResetIsIncomplete() throws Exception {
    CompletableFuture<Void> received = new CompletableFuture<>();
    Script resets =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 200 OK\r\n\r\nabc");
          received.join();
          with.reset();
        };
    try (var origin = ScriptedOrigin.open(resets);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = fixture.send("GET", URI);
      await(reply.begun());
      received.complete(null);
      await(reply.ended());
      assertThat(reply.failure().kind()).isEqualTo(ErrorType.HTTP_RESPONSE_INCOMPLETE);
    }
  }

  @Test
  void anOriginThatClosesWithinTheContentLeavesItIncomplete() throws Exception {
    Script short1 =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
          with.close();
        };
    Script short2 =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
          with.close();
        };
    try (var origin = ScriptedOrigin.open(short1, short2);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      for (int i = 0; i < 2; i++) {
        RecordingReply reply = fixture.get("/");
        assertThat(reply.failure().kind()).isEqualTo(ErrorType.HTTP_RESPONSE_INCOMPLETE);
        assertThat(reply.content()).isEqualTo("abc");
      }
    }
  }

  @Test
  void aResponseToHeadHasALengthAndNoContent() throws Exception {
    String head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n";
    try (var origin = ScriptedOrigin.open(answering(head, OK));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = await(fixture.send("HEAD", URI).ended());
      assertThat(reply.contentLength()).isEqualTo(1000);
      assertThat(reply.received()).isZero();
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(1);
    }
  }

  @Test
  void notModifiedAndNoContentHaveNoContent() throws Exception {
    String notModified = "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\nETag: \"a\"\r\n\r\n";
    String noContent = "HTTP/1.1 204 No Content\r\n\r\n";
    try (var origin = ScriptedOrigin.open(answering(notModified, noContent, OK));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply conditional = fixture.send("GET", URI, "If-None-Match", "\"a\"");
      assertThat(await(conditional.ended()).contentLength()).isEqualTo(7);
      fixture.onLoop(() -> null);
      assertThat(fixture.get("/").contentLength()).isEqualTo(0);
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(1);
    }
  }

  @Test
  void connectionSpecificFieldsOfAResponseStayHere() throws Exception {
    String response =
        head(
            "HTTP/1.1 200 OK",
            "Connection: keep-alive, X-Hop",
            "Keep-Alive: timeout=5",
            "X-Hop: 1",
            "X-End: 2",
            "Content-Length: 0");
    try (var origin = ScriptedOrigin.open(answering(response));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      assertThat(fixture.get("/").head().fields().toString()).isEqualTo("X-End: 2\n");
    }
  }

  @Test
  void interimResponsesPassOnBeforeTheFinalOne() throws Exception {
    String hints = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n";
    try (var origin = ScriptedOrigin.open(answering(hints + hints + OK, OK));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = fixture.get("/");
      assertThat(reply.interims()).hasSize(2);
      assertThat(reply.interims().getFirst().status()).isEqualTo(103);
      assertThat(reply.content()).isEqualTo("ok");
      assertThat(fixture.get("/").interims()).isEmpty();
    }
  }

  @Test
  void endlessInterimResponsesAreBrokenOff() throws Exception {
    String hints = "HTTP/1.1 102 Processing\r\n\r\n".repeat(17);
    try (var origin = ScriptedOrigin.open(answering(hints + OK));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = fixture.get("/");
      assertThat(reply.failure().kind()).isEqualTo(ErrorType.HTTP_PROTOCOL_ERROR);
    }
  }

  /** Each field of the head would be compared with all of it, be it an interim one. */
  @ParameterizedTest
  @ValueSource(strings = {"200 OK", "103 Early Hints", "101 Switching Protocols"})
  void aConnectionFieldOfMoreThanOneKibibyteIsABadGateway(String status) throws Exception {
    String head = "HTTP/1.1 " + status + "\r\nConnection: " + "x,".repeat(512) + "x\r\n\r\n";
    try (var origin = ScriptedOrigin.open(answering(head), answering(OK));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = fixture.get("/");
      assertThat(reply.failure().kind()).isEqualTo(ErrorType.HTTP_PROTOCOL_ERROR);
      assertThat(reply.failure().status()).isEqualTo(502);
      assertThat(reply.interims()).isEmpty();
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(2);
    }
  }

  @Test
  void aConnectionFieldOfOneKibibyteIsObeyed() throws Exception {
    String named = "x,".repeat(510) + "drop";
    String head = "HTTP/1.1 200 OK\r\nDrop: 1\r\nKeep: 2\r\nConnection: " + named + "\r\n";
    try (var origin = ScriptedOrigin.open(answering(head + "Content-Length: 2\r\n\r\nok"));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = fixture.get("/");
      assertThat(reply.head().fields()).hasToString("Keep: 2\n");
      assertThat(reply.content()).isEqualTo("ok");
    }
  }

  @Test
  void aConnectionThatTheOriginWantsClosedIsNotLentAgain() throws Exception {
    String closing = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
    String old = "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok";
    try (var origin = ScriptedOrigin.open(answering(closing), answering(old), answering(OK));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      for (int i = 1; i <= 3; i++) {
        assertThat(fixture.get("/").content()).isEqualTo("ok");
        assertThat(origin.connections()).isEqualTo(i);
      }
    }
  }

  @Test
  void octetsBehindAResponseCondemnTheConnection() throws Exception {
    try (var origin = ScriptedOrigin.open(answering(OK + OK), answering(OK));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Length: 99\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: gzip, chunked",
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: abc"
      })
  void whatEndsWithItsHeadDoesSoWhateverItsFramingFieldsSay(String fields) throws Exception {
    String end = "\r\n" + fields + "\r\n\r\n";
    Script script =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 103 Early Hints\r\nLink: </a>" + end);
          with.send("HTTP/1.1 200 OK" + end);
          with.readHead();
          with.send("HTTP/1.1 204 No Content" + end);
          with.readHead();
          with.send("HTTP/1.1 304 Not Modified" + end);
          with.readHead();
          with.send("HTTP/1.1 200 OK" + end);
        };
    try (var origin = ScriptedOrigin.open(script);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply head = await(fixture.send("HEAD", URI).ended());
      assertThat(head.head().status()).isEqualTo(200);
      assertThat(head.head().fields().toString()).doesNotContain("Transfer", "Content-Length");
      assertThat(head.interims().toString()).doesNotContain("Transfer", "Content-Length");
      fixture.onLoop(() -> null);
      assertThat(fixture.get("/").head().status()).isEqualTo(204);
      assertThat(await(fixture.send("GET", URI, "If-None-Match", "*").ended()).head().status())
          .isEqualTo(304);
      fixture.onLoop(() -> null);
      assertThat(fixture.get("/").failure().kind())
          .as("content follows here")
          .isEqualTo(ErrorType.HTTP_PROTOCOL_ERROR);
      assertThat(origin.connections()).isOne();
    }
  }

  @ParameterizedTest
  @CsvSource({"GET, 2", "HEAD, 2", "DELETE, 2", "POST, 1", "PUT, 1", "REPORT, 1"})
  void rfc9110Section9_3_1AConnectionOnWhichContentMayLieUnreadIsNotLentAgain(
      String method, int connections) throws Exception {
    String answer = method.equals("HEAD") ? OK.substring(0, OK.length() - 2) : OK;
    Script takesContent =
        with -> {
          with.readHead();
          with.read(3);
          with.send(answer);
          with.readHead();
          with.send(OK);
        };
    try (var origin = ScriptedOrigin.open(takesContent, answering(OK));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      var content = new ScriptedContent(fixture.loop(), 3);
      RecordingReply reply = fixture.send(RequestHead.of(method, URI), content);
      content.finish("abc");
      await(reply.ended());
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(connections);
    }
  }

  @Test
  void aResponseWithoutARequestCondemnsTheConnection() throws Exception {
    CompletableFuture<Void> closed = new CompletableFuture<>();
    CompletableFuture<Void> idle = new CompletableFuture<>();
    Script talksOutOfTurn =
        with -> {
          with.readHead();
          with.send(OK);
          idle.join();
          with.send(OK);
          with.readToEnd();
          closed.complete(null);
        };
    try (var origin = ScriptedOrigin.open(talksOutOfTurn, answering(OK));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      fixture.get("/");
      idle.complete(null);
      await(closed);
      assertThat(fixture.get("/").content()).isEqualTo("ok");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SSH-2.0-OpenSSH\r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nNo colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\n Folded: 1\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        "HTTP/1.1 600 Beyond\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\n\r\n",
      })
  void aMalformedHeadIsABadGateway(String head) throws Exception {
    try (var origin = ScriptedOrigin.open(answering(head));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      Failure failure = fixture.get("/").failure();
      assertThat(failure.kind()).isEqualTo(ErrorType.HTTP_PROTOCOL_ERROR);
      assertThat(failure.status()).isEqualTo(502);
      assertThat(failure.reason()).startsWith("127.0.0.1:" + origin.port());
      assertThat(origin.connections()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "304, If-Modified-Since, 'Sun, 06 Nov 1994 08:49:37 GMT'",
    "304, If-None-Match, *",
    "206, Range, bytes=0-0",
    "416, Range, bytes=9-",
    "206, X-Page, 1",
    "416, X-Page, 9",
  })
  void answersToConditionsAndPartialOnesPassOn(int status, String name, String value)
      throws Exception {
    String asked = "HTTP/1.1 " + status + " x\r\nContent-Length: 0\r\n\r\n";
    try (var origin = ScriptedOrigin.open(answering(asked, OK));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = await(fixture.send("GET", URI, name, value).ended());
      assertThat(reply.head().status()).isEqualTo(status);
      fixture.onLoop(() -> null);
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(1);
    }
  }

  @Test
  void theConditionOfTheRequestBeforeIsNoneOfThisOne() throws Exception {
    String notModified = "HTTP/1.1 304 Not Modified\r\n\r\n";
    try (var origin = ScriptedOrigin.open(answering(notModified, notModified), answering(OK));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply asked = await(fixture.send("GET", URI, "If-None-Match", "*").ended());
      assertThat(asked.head().status()).isEqualTo(304);
      fixture.onLoop(() -> null);
      assertThat(fixture.get("/").failure().kind()).isEqualTo(ErrorType.HTTP_PROTOCOL_ERROR);
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(2);
    }
  }

  @Test
  void aHeadOverItsLimitIsABadGateway() throws Exception {
    String large = "HTTP/1.1 200 OK\r\nX-Large: " + "x".repeat(70_000) + "\r\n\r\n";
    try (var origin = ScriptedOrigin.open(answering(large));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      assertThat(fixture.get("/").failure().kind())
          .isEqualTo(ErrorType.HTTP_RESPONSE_HEADER_SECTION_SIZE);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"X\r\n", "\r\n0;a=\"\r\n\r\n"})
  void aBrokenChunkBreaksTheReplyOff(String behind) throws Exception {
    String broken = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc" + behind;
    try (var origin = ScriptedOrigin.open(answering(broken));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = fixture.get("/");
      assertThat(reply.isBegun()).isTrue();
      assertThat(reply.failure().kind()).isEqualTo(ErrorType.HTTP_PROTOCOL_ERROR);
    }
  }

  // Time

  @Test
  void anOriginThatSaysNothingIsGivenUp() throws Exception {
    CompletableFuture<Void> asked = new CompletableFuture<>();
    Script hangs =
        with -> {
          with.readHead();
          asked.complete(null);
        };
    try (var origin = ScriptedOrigin.open(hangs, hangs);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = fixture.send("GET", URI);
      await(asked);
      Failure failure = untilEnded(fixture, reply, SETTINGS.connection().headTimeout());
      assertThat(failure.kind()).isEqualTo(ErrorType.HTTP_RESPONSE_TIMEOUT);
      assertThat(failure.status()).isEqualTo(504);
      assertThat(failure.reason()).contains("60000 ms");
      assertThat(origin.connections()).isEqualTo(1);
    }
  }

  @Test
  void anOriginThatFallsSilentWithinTheContentIsGivenUp() throws Exception {
    Script hangs =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
        };
    try (var origin = ScriptedOrigin.open(hangs);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = fixture.send("GET", URI);
      await(reply.begun());
      Failure failure = untilEnded(fixture, reply, SETTINGS.connection().contentTimeout());
      assertThat(failure.kind()).isEqualTo(ErrorType.CONNECTION_READ_TIMEOUT);
    }
  }

  /** Moves the clock on, as often as the pool needs to notice, until the reply has failed. */
  private static Failure untilEnded(UpstreamFixture fixture, RecordingReply reply, Duration timeout)
      throws Exception {
    while (!reply.isEnded()) {
      fixture.clock.advance(timeout);
      fixture.onLoop(() -> null);
      Thread.onSpinWait();
    }
    return reply.failure();
  }

  // Request content

  @Test
  void contentOfKnownLengthKeepsItsLength() throws Exception {
    CompletableFuture<String> got = new CompletableFuture<>();
    Script reads =
        with -> {
          with.readHead();
          got.complete(with.read(5));
          with.send(OK);
        };
    try (var origin = ScriptedOrigin.open(reads);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      var content = new ScriptedContent(fixture.loop(), 5);
      RecordingReply reply = fixture.send(post(), content);
      content.write("abc");
      content.finish("de");
      assertThat(await(got)).isEqualTo("abcde");
      assertThat(await(reply.ended()).content()).isEqualTo("ok");
      assertThat(origin.heads().getFirst()).contains("\r\nContent-Length: 5\r\n");
    }
  }

  @Test
  void contentOfUnknownLengthIsChunkedAndKeepsItsTrailers() throws Exception {
    CompletableFuture<String> got = new CompletableFuture<>();
    Script reads =
        with -> {
          with.readHead();
          got.complete(with.readUntil("\r\n\r\n"));
          with.send(OK);
        };
    try (var origin = ScriptedOrigin.open(reads);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      var content = new ScriptedContent(fixture.loop(), RequestContent.UNKNOWN_LENGTH);
      RecordingReply reply = fixture.send(post(), content);
      content.write("abc");
      content.end(Fields.of("X-Sum", "3"));
      assertThat(await(got)).isEqualTo("3\r\nabc\r\n0\r\nX-Sum: 3\r\n\r\n");
      await(reply.ended());
      assertThat(origin.heads().getFirst()).contains("\r\nTransfer-Encoding: chunked\r\n");
    }
  }

  @Test
  void contentWaitsForTheHundredThatItAskedFor() throws Exception {
    CompletableFuture<Void> go = new CompletableFuture<>();
    Script agrees =
        with -> {
          with.readHead();
          go.join();
          with.send("HTTP/1.1 100 Continue\r\n\r\n");
          with.read(2);
          with.send(OK);
        };
    try (var origin = ScriptedOrigin.open(agrees);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      var content = new ScriptedContent(fixture.loop(), 2);
      RecordingReply reply =
          fixture.send(RequestHead.of("PUT", URI, "Expect", "100-continue"), content);
      fixture.onLoop(() -> null);
      assertThat(content.started()).isNotDone();
      go.complete(null);
      content.finish("hi");
      assertThat(await(reply.ended()).content()).isEqualTo("ok");
      assertThat(reply.interims()).isEmpty();
      assertThat(origin.heads().getFirst()).contains("\r\nExpect: 100-continue\r\n");
    }
  }

  @Test
  void contentDoesNotWaitForeverForTheHundred() throws Exception {
    Script never =
        with -> {
          with.readHead();
          with.read(2);
          with.send(OK);
        };
    try (var origin = ScriptedOrigin.open(never);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      var content = new ScriptedContent(fixture.loop(), 2);
      RecordingReply reply =
          fixture.send(RequestHead.of("PUT", URI, "Expect", "100-continue"), content);
      content.finish("hi");
      while (!content.started().isDone()) {
        fixture.clock.advance(SETTINGS.connection().continueTimeout());
        fixture.onLoop(() -> null);
      }
      assertThat(await(reply.ended()).content()).isEqualTo("ok");
    }
  }

  @Test
  void afterAFinalResponseInsteadOfTheHundredNoContentIsSent() throws Exception {
    String refusal = "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n";
    try (var origin = ScriptedOrigin.open(answering(refusal), answering(OK));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      var content = new ScriptedContent(fixture.loop(), 2);
      RecordingReply reply =
          fixture.send(RequestHead.of("PUT", URI, "Expect", "100-continue"), content);
      assertThat(await(reply.ended()).head().status()).isEqualTo(417);
      assertThat(content.started()).isNotDone();
      fixture.get("/");
      assertThat(origin.connections()).isEqualTo(2);
    }
  }

  @Test
  void anEarlyErrorStopsTheContentAndCondemnsTheConnection() throws Exception {
    String tooLarge = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n";
    try (var origin = ScriptedOrigin.open(answering(tooLarge), answering(OK));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      var content = new ScriptedContent(fixture.loop(), 1_000_000);
      RecordingReply reply = fixture.send(post(), content);
      content.write("abc");
      assertThat(await(reply.ended()).head().status()).isEqualTo(413);
      await(content.cancelled());
      fixture.get("/");
      assertThat(origin.connections()).isEqualTo(2);
    }
  }

  @Test
  void anEarlyErrorIsReadEvenIfTheOriginHasStoppedListening() throws Exception {
    Script slamsTheDoor =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno");
          with.close();
        };
    try (var origin = ScriptedOrigin.open(slamsTheDoor);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      var content = new ScriptedContent(fixture.loop(), 100_000_000);
      RecordingReply reply = fixture.send(post(), content);
      for (int i = 0; i < 100 && !reply.isEnded(); i++) {
        content.write("x".repeat(10_000));
      }
      await(reply.ended());
      assertThat(reply.head().status()).isEqualTo(413);
      assertThat(reply.content()).isEqualTo("no");
    }
  }

  @Test
  void aRequestAndItsResponseMayStreamAtTheSameTime() throws Exception {
    Script echoes =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
          with.send(with.read(2));
          with.send(with.read(2));
        };
    try (var origin = ScriptedOrigin.open(echoes);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      var content = new ScriptedContent(fixture.loop(), 4);
      RecordingReply reply = fixture.send(post(), content);
      await(reply.begun());
      content.write("ab");
      content.finish("cd");
      assertThat(await(reply.ended()).content()).isEqualTo("abcd");
    }
  }

  @Test
  void contentThatTheClientBreaksOffIsNotPassedForComplete() throws Exception {
    CompletableFuture<String> got = new CompletableFuture<>();
    Script reads =
        with -> {
          with.readHead();
          got.complete(with.readToEnd());
        };
    try (var origin = ScriptedOrigin.open(reads);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      var content = new ScriptedContent(fixture.loop(), RequestContent.UNKNOWN_LENGTH);
      RecordingReply reply = fixture.send(post(), content);
      content.write("abc");
      content.abort(Failure.request(400, "a broken chunk"));
      assertThat(await(reply.ended()).failure().kind()).isEqualTo(ErrorType.HTTP_REQUEST_ERROR);
      assertThat(await(got)).doesNotContain("0\r\n\r\n");
      assertThat(fixture.origins.getFirst().health().isIn()).isTrue();
    }
  }

  @Test
  void anOriginThatDoesNotReadPausesTheClient() throws Exception {
    CompletableFuture<Void> read = new CompletableFuture<>();
    int total = 64 * 1024 * 1024;
    Script slow =
        with -> {
          with.readHead();
          read.join();
          long left = total;
          while (left > 0) {
            int step = (int) Math.min(left, 65_536);
            left -= with.skip(step);
          }
          with.send(OK);
        };
    try (var origin = ScriptedOrigin.open(slow);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      var content = new ScriptedContent(fixture.loop(), total);
      RecordingReply reply = fixture.send(post(), content);
      int sent = 0;
      String chunk = "x".repeat(65_536);
      while (!content.isPaused()) {
        content.write(chunk);
        sent += chunk.length();
        fixture.onLoop(() -> null);
        assertThat(sent).isLessThan(total / 2);
      }
      read.complete(null);
      while (sent < total) {
        if (!content.isPaused()) {
          content.write(chunk);
          sent += chunk.length();
        }
        fixture.onLoop(() -> null);
      }
      content.end(null);
      assertThat(await(reply.ended()).content()).isEqualTo("ok");
    }
  }

  // The client's side

  @Test
  void aPausedClientPausesTheOrigin() throws Exception {
    int total = 64 * 1024 * 1024;
    CompletableFuture<Void> blocked = new CompletableFuture<>();
    Script streams =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 200 OK\r\nContent-Length: " + total + "\r\n\r\n");
          String chunk = "x".repeat(65_536);
          for (int sent = 0; sent < total; sent += chunk.length()) {
            with.send(chunk);
          }
          blocked.complete(null);
        };
    try (var origin = ScriptedOrigin.open(streams);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = new RecordingReply().onlyCounting().pausedAtOnce();
      fixture.send(RequestHead.of("GET", URI), RequestContent.NONE, reply);
      await(reply.begun());
      long before = -1;
      while (before != fixture.onLoop(reply::received)) {
        before = fixture.onLoop(reply::received);
      }
      assertThat(before).isLessThan(4 * 1024 * 1024);
      assertThat(blocked).isNotDone();
      fixture.onLoop(
          () -> {
            reply.source().resume();
            return null;
          });
      await(reply.ended());
      assertThat(reply.received()).isEqualTo(total);
    }
  }

  @Test
  void aClientThatIsPausedIsNoReasonToGiveTheOriginUp() throws Exception {
    CompletableFuture<Void> go = new CompletableFuture<>();
    Script inTwoParts =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab");
          go.join();
          with.send("cd");
        };
    try (var origin = ScriptedOrigin.open(inTwoParts);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = new RecordingReply().pausedAtOnce();
      fixture.send(RequestHead.of("GET", URI), RequestContent.NONE, reply);
      await(reply.begun());
      for (int i = 0; i < 3; i++) {
        CompletableFuture<Void> ticked = new CompletableFuture<>();
        fixture.clock.advance(SETTINGS.connection().contentTimeout());
        fixture.loop().schedule(() -> ticked.complete(null), 260, MILLISECONDS);
        await(ticked);
      }
      go.complete(null);
      fixture.onLoop(
          () -> {
            reply.source().resume();
            return null;
          });
      assertThat(await(reply.ended()).content()).isEqualTo("abcd");
    }
  }

  @Test
  void whenTheClientIsGoneTheConnectionIsClosedAndNothingIsSaid() throws Exception {
    CompletableFuture<Void> closed = new CompletableFuture<>();
    Script streams =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc");
          with.readToEnd();
          closed.complete(null);
        };
    try (var origin = ScriptedOrigin.open(streams);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = fixture.send("GET", URI);
      await(reply.begun());
      fixture.onLoop(
          () -> {
            reply.source().cancel(Failure.of(ErrorType.CLIENT_GONE, "gone"));
            return null;
          });
      await(closed);
      fixture.onLoop(() -> null);
      assertThat(reply.isEnded()).isFalse();
      assertThat(fixture.origins.getFirst().inFlight()).isZero();
    }
  }

  // The client's address

  @Test
  void aConnectionThatNamesItsClientCarriesOneRequest() throws Exception {
    CompletableFuture<String> named = new CompletableFuture<>();
    Script first =
        with -> {
          named.complete(with.readUntil("\r\n"));
          with.readHead();
          with.send(OK);
          with.readToEnd();
        };
    var announcing =
        Sections.copy(SETTINGS).with("connection.proxyProtocol", ProxyAnnouncement.V1).record();
    try (var origin = ScriptedOrigin.open(first, first);
        var fixture = new UpstreamFixture(announcing, origin)) {
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(await(named)).isEqualTo("PROXY TCP4 192.0.2.7 192.0.2.1 40000 80\r\n");
      assertThat(origin.heads().getFirst()).startsWith("GET / HTTP/1.1\r\n");
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(2);
    }
  }

  // Another protocol

  @Test
  void anUpgradeOpensATunnelBothWays() throws Exception {
    Script echo =
        with -> {
          with.readHead();
          with.send(
              """
              HTTP/1.1 101 Switching Protocols\r
              Upgrade: websocket\r
              Connection: upgrade, X-S\r
              X-S: 1\r
              Keep-Alive: 5\r
              \r
              hi\
              """);
          with.send(with.read(5));
          with.send("[" + with.readToEnd() + "]");
          with.close();
        };
    try (var origin = ScriptedOrigin.open(echo);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      var content = new ScriptedContent(fixture.loop(), 0);
      RecordingReply reply = fixture.send(upgrade("websocket"), content);
      await(reply.begun());
      assertThat(reply.head().status()).isEqualTo(101);
      assertThat(reply.head().fields().toString()).isEqualTo("Upgrade: websocket\n");
      assertThat(origin.heads().getFirst())
          .contains("Upgrade: websocket\r\nConnection: upgrade\r\n");
      content.write("hello");
      content.finish("bye");
      await(reply.ended());
      assertThat(reply.content()).isEqualTo("hihello[bye]");
      assertThat(reply.hasFailed()).isFalse();
      fixture.onLoop(() -> null);
      assertThat(fixture.origins.getFirst().inFlight()).isZero();
    }
  }

  @Test
  void theOriginMayFallSilentFirst() throws Exception {
    CompletableFuture<String> got = new CompletableFuture<>();
    Script halfCloses =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\nbye");
          with.closeOutput();
          got.complete(with.readToEnd());
        };
    try (var origin = ScriptedOrigin.open(halfCloses);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      var content = new ScriptedContent(fixture.loop(), 0);
      RecordingReply reply = fixture.send(upgrade("websocket"), content);
      await(reply.ended());
      assertThat(reply.content()).isEqualTo("bye");
      content.finish("still here");
      assertThat(await(got)).isEqualTo("still here");
    }
  }

  @Test
  void aTunnelThatBreaksIsBrokenOffTowardTheClient() throws Exception {
    CompletableFuture<Void> go = new CompletableFuture<>();
    Script resets =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n");
          go.join();
          with.reset();
        };
    try (var origin = ScriptedOrigin.open(resets);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      var content = new ScriptedContent(fixture.loop(), 0);
      RecordingReply reply = fixture.send(upgrade("websocket"), content);
      await(reply.begun());
      go.complete(null);
      await(content.cancelled());
      assertThat(await(reply.ended()).failure().kind()).isEqualTo(ErrorType.CONNECTION_TERMINATED);
    }
  }

  @Test
  void whenTheClientOfATunnelIsGoneTheOriginHearsOfIt() throws Exception {
    CompletableFuture<Void> closed = new CompletableFuture<>();
    Script tunnel =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n");
          with.readToEnd();
          closed.complete(null);
        };
    try (var origin = ScriptedOrigin.open(tunnel);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      var content = new ScriptedContent(fixture.loop(), 0);
      RecordingReply reply = fixture.send(upgrade("websocket"), content);
      await(reply.begun());
      fixture.onLoop(
          () -> {
            reply.source().cancel(Failure.of(ErrorType.CLIENT_GONE, "gone"));
            ContentSink sink = content.tunnelled().join();
            sink.abort(Failure.of(ErrorType.CLIENT_GONE, "gone"));
            return null;
          });
      await(closed);
      assertThat(fixture.origins.getFirst().inFlight()).isZero();
    }
  }

  @Test
  void http2InTheClearIsNotOurNeighboursAffair() throws Exception {
    try (var origin = ScriptedOrigin.open(answering(OK));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      await(fixture.send(upgrade("h2c"), new ScriptedContent(fixture.loop(), 0)).ended());
      assertThat(origin.heads().getFirst()).doesNotContainIgnoringCase("upgrade");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"echo", "websocket, h2c", "h2c, websocket", "TLS/1.3", "websocket/2", ""})
  void whatNobodyAllowedIsNotSwitchedTo(String protocols) throws Exception {
    try (var origin = ScriptedOrigin.open(answering(OK));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      await(fixture.send(upgrade(protocols), new ScriptedContent(fixture.loop(), 0)).ended());
      assertThat(origin.heads().getFirst()).doesNotContainIgnoringCase("upgrade");
    }
  }

  private static Script answering(String... responses) {
    return with -> {
      for (String response : responses) {
        with.readHead();
        with.send(response);
      }
      with.readToEnd();
    };
  }

  private static String head(String... lines) {
    return String.join("\r\n", lines) + "\r\n\r\n";
  }

  private static RequestHead post() {
    return RequestHead.of("POST", URI);
  }

  private static RequestHead upgrade(String protocol) {
    return RequestHead.of("GET", URI, "Connection", "Upgrade", "Upgrade", protocol);
  }
}
