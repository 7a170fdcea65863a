package io.kamille.core.client.h1;

import static io.kamille.core.client.h1.TestServer.stored;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.Await;
import io.kamille.core.client.ClientSettings;
import io.kamille.core.client.ServerShard;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.setting.Sections;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Patience with clients: 10 s for a head, 60 s between requests, 30 s without progress in content.
 */
class DeadlineIT {

  private static final int PIECE = 1 << 20;
  private static final int PIECES = 64;

  /** A kernel takes so much into its smallest send buffer, and a slow client has no room for it. */
  private static final int WITH_THE_KERNEL_AT_ONCE = 40 << 10;

  private final TestServer server = new TestServer();
  private final AtomicInteger taken = new AtomicInteger();

  @AfterEach
  void close() {
    server.close();
  }

  @Test
  void aClientThatSaysNothingIsClosed() {
    TestClient client = server.connect();
    Await.until(() -> server.connections() == 1, "the connection");
    pass(9);
    assertThat(server.connections()).isEqualTo(1);
    pass(2);
    assertThat(client.isAtEnd()).isTrue();
    assertThat(server.ended()).isEmpty();
  }

  @Test
  void aHeadHasSoLongFromItsFirstOctet() {
    TestClient client = server.connect();
    client.get("/a").answer();
    pass(50);
    client.send("GET / HTTP/1.1\r\nHost: a\r\n");
    received();
    for (int i = 0; i < 9; i++) {
      pass(1);
      client.send("X: y\r\n");
      server.settle();
    }
    assertThat(server.connections()).isEqualTo(1);
    pass(2);
    Answer answer = client.answer();
    assertThat(answer.status()).isEqualTo(408);
    assertThat(answer.field("Connection")).isEqualTo("close");
    assertThat(client.isAtEnd()).isTrue();
  }

  /** The source of its answer breaks when it is cancelled: a bug of a station. */
  @Test
  void aFaultInOneConnectionKeepsTheSweepFromNoOther() {
    server.on("/faulty", exchange -> takeThenWait(exchange, new FaultySource()));
    server.on("/late", exchange -> takeThenWait(exchange, new TestSource()));
    TestClient faulty = server.connect().send(upload("/faulty"));
    Await.until(() -> taken.get() == 1, "the first");
    TestClient late = server.connect().send(upload("/late"));
    Await.until(() -> taken.get() == 2, "the second");
    pass(31);
    assertThat(late.answer().status()).isEqualTo(408);
    late.close();
    Await.until(() -> server.connections() == 0, "both connections end");
    assertThat(faulty).isNotNull();
    assertThat(server.connect().get("/after").answer().content()).isEqualTo("/after");
  }

  private void takeThenWait(Exchange exchange, ContentSource source) {
    exchange.reply().open(source);
    exchange.content().start(new TestSink());
    taken.incrementAndGet();
  }

  private static String upload(String path) {
    return "POST " + path + " HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n";
  }

  private static final class FaultySource implements ContentSource {

    @Override
    public void pause() {}

    @Override
    public void resume() {}

    @Override
    public void cancel(Failure why) {
      throw new IllegalStateException("a fault");
    }
  }

  @Test
  void anIdleConnectionIsClosedWithoutAnAnswer() {
    TestClient client = server.connect();
    client.get("/a").answer();
    pass(59);
    client.get("/a").answer();
    pass(59);
    assertThat(server.connections()).isEqualTo(1);
    pass(2);
    assertThat(client.isAtEnd()).isTrue();
  }

  @Test
  void aHandlerMayTakeItsTime() {
    TestClient client = server.connect();
    AtomicReference<@Nullable Exchange> waiting = new AtomicReference<>();
    server.on("/", waiting::set);
    client.get("/");
    Await.until(() -> waiting.get() != null, "the request");
    pass(3_600);
    Exchange exchange = Objects.requireNonNull(waiting.get());
    exchange.loop().execute(() -> stored(exchange, "at last"));
    assertThat(client.answer().content()).isEqualTo("at last");
  }

  // Content from the client

