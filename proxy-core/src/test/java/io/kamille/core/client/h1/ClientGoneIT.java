package io.kamille.core.client.h1;

import static io.kamille.core.client.h1.TestServer.octets;
import static io.kamille.core.client.h1.TestServer.stored;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestServer.Ended;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.http.ResponseHead;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Clients that go away, and clients that only seem to. */
class ClientGoneIT {

  private final TestServer server = new TestServer();
  private final TestClient client = server.connect();
  private final TestSource source = new TestSource();
  private final AtomicReference<@Nullable Exchange> waiting = new AtomicReference<>();

  @AfterEach
  void close() {
    server.close();
  }

  @Test
  void goneBeforeTheAnswerCancelsTheSourceOnce() {
    server.on("/", this::open);
    // What is pipelined behind waits, and must be released with the connection.
    client.get("/").get("/never").get("/never");
    Exchange exchange = arrived();
    client.reset();
    Await.until(() -> server.connections() == 0, "the end");
    server.settle();
    assertThat(source.cancelled).hasSize(1);
    assertThat(source.cancelled.getFirst().kind()).isEqualTo(ErrorType.CLIENT_GONE);
    assertThat(server.ended()).containsExactly(new Ended("/", 0, 0));
    exchange
        .loop()
        .execute(
            () -> {
              exchange.reply().head(ResponseHead.of(200), 3);
              exchange.reply().write(octets("abc"));
              exchange.reply().end(null);
              stored(exchange, "too late");
            });
    server.settle();
    assertThat(exchange.reply().isEnded()).isTrue();
    assertThat(source.cancelled).hasSize(1);
    assertThat(server.ended()).hasSize(1);
  }

  @Test
  void goneWithinTheAnswerCancelsTheSourceOnce() {
    server.on(
        "/",
        exchange -> {
          open(exchange);
          exchange.reply().head(ResponseHead.of(200), 1 << 30);
          pour(exchange);
        });
    client.get("/");
    client.read(100_000);
    client.reset();
    Await.until(() -> server.connections() == 0, "the end");
    Await.until(() -> !source.cancelled.isEmpty(), "the cancellation");
    server.settle();
    assertThat(source.cancelled).hasSize(1);
    assertThat(server.ended()).extracting(Ended::status).containsExactly(200);
  }

  /** Writes whenever it may, until it is told to stop. */
  private void pour(Exchange exchange) {
    if (!source.cancelled.isEmpty()) {
      return;
    }
    if (!source.paused) {
      exchange.reply().write(octets("x".repeat(10_000)));
    }
    exchange.loop().schedule(() -> pour(exchange), 10, TimeUnit.MICROSECONDS);
  }

  @Test
  void aSlowClientPausesTheSource() {
    server.on(
        "/",
        exchange -> {
          open(exchange);
          exchange.reply().head(ResponseHead.of(200), 1 << 30);
          pour(exchange);
        });
    TestClient slow = server.connect(4_096);
    slow.get("/");
    Await.until(() -> source.paused, "the pause");
    int resumes = source.resumes.get();
    slow.read(32 << 20);
    assertThat(source.resumes.get()).isGreaterThan(resumes);
    slow.reset();
    Await.until(() -> !source.cancelled.isEmpty(), "the cancellation");
  }

  @Test
  void aSourceNamedTooLateIsCancelledAtOnce() {
    server.on("/", waiting::set);
    client.get("/");
    Exchange exchange = arrived();
    client.reset();
    Await.until(() -> server.connections() == 0, "the end");
    exchange.loop().execute(() -> exchange.reply().open(source));
    server.settle();
    assertThat(source.cancelled).hasSize(1);
  }

  @Test
  void aSourceThatEndsBeforeTheClientGoesIsLeftAlone() {
    server.on(
        "/",
        exchange -> {
          exchange.reply().open(source);
          TestServer.answer(exchange.reply(), 200, 2, "ok");
        });
    client.get("/").answer();
    client.reset();
    Await.until(() -> server.connections() == 0, "the end");
    assertThat(source.cancelled).isEmpty();
  }

  @Test
  void aHalfHeadIsForgotten() {
    client.send("GET / HTTP/1.1\r\nHo");
    Await.until(() -> server.connections() == 1, "the connection");
    client.reset();
    Await.until(() -> server.connections() == 0, "the end");
    assertThat(server.ended()).isEmpty();
  }

