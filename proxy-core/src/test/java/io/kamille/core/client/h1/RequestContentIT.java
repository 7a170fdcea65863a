package io.kamille.core.client.h1;

import static io.kamille.core.client.h1.TestServer.answer;
import static io.kamille.core.client.h1.TestServer.stored;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.Await;
import io.kamille.core.client.ClientSettings;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.setting.Sections;
import io.netty.buffer.ByteBuf;
import java.io.EOFException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Content from the client: streamed, paused, asked for, refused, dropped (RFC 9112 §6, §9.3). */
class RequestContentIT {

  private static final Failure UNWANTED = Failure.of(ErrorType.HTTP_REQUEST_DENIED, "not wanted");
  private static final int MANY = 8 << 20;

  private final TestServer server =
      new TestServer(withMaxContent(TestServer.SETTINGS, 16 << 20), 1);
  private final TestClient client = server.connect();
  private final TestSink sink = new TestSink();

  @AfterEach
  void close() {
    server.close();
  }

  // Taken

  @Test
  void contentOfKnownLengthIsStreamed() {
    server.on("/", this::take);
    client.send(head("Content-Length: 6") + "abc");
    Await.until(() -> sink.bytes.get() == 3, "the first half");
    client.send("defGET /after HTTP/1.1\r\nHost: a\r\n\r\n");
    assertThat(client.answer().content()).isEqualTo("taken");
    assertThat(sink.text()).isEqualTo("abcdef");
    assertThat(client.answer().content()).isEqualTo("/after");
  }

  @Test
  void chunkedContentIsStreamedWithItsTrailers() {
    server.on("/", this::take);
    client.send(head("Transfer-Encoding: chunked") + "3\r\nabc\r\n");
    Await.until(() -> sink.bytes.get() == 3, "the first chunk");
    client.send("3;x\r\ndef\r\n0\r\nDigest: d\r\nHost: evil\r\n\r\n");
    assertThat(client.answer().content()).isEqualTo("taken");
    assertThat(sink.text()).isEqualTo("abcdef");
    assertThat(sink.trailers).containsExactly("Digest: d\n");
    assertThat(client.get("/after").answer().content()).isEqualTo("/after");
  }

  @Test
  void noContentEndsAtOnce() {
    server.on("/", this::take);
    assertThat(client.get("/").answer().content()).isEqualTo("taken");
    assertThat(sink.ended).isTrue();
  }

  @Test
  void contentMayBeTakenLater() {
    AtomicReference<@Nullable Exchange> waiting = new AtomicReference<>();
    server.on("/", waiting::set);
    client.send(head("Content-Length: 3") + "abcGET /after HTTP/1.1\r\nHost: a\r\n\r\n");
    Await.until(() -> waiting.get() != null, "the request");
    onLoop(waiting, this::take);
    assertThat(client.answer().content()).isEqualTo("taken");
    assertThat(sink.text()).isEqualTo("abc");
    assertThat(client.answer().content()).isEqualTo("/after");
  }