  @Test
  void contentThatStopsComingTimesOut() {
    TestClient client = server.connect();
    TestSink sink = new TestSink();
    TestSource source = new TestSource();
    server.on(
        "/",
        exchange -> {
          exchange.reply().open(source);
          exchange.content().start(sink);
        });
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n");
    for (int i = 1; i < 6; i++) {
      long bytes = i;
      client.send("x");
      Await.until(() -> sink.bytes.get() == bytes, "an octet");
      pass(29);
    }
    assertThat(sink.aborts).isEmpty();
    pass(31);
    assertThat(client.answer().status()).isEqualTo(408);
    assertThat(client.isAtEnd()).isTrue();
    server.settle();
    assertThat(sink.aborts).hasSize(1);
    assertThat(source.cancelled).hasSize(1);
  }

  @Test
  void contentThatTheSinkHoldsBackDoesNotTimeOut() {
    TestClient client = server.connect();
    TestSink sink = new TestSink();
    AtomicReference<@Nullable Exchange> waiting = new AtomicReference<>();
    server.on(
        "/",
        exchange -> {
          exchange.content().start(sink);
          exchange.content().pause();
          waiting.set(exchange);
        });
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx");
    Await.until(() -> waiting.get() != null, "the request");
    pass(31);
    pass(31);
    assertThat(sink.aborts).isEmpty();
    Exchange exchange = Objects.requireNonNull(waiting.get());
    sink.atEnd(() -> stored(exchange, "taken"));
    exchange.loop().execute(() -> exchange.content().resume());
    client.send("x");
    assertThat(client.answer().content()).isEqualTo("taken");
  }

  @Test
  void contentTimesOutWithinTheAnswerToo() {
    TestClient client = server.connect();
    TestSink sink = new TestSink();
    server.on(
        "/",
        exchange -> {
          exchange.content().start(sink);
          exchange.reply().head(ResponseHead.of(200), 5);
        });
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx");
    Await.until(() -> sink.bytes.get() == 1, "the content");
    pass(31);
    assertThatThrownBy(client::answer).hasRootCauseInstanceOf(IOException.class);
    server.settle();
    assertThat(sink.aborts).hasSize(1);
  }

  @Test
  void contentThatDripsTimesOutHoweverSteadily() {
    try (TestServer strict = new TestServer(withUploadRate(), 1)) {
      TestClient client = strict.connect();
      TestSink sink = new TestSink();
      strict.on("/", exchange -> exchange.content().start(sink));
      client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\nx");
      for (int i = 1; i < 4; i++) {
        long bytes = i;
        Await.until(() -> sink.bytes.get() == bytes, "an octet");
        strict.pass(Duration.ofSeconds(5));
        client.send("x");
      }
      Await.until(() -> sink.bytes.get() == 4, "an octet");
      assertThat(sink.aborts).isEmpty();
      strict.pass(Duration.ofSeconds(5));
      Answer answer = client.answer();
      assertThat(answer.status()).isEqualTo(408);
      assertThat(answer.field("Proxy-Status")).contains("too slowly");
      assertThat(client.isAtEnd()).isTrue();
      strict.settle();
      assertThat(sink.aborts).hasSize(1);
    }
  }

  @Test
  void contentThatComesAtTheLeastRateIsTaken() {
    try (TestServer strict = new TestServer(withUploadRate(), 1)) {
      TestClient client = strict.connect();
      TestSink sink = new TestSink();
      strict.on(
          "/",
          exchange -> {
            sink.atEnd(() -> stored(exchange, "taken"));
            exchange.content().start(sink);
          });
      client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
      for (int i = 1; i < 10; i++) {
        long bytes = 100L * i;
        client.send("x".repeat(100));
        Await.until(() -> sink.bytes.get() == bytes, "octets");
        strict.pass(Duration.ofSeconds(10));
      }
      client.send("x".repeat(100));
      assertThat(client.answer().content()).isEqualTo("taken");
    }
  }