  @Test
  void thatAClientHasClosedItsSideIsNoted() {
    server.on("/", waiting::set);
    client.get("/");
    Exchange exchange = arrived();
    assertThat(hasInputEnded(exchange)).isFalse();
    client.closeOutput();
    Await.until(() -> hasInputEnded(exchange), "the note");
  }

  private static boolean hasInputEnded(Exchange exchange) {
    return exchange
        .loop()
        .submit(() -> exchange.notes().hasInputEnded())
        .syncUninterruptibly()
        .getNow();
  }

  @Test
  void aHalfClosedClientGetsItsWholeLateAnswer() {
    int length = 6 << 20;
    server.on("/", waiting::set);
    client.get("/").closeOutput();
    Exchange exchange = arrived();
    server.settle();
    exchange
        .loop()
        .execute(() -> TestServer.answer(exchange.reply(), 200, length, "x".repeat(length)));
    assertThat(client.answer().content()).hasSize(length);
    assertThat(client.isAtEnd()).isTrue();
  }

  @Test
  void aHalfClosedClientGetsItsWholeLateAnswerInPieces() {
    server.on("/", this::open);
    client.get("/").closeOutput();
    Exchange exchange = arrived();
    server.settle();
    exchange
        .loop()
        .execute(
            () -> {
              exchange.reply().head(ResponseHead.of(200), 1 << 30);
              pour(exchange);
            });
    client.read(16 << 20);
    assertThat(source.cancelled).isEmpty();
    client.reset();
    Await.until(() -> !source.cancelled.isEmpty(), "the cancellation");
  }

  // Clients that close, where half-closed ones are not answered

  private TestClient ofStrict(TestServer strict, String path) {
    strict.on(path, this::open);
    TestClient gone = strict.connect().get(path);
    arrived();
    return gone;
  }

  @Test
  void aClientThatClosesBeforeItsAnswerCancelsTheSource() {
    try (TestServer strict = strict()) {
      ofStrict(strict, "/").closeOutput();
      Await.until(() -> !source.cancelled.isEmpty(), "the cancellation");
      Await.until(() -> strict.connections() == 0, "the end");
      assertThat(source.cancelled.getFirst().kind()).isEqualTo(ErrorType.CLIENT_GONE);
      assertThat(strict.ended()).containsExactly(new Ended("/", 0, 0));
    }
  }

  /** No further octet would tell of it, such as with a quiet stream of events. */
  @Test
  void aClientThatClosesWithinAnAnswerWithoutAnEndCancelsTheSource() {
    try (TestServer strict = strict()) {
      TestClient gone = ofStrict(strict, "/");
      Exchange exchange = arrived();
      exchange.loop().execute(() -> exchange.reply().head(ResponseHead.of(200), -1));
      gone.readUntil("\r\n\r\n");
      gone.closeOutput();
      Await.until(() -> !source.cancelled.isEmpty(), "the cancellation");
      assertThat(gone.rest()).as("no end that passes for one").isEmpty();
      Await.until(() -> strict.connections() == 0, "the end");
    }
  }

  @Test
  void aClientThatClosesBehindItsRequestGetsAHitAndTheRestOfWhatHasALength() {
    try (TestServer strict = strict()) {
      assertThat(strict.connect().get("/hit").closeOutput().answer().content()).isEqualTo("/hit");
      TestClient half = ofStrict(strict, "/");
      Exchange exchange = arrived();
      exchange.loop().execute(() -> exchange.reply().head(ResponseHead.of(200), 3));
      half.readUntil("\r\n\r\n");
      half.closeOutput();
      strict.settle();
      exchange
          .loop()
          .execute(
              () -> {
                exchange.reply().write(octets("abc"));
                exchange.reply().end(null);
              });
      assertThat(half.rest()).isEqualTo("abc");
    }
  }

  private static TestServer strict() {
    return new TestServer(TestServer.withHalfClosed(false), 1);
  }

  private void open(Exchange exchange) {
    exchange.reply().open(source);
    waiting.set(exchange);
  }

  private Exchange arrived() {
    Await.until(() -> waiting.get() != null, "the request");
    return Objects.requireNonNull(waiting.get());
  }
}