  @Test
  void contentIsDeliveredOnce() {
    AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
    server.on(
        "/",
        exchange -> {
          exchange.content().start(sink);
          try {
            exchange.content().start(new TestSink());
          } catch (IllegalStateException expected) {
            thrown.set(expected);
          }
          stored(exchange, "");
        });
    client.send(head("Content-Length: 1") + "x").answer();
    assertThat(thrown.get()).isNotNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"X: y", "Connection: close"})
  void contentIsTakenToItsEndThoughTheAnswerCameBefore(String line) {
    server.on(
        "/",
        exchange -> {
          exchange.content().start(sink);
          stored(exchange, "early");
        });
    client.send(head("Content-Length: 200000", line) + "abc");
    assertThat(client.answer().content()).isEqualTo("early");
    client.send("x".repeat(199_997));
    Await.until(() -> sink.ended, "the rest");
    assertThat(sink.bytes.get()).isEqualTo(200_000);
  }

  @Test
  void aPausedSinkStopsTheClient() {
    AtomicReference<@Nullable Exchange> paused = new AtomicReference<>();
    server.on(
        "/",
        exchange -> {
          sink.atEnd(() -> stored(exchange, "taken"));
          exchange
              .content()
              .start(
                  new ContentSink() {
                    @Override
                    public void write(ByteBuf chunk) {
                      sink.write(chunk);
                      if (paused.get() == null) {
                        exchange.content().pause();
                        paused.set(exchange);
                      }
                    }

                    @Override
                    public void end(@Nullable Fields trailers) {
                      sink.end(trailers);
                    }

                    @Override
                    public void abort(Failure why) {
                      sink.abort(why);
                    }
                  });
        });
    Thread sender = Thread.ofPlatform().start(() -> client.send(upload(MANY)));
    Await.until(() -> paused.get() != null, "the pause");
    long atPause = sink.bytes.get();
    for (int i = 0; i < 100; i++) {
      server.settle();
    }
    assertThat(sink.bytes.get()).isEqualTo(atPause).isLessThan(1 << 20);
    onLoop(paused, exchange -> exchange.content().resume());
    assertThat(client.answer().content()).isEqualTo("taken");
    assertThat(sink.bytes.get()).isEqualTo(MANY);
    join(sender);
  }

  @Test
  void aLatePauseDoesNotHitTheNextRequest() {
    AtomicReference<@Nullable Exchange> before = new AtomicReference<>();
    server.on(
        "/",
        exchange -> {
          before.set(exchange);
          take(exchange);
        });
    client.send(head("Content-Length: 1") + "x").answer();
    onLoop(before, exchange -> exchange.content().pause());
    onLoop(before, exchange -> exchange.content().cancel(UNWANTED));
    server.settle();
    assertThat(client.get("/after").answer().content()).isEqualTo("/after");
  }

  // Expect (RFC 9110 §10.1.1)

  @Test
  void contentIsAskedForWhenItIsWanted() {
    AtomicReference<@Nullable Exchange> waiting = new AtomicReference<>();
    server.on("/", waiting::set);
    client.send(head("Content-Length: 3", "Expect: 100-Continue"));
    Await.until(() -> waiting.get() != null, "the request");
    onLoop(waiting, this::take);
    assertThat(client.answer().status()).isEqualTo(100);
    client.send("abc");
    assertThat(client.answer().content()).isEqualTo("taken");
    assertThat(client.get("/after").answer().content()).isEqualTo("/after");
  }

  @Test
  void the100OfAnOriginIsPassedOnOnce() {
    server.on(
        "/",
        exchange -> {
          exchange.reply().interim(ResponseHead.of(100));
          take(exchange);
        });
    client.send(head("Content-Length: 3", "Expect: 100-continue"));
    assertThat(client.answer().status()).isEqualTo(100);
    client.send("abc");
    assertThat(client.answer().content()).isEqualTo("taken");
  }

  @Test
  void contentThatIsNotWantedIsNotAskedFor() {
    client.send(head("Content-Length: 3", "Expect: 100-continue", "X: /stored"));
    Answer answer = client.answer();
    assertThat(answer.status()).isEqualTo(200);
    // Whether the content follows is the client's choice: nobody can tell where the next head is.
    assertThat(answer.field("Connection")).isEqualTo("close");
    client.send("abcGET /never HTTP/1.1\r\nHost: a\r\n\r\n");
    assertThat(client.isAtEnd()).isTrue();
    server.settle();
    assertThat(server.ended()).hasSize(1);
  }

  @Test
  void contentMayComeUnasked() {
    server.on("/", this::take);
    client.send(head("Content-Length: 3", "Expect: 100-continue") + "abc");
    assertThat(client.answer().status()).isEqualTo(100);
    assertThat(client.answer().content()).isEqualTo("taken");
    assertThat(client.get("/after").answer().content()).isEqualTo("/after");
  }

  @Test
  void anotherExpectationCannotBeMet() {
    client.send(head("Content-Length: 3", "Expect: 100-continue, x"));
    assertThat(client.answer().status()).isEqualTo(417);
    assertThat(client.isAtEnd()).isTrue();
  }

  @Test
  void http10DoesNotExpect() {
    server.on("/", this::take);
    client.send("POST / HTTP/1.0\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabc");
    assertThat(client.answer().content()).isEqualTo("taken");
  }

  // Not taken

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aLittleUnwantedContentIsDropped(boolean later) {
    server.on("/", answering(later));
    client.send(head("Content-Length: 60000") + "x".repeat(30_000));
    Answer answer = client.answer();
    assertThat(answer.field("Connection")).isNull();
    client.send("x".repeat(30_000));
    assertThat(client.get("/after").answer().content()).isEqualTo("/after");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void muchUnwantedContentEndsTheConnectionAndTheAnswerArrives(boolean later) {
    server.on("/", answering(later));
    // All of it is sent before the answer is read: a reset would destroy the answer.
    client.send(upload(MANY));
    Answer answer = client.answer();
    assertThat(answer.content()).isEqualTo("not wanted");
    assertThat(answer.field("Connection")).isEqualTo("close");
    assertThat(client.isAtEnd()).isTrue();
  }

  @Test
  void unwantedChunkedContentEndsTheConnection() {
    server.on("/", answering(false));
    client.send(head("Transfer-Encoding: chunked") + "3\r\nabc\r\n0\r\n\r\n");
    assertThat(client.answer().field("Connection")).isEqualTo("close");
    assertThat(client.isAtEnd()).isTrue();
  }

  @Test
  void cancelledContentIsNotDeliveredAnyMore() {
    server.on(
        "/",
        exchange ->
            exchange
                .content()
                .start(
                    new ContentSink() {
                      @Override
                      public void write(ByteBuf chunk) {
                        sink.write(chunk);
                        exchange.content().cancel(UNWANTED);
                        stored(exchange, "enough");
                      }

                      @Override
                      public void end(@Nullable Fields trailers) {
                        sink.end(trailers);
                      }

                      @Override
                      public void abort(Failure why) {
                        sink.abort(why);
                      }
                    }));
    client.send(head("Transfer-Encoding: chunked") + "1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n");
    assertThat(client.answer().content()).isEqualTo("enough");
    assertThat(client.isAtEnd()).isTrue();
    server.settle();
    assertThat(sink.bytes.get()).isEqualTo(1);
    assertThat(sink.ended).isFalse();
    assertThat(sink.aborts).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {50_000, MANY})
  void contentCancelledBehindTheAnswerDoesNotHoldTheConnection(int length) {
    AtomicReference<@Nullable Exchange> answered = new AtomicReference<>();
    server.on(
        "/",
        exchange -> {
          exchange.content().start(sink);
          stored(exchange, "early");
          answered.set(exchange);
        });
    client.send(head("Content-Length: " + length) + "abc");
    assertThat(client.answer().content()).isEqualTo("early");
    onLoop(answered, exchange -> exchange.content().cancel(UNWANTED));
    server.settle();
    if (length == MANY) {
      assertThat(client.isAtEnd()).isTrue();
    } else {
      client.send("x".repeat(length - 3));
      assertThat(client.get("/after").answer().content()).isEqualTo("/after");
    }
  }

  @Test
  void aFailedExchangeTakesNoMoreContent() {
    server.on(
        "/",
        exchange -> {
          exchange.content().start(sink);
          exchange.content().pause();
          exchange.reply().fail(Failure.of(ErrorType.CONNECTION_REFUSED, "no origin"));
        });
    client.send(head("Content-Length: 6") + "abc");
    assertThat(client.answer().status()).isEqualTo(502);
    client.send("def");
    assertThat(client.get("/after").answer().content()).isEqualTo("/after");
    assertThat(sink.bytes.get()).isZero();
  }

  // Broken

  @Test
  void aBrokenChunkIsBadAndEverybodyHears() {
    TestSource source = new TestSource();
    server.on(
        "/",
        exchange -> {
          exchange.reply().open(source);
          exchange.content().start(sink);
        });
    client.send(
        head("Transfer-Encoding: chunked")
            + "3\r\nabc\r\nx\r\nGET /never HTTP/1.1\r\nHost: a\r\n\r\n");
    assertThat(client.answer().status()).isEqualTo(400);
    assertThat(client.isAtEnd()).isTrue();
    server.settle();
    assertThat(sink.text()).isEqualTo("abc");
    assertThat(sink.aborts).hasSize(1);
    assertThat(source.cancelled).hasSize(1);
    assertThat(server.ended()).hasSize(1);
  }

  @Test
  void aBrokenChunkBehindTheAnswerEndsTheConnection() {
    server.on(
        "/",
        exchange -> {
          exchange.content().start(sink);
          stored(exchange, "early");
        });
    client.send(head("Transfer-Encoding: chunked") + "3\r\nabc\r\n");
    assertThat(client.answer().content()).isEqualTo("early");
    client.send("x\r\n");
    assertThat(client.isAtEnd()).isTrue();
    server.settle();
    assertThat(sink.aborts).hasSize(1);
  }

  @Test
  void aBrokenChunkWithinTheAnswerBreaksItOff() {
    server.on(
        "/",
        exchange -> {
          exchange.content().start(sink);
          exchange.reply().head(ResponseHead.of(200), -1);
        });
    client.send(head("Transfer-Encoding: chunked") + "3\r\nabc\r\nx\r\n");
    assertThatThrownBy(client::answer).hasRootCauseInstanceOf(EOFException.class);
  }

  @Test
  void contentCutShortBreaksOff() {
    TestSource source = new TestSource();
    server.on(
        "/",
        exchange -> {
          exchange.reply().open(source);
          exchange.content().start(sink);
        });
    client.send(head("Content-Length: 6") + "abc").closeOutput();
    assertThat(client.answer().status()).isEqualTo(400);
    assertThat(client.isAtEnd()).isTrue();
    server.settle();
    assertThat(sink.aborts).hasSize(1);
    assertThat(source.cancelled).hasSize(1);
  }

  @Test
  void contentCutShortBeforeAnybodyTookItBreaksOffWhenTaken() {
    AtomicReference<@Nullable Exchange> waiting = new AtomicReference<>();
    server.on("/", waiting::set);
    client.send(head("Content-Length: 6") + "abc").closeOutput();
    Await.until(() -> waiting.get() != null, "the request");
    onLoop(waiting, this::take);
    assertThat(client.answer().status()).isEqualTo(400);
    server.settle();
    assertThat(sink.aborts).hasSize(1);
  }

  @Test
  void tooMuchContentIsRefusedByItsLength() {
    client.send(head("Content-Length: " + ((16 << 20) + 1), "Expect: 100-continue"));
    assertThat(client.answer().status()).isEqualTo(413);
    assertThat(client.isAtEnd()).isTrue();
  }

  @Test
  void tooMuchContentIsRefusedWhereItPassesTheLimit() {
    server.on("/", this::take);
    String chunk = "100000\r\n" + "x".repeat(1 << 20) + "\r\n";
    Thread sender =
        Thread.ofPlatform()
            .start(() -> client.send(head("Transfer-Encoding: chunked") + chunk.repeat(17)));
    assertThat(client.answer().status()).isEqualTo(413);
    join(sender);
    assertThat(client.isAtEnd()).isTrue();
    server.settle();
    assertThat(sink.aborts).hasSize(1);
    assertThat(sink.bytes.get()).isLessThanOrEqualTo(16 << 20);
  }

  @Test
  void contentStartedOnceTheExchangeIsOverBreaksOff() {
    AtomicReference<@Nullable Exchange> waiting = new AtomicReference<>();
    server.on("/", waiting::set);
    client.send(head("Content-Length: 6") + "abc");
    Await.until(() -> waiting.get() != null, "the request");
    client.reset();
    Await.until(() -> server.connections() == 0, "the end");
    onLoop(waiting, exchange -> exchange.content().start(sink));
    server.settle();
    assertThat(sink.aborts).hasSize(1);
  }

  /** Takes the content into {@link #sink} and answers at its end. */
  private void take(Exchange exchange) {
    sink.atEnd(() -> stored(exchange, "taken"));
    exchange.content().start(sink);
  }

  private static ExchangeHandler answering(boolean later) {
    return exchange -> {
      if (later) {
        exchange.loop().execute(() -> answer(exchange.reply(), 200, 10, "not wanted"));
      } else {
        stored(exchange, "not wanted");
      }
    };
  }

  private static void onLoop(AtomicReference<@Nullable Exchange> reference, ExchangeHandler task) {
    Exchange exchange = Objects.requireNonNull(reference.get());
    exchange.loop().execute(() -> task.handle(exchange));
  }

  private static String head(String... lines) {
    return "POST / HTTP/1.1\r\nHost: a\r\n" + String.join("\r\n", lines) + "\r\n\r\n";
  }

  private static String upload(int length) {
    return head("Content-Length: " + length) + "x".repeat(length);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whoReadsNoAnswerBeforeAllIsSentGetsIt(boolean isChunked) {
    try (TestServer small = new TestServer(withMaxContent(TestServer.SETTINGS, 1_000), 1)) {
      small.on("/", exchange -> exchange.content().start(sink));
      String piece = "x".repeat(0x1000);
      TestClient client = small.connect();
      client.request(
          "POST", "/", isChunked ? "Transfer-Encoding: chunked" : "Content-Length: " + 0x10000);
      for (int i = 0; i < 16; i++) {
        client.send(isChunked ? "1000\r\n" + piece + "\r\n" : piece);
        small.settle();
        small.pass(Duration.ofSeconds(1));
      }
      assertThat(client.answer().status()).isEqualTo(413);
    }
  }

  @Test
  void whoNeverEndsIsClosed() {
    try (TestServer small = new TestServer(withMaxContent(TestServer.SETTINGS, 1_000), 1)) {
      TestClient client = small.connect();
      client.request("POST", "/", "Content-Length: " + (1L << 40)).send("x");
      small.settle();
      for (int second = 0; second < 30; second++) {
        assertThat(small.connections()).isEqualTo(1);
        client.send("x");
        small.settle();
        small.pass(Duration.ofSeconds(1));
      }
      Await.until(() -> small.connections() == 0, "the end");
    }
  }

  private static ClientSettings withMaxContent(ClientSettings settings, long maxContentBytes) {
    return Sections.copy(settings).with("maxContentBytes", maxContentBytes).record();
  }

  private static void join(Thread thread) {
    try {
      thread.join(60_000);
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }
}