  @Test
  void contentThatCameQuicklyGivesNoCreditForWhatDrips() {
    try (TestServer strict = new TestServer(withUploadRate(), 1)) {
      TestClient client = strict.connect();
      TestSink sink = new TestSink();
      strict.on("/", exchange -> exchange.content().start(sink));
      client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n");
      client.send("x".repeat(50_000));
      Await.until(() -> sink.bytes.get() == 50_000, "half of it");
      strict.pass(Duration.ofSeconds(20));
      assertThat(sink.aborts).isEmpty();
      client.send("x");
      Await.until(() -> sink.bytes.get() == 50_001, "an octet");
      strict.pass(Duration.ofSeconds(20));
      assertThat(client.answer().status()).isEqualTo(408);
      strict.settle();
      assertThat(sink.aborts).hasSize(1);
    }
  }

  @Test
  void timeInWhichTheSinkHoldsBackCountsForNoRate() {
    try (TestServer strict = new TestServer(withUploadRate(), 1)) {
      TestClient client = strict.connect();
      TestSink sink = new TestSink();
      AtomicReference<@Nullable Exchange> waiting = new AtomicReference<>();
      strict.on(
          "/",
          exchange -> {
            sink.atEnd(() -> stored(exchange, "taken"));
            exchange.content().start(sink);
            exchange.content().pause();
            waiting.set(exchange);
          });
      client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n");
      Await.until(() -> waiting.get() != null, "the request");
      strict.pass(Duration.ofSeconds(100));
      Exchange exchange = Objects.requireNonNull(waiting.get());
      exchange.loop().execute(() -> exchange.content().resume());
      strict.settle();
      strict.pass(Duration.ofSeconds(19));
      client.send("x");
      assertThat(client.answer().content()).isEqualTo("taken");
    }
  }

  /** 10 octets a second, in each 20 s. */
  private static ClientSettings withUploadRate() {
    return Sections.copy(TestServer.SETTINGS).with("minBytesPerSecond", 10).record();
  }

  // Answers to slow clients

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aClientThatTakesNothingIsClosed(boolean ended) {
    server.on("/", exchange -> large(exchange, ended));
    TestClient slow = server.connect(4_096);
    slow.get("/");
    received();
    for (int i = 0; i < 5 && server.connections() > 0; i++) {
      pass(31);
    }
    Await.until(() -> server.connections() == 0, "its end");
    assertThatThrownBy(slow::answer).hasRootCauseInstanceOf(IOException.class);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aSlowClientThatTakesSomethingIsKept(boolean ended) {
    server.on("/", exchange -> large(exchange, ended));
    TestClient slow = server.connect(4_096);
    slow.get("/", ended ? "Connection: close" : "X: y");
    // Reading makes the kernel take more, and each time that is progress.
    for (int i = 0; i < PIECES / 8 - 2; i++) {
      slow.read(8 * PIECE);
      pass(29);
    }
    slow.read(16 * PIECE);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aClientThatTakesItsAnswerTooSlowlyIsReset(boolean ended) {
    try (TestServer strict = new TestServer(TestServer.withDownloadRate(), 1)) {
      AtomicReference<@Nullable Exchange> met = new AtomicReference<>();
      strict.on(
          "/",
          exchange -> {
            large(exchange, ended);
            met.set(exchange);
          });
      TestClient slow = strict.connect(4_096);
      slow.get("/").read(10);
      strict.settle();
      for (int i = 0; i < 10 && strict.connections() > 0; i++) {
        slow.read(10);
        strict.pass(Duration.ofSeconds(10));
        strict.settle();
      }
      assertThat(strict.connections()).isZero();
      assertThat(strict.loops().getFirst().connections().tooSlow()).isEqualTo(1);
      assertThat(strict.loops().getFirst().connections().stopped()).isZero();
      assertThatThrownBy(slow::rest).hasRootCauseInstanceOf(IOException.class);
      Failure failure = Objects.requireNonNull(met.get()).notes().failure();
      assertThat(failure == null ? "" : failure.reason())
          .isEqualTo(ended ? "" : "the client took its answer too slowly");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aClientThatTakesItsAnswerAtTheLeastRateIsKept(boolean ended) {
    try (TestServer strict = new TestServer(TestServer.withDownloadRate(), 1)) {
      strict.on("/", exchange -> large(exchange, ended));
      TestClient slow = strict.connect(4_096);
      slow.get("/", ended ? "Connection: close" : "X: y");
      for (int i = 0; i < PIECES / 8 - 2; i++) {
        slow.read(8 * PIECE);
        strict.pass(Duration.ofSeconds(29));
      }
      slow.read(16 * PIECE);
      assertThat(strict.loops().getFirst().connections().tooSlow()).isZero();
    }
  }

  @Test
  void timeInWhichNothingWaitsCountsForNoRate() {
    try (TestServer strict = new TestServer(TestServer.withDownloadRate(), 1)) {
      AtomicReference<@Nullable Exchange> met = new AtomicReference<>();
      strict.on(
          "/",
          exchange -> {
            exchange.reply().head(ResponseHead.of(200), 10);
            met.set(exchange);
          });
      TestClient client = strict.connect();
      client.get("/").readUntil("\r\n\r\n");
      Exchange exchange = Objects.requireNonNull(met.get());
      for (int i = 0; i < 10; i++) {
        strict.pass(Duration.ofSeconds(100));
        exchange.loop().execute(() -> exchange.reply().write(TestServer.octets("x")));
        assertThat(client.read(1)).isEqualTo("x");
      }
      assertThat(strict.loops().getFirst().connections().tooSlow()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void afterTheLastAnswerWhatTheKernelHoldsCountsToo(boolean isHalfClosed) {
    try (TestServer strict = new TestServer(TestServer.withDownloadRate(), 1)) {
      strict.on("/", exchange -> stored(exchange, "x".repeat(WITH_THE_KERNEL_AT_ONCE)));
      TestClient slow = lastRequest(strict, isHalfClosed);
      slow.readUntil("\r\n\r\n");
      strict.settle();
      Await.until(() -> strict.loops().getFirst().connections().lingering() == 1, "the closing");
      for (int i = 0; i < 10; i++) {
        strict.pass(Duration.ofSeconds(3));
        strict.settle();
        assertThat(strict.connections()).as("after %d s", 3 * (i + 1)).isEqualTo(1);
      }
      strict.pass(Duration.ofSeconds(3));
      Await.until(() -> strict.connections() == 0, "its end");
      assertThat(strict.loops().getFirst().connections().tooSlow()).isEqualTo(1);
      assertThatThrownBy(slow::rest).hasRootCauseInstanceOf(IOException.class);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void afterTheLastAnswerAClientThatTakesItInTimeGetsItAll(boolean isHalfClosed) {
    try (TestServer strict = new TestServer(TestServer.withDownloadRate(), 1)) {
      strict.on("/", exchange -> stored(exchange, "x".repeat(PIECE)));
      TestClient slow = lastRequest(strict, isHalfClosed);
      slow.readUntil("\r\n\r\n");
      for (int i = 0; i < 8; i++) {
        slow.read(PIECE / 8 - 1);
        strict.pass(Duration.ofSeconds(29));
      }
      slow.read(8);
      assertThat(slow.isAtEnd()).isTrue();
    }
  }

  /** Of a socket that is shut both ways epoll tells nothing more, not even that it was reset. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aHalfClosedClientThatIsGoneIsClosedByTheNextSweep(boolean hasLeastRate) {
    ClientSettings settings = hasLeastRate ? TestServer.withDownloadRate() : TestServer.SETTINGS;
    try (TestServer other = new TestServer(settings, 1)) {
      other.on("/", exchange -> stored(exchange, "x".repeat(WITH_THE_KERNEL_AT_ONCE)));
      TestClient gone = lastRequest(other, true);
      gone.readUntil("\r\n\r\n");
      Await.until(() -> isLingering(other), "our end");
      other.sweep();
      assertThat(other.connections()).isEqualTo(1);
      gone.reset();
      // No time passes: how often it is swept until its reset has come does not matter.
      Await.until(
          () -> {
            other.sweep();
            return other.connections() == 0;
          },
          "its end");
      assertThat(other.loops().getFirst().connections().tooSlow()).isZero();
      assertThat(other.loops().getFirst().connections().stopped()).isZero();
    }
  }

  private static boolean isLingering(TestServer server) {
    ServerShard loop = server.loops().getFirst();
    Future<Boolean> answer = loop.loop().submit(() -> loop.connections().lingering() > 0);
    return answer.awaitUninterruptibly(TestServer.LIMIT_NANOS, TimeUnit.NANOSECONDS)
        && answer.getNow();
  }

  @Test
  void theLoopRestsWhileAHalfClosedClientTakesItsLastAnswer() {
    try (TestServer strict = new TestServer(TestServer.withDownloadRate(), 1)) {
      strict.on("/", exchange -> stored(exchange, "x".repeat(WITH_THE_KERNEL_AT_ONCE)));
      TestClient slow = lastRequest(strict, true);
      slow.readUntil("\r\n\r\n");
      strict.settle();
      long before = strict.polls();
      for (int i = 0; i < 1_000; i++) {
        strict.settle();
      }
      assertThat(strict.polls() - before).as("polls for 1000 tasks").isLessThan(5_000);
      assertThat(strict.connections()).isEqualTo(1);
    }
  }

  /** A client that takes little at a time and will ask for nothing more. */
  private static TestClient lastRequest(TestServer server, boolean isHalfClosed) {
    TestClient slow = server.connect(4_096);
    return isHalfClosed ? slow.get("/").closeOutput() : slow.get("/", "Connection: close");
  }

  @Test
  void aDrainLetsASlowClientFinish() {
    server.on("/", exchange -> large(exchange, true));
    TestClient slow = server.connect(4_096);
    slow.get("/");
    received();
    server.loops().getFirst().drain(Duration.ZERO);
    server.settle();
    assertThat(slow.answer().content()).hasSize(PIECES * PIECE);
    assertThat(slow.isAtEnd()).isTrue();
  }

  // After the last answer (RFC 9112 §9.6)

  @Test
  void aClientThatSaidThatItSendsNothingMoreIsClosedAtOnce() {
    TestClient client = server.connect();
    client.get("/a", "Connection: close");
    assertThat(client.answer().content()).isEqualTo("/a");
    assertThat(client.isAtEnd()).isTrue();
    Await.until(() -> server.connections() == 0, "the end");
  }

  @Test
  void aClientOfHttp10IsClosedAtOnce() {
    TestClient client = server.connect();
    client.send("GET /a HTTP/1.0\r\n\r\n");
    assertThat(client.answer().content()).isEqualTo("/a");
    assertThat(client.isAtEnd()).isTrue();
    Await.until(() -> server.connections() == 0, "the end");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /a HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\nx",
        "POST /a HTTP/1.1\r\nHost: b\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx"
      })
  void aClientThatDoesNotCloseAfterTheLastAnswerIsClosed(String request) {
    TestClient client = server.connect();
    client.send(request);
    assertThat(client.answer().content()).isEqualTo("/a");
    assertThat(client.isAtEnd()).isTrue();
    server.settle();
    assertThat(server.connections()).isEqualTo(1);
    pass(3);
    Await.until(() -> server.connections() == 0, "the end");
  }

  @Test
  void aHalfClosedClientThatTakesNothingIsClosed() {
    server.on("/", exchange -> large(exchange, true));
    TestClient slow = server.connect(4_096);
    slow.get("/").closeOutput();
    received();
    for (int i = 0; i < 5 && server.connections() > 0; i++) {
      pass(31);
    }
    Await.until(() -> server.connections() == 0, "its end");
  }

  private void pass(long seconds) {
    server.pass(Duration.ofSeconds(seconds));
  }

  /** Waits until the loop has seen what was sent before: it serves in order of arrival. */
  private void received() {
    int before = server.connections();
    TestClient marker = server.connect();
    marker.get("/marker").answer();
    marker.reset();
    Await.until(() -> server.connections() <= Math.max(before, 1), "the marker's end");
  }

  /** An answer larger than any kernel buffer. */
  private static void large(Exchange exchange, boolean ended) {
    Reply reply = exchange.reply();
    reply.head(ResponseHead.of(200), (long) PIECES * PIECE);
    ByteBuf piece = TestServer.octets("x".repeat(PIECE));
    for (int i = 0; i < PIECES; i++) {
      reply.write(piece.retainedDuplicate());
    }
    piece.release();
    if (ended) {
      reply.end(null);
    }
  }
}
