package io.kamille.core.client.h2;

import static io.kamille.core.client.h1.TestServer.octets;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.ServerShard;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestServer;
import io.kamille.core.client.h2.TestH2Client.Answer;
import io.kamille.core.client.open.Protocols;
import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests and answers over HTTP/2, as RFC 9113 has them. */
class H2StreamsIT {

  private static final int NO_ERROR = 0;
  private static final int INTERNAL_ERROR = 2;
  private static final int CANCEL = 8;
  private static final int INITIAL_WINDOW = 4;

  private final TestServer server = new TestServer(TestServer.SETTINGS, 1, Protocols.BOTH);
  private final List<TestH2Client> clients = new ArrayList<>();

  @AfterEach
  void close() {
    clients.forEach(TestH2Client::close);
    server.close();
  }

  private TestH2Client client(int... settings) {
    TestH2Client client = TestH2Client.connect(server.address(), settings);
    clients.add(client);
    return client;
  }

  @Test
  void aStoredResponseIsAnAnswer() {
    Answer answer = client().get(1, "/hello").answer(1);
    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.content()).isEqualTo("/hello");
    assertThat(answer.fields()).containsEntry("age", "1").containsEntry("content-length", "6");
  }

  @Test
  void aListenerWithBothVersionsLooksAtTheFirstOctets() {
    try (TestClient h1 = server.connect()) {
      assertThat(h1.get("/one").answer().content()).isEqualTo("/one");
    }
    assertThat(client().get(1, "/two").answer(1).content()).isEqualTo("/two");
  }

  @Test
  void streamsAreAnsweredOnOneConnection() {
    TestH2Client client = client();
    for (int stream = 1; stream < 200; stream += 2) {
      client.get(stream, "/" + stream);
    }
    client.flush();
    for (int stream = 199; stream > 0; stream -= 2) {
      assertThat(client.answer(stream).content()).isEqualTo("/" + stream);
    }
    assertThat(server.ended()).hasSize(100);
  }

  @Test
  void headHasTheLengthAndNoContent() {
    Answer answer = client().request(1, "HEAD", "/hello", true).answer(1);
    assertThat(answer.fields()).containsEntry("content-length", "6");
    assertThat(answer.content()).isEmpty();
  }

  @Test
  void contentTrailersAndInterimResponsesGetThrough() {
    server.on(
        "/parts",
        exchange -> {
          Reply reply = exchange.reply();
          reply.interim(ResponseHead.of(103, "Link", "</a>"));
          reply.head(ResponseHead.of(200, "X", "y"), Reply.UNKNOWN_LENGTH);
          reply.write(octets("one "));
          reply.write(octets("two"));
          Fields trailers = new Fields();
          trailers.add("Checksum", "1");
          reply.end(trailers);
        });
    TestH2Client client = client().get(1, "/parts");
    Answer interim = client.answer(1);
    assertThat(interim.status()).isEqualTo(103);
    assertThat(interim.fields()).containsEntry("link", "</a>");
    Answer answer = client.answer(1);
    assertThat(answer.fields()).containsEntry("x", "y").doesNotContainKey("content-length");
    assertThat(answer.content()).isEqualTo("one two");
    assertThat(answer.trailers()).containsEntry("checksum", "1");
  }

  @Test
  void connectionSpecificFieldsOfAnAnswerStayBehind() {
    server.on(
        "/fields",
        exchange -> {
          ResponseHead head =
              ResponseHead.of(200, "Connection", "x", "Keep-Alive", "1", "Upgrade", "h3", "A", "b");
          exchange.reply().head(head, 0);
          exchange.reply().end(null);
        });
    assertThat(client().get(1, "/fields").answer(1).fields())
        .containsEntry("a", "b")
        .doesNotContainKeys("connection", "keep-alive", "upgrade", "transfer-encoding");
  }

  @Test
  void requestContentIsDeliveredWhole() {
    echo("/echo");
    TestH2Client client = client().request(1, "POST", "/echo", false, "content-length", "7");
    client.data(1, "abc", false).data(1, "defg", true);
    assertThat(client.answer(1).content()).isEqualTo("abcdefg");
  }

  @Test
  void contentLargerThanTheWindowsGoesBothWays() {
    echo("/echo");
    TestH2Client client = client();
    client.request(1, "POST", "/echo", false);
    String piece = "x".repeat(16_000);
    for (int i = 0; i < 30; i++) {
      client.data(1, piece, i == 29);
      client.window(1, piece.length()).window(0, piece.length()).settle();
    }
    assertThat(client.answer(1).content()).hasSize(30 * piece.length());
  }

  @Test
  void aClientThatWaitsToBeAskedIsAsked() {
    server.on("/take", exchange -> exchange.content().start(new Swallowing(exchange)));
    TestH2Client client = client().request(1, "POST", "/take", false, "expect", "100-continue");
    assertThat(client.answer(1).status()).isEqualTo(100);
    assertThat(client.data(1, "now", true).answer(1).content()).isEqualTo("taken");
  }

  @Test
  void contentThatIsNotAsLongAsItSaysIsAFaultOfTheStream() {
    List<Failure> aborted = new ArrayList<>();
    server.on("/take", exchange -> exchange.content().start(new Noting(aborted)));
    TestH2Client client = client().request(1, "POST", "/take", false, "content-length", "5");
    client.settle();
    assertThat(client.data(1, "abc", true).resetCode(1)).isEqualTo(1);
    client.request(3, "POST", "/take", false, "content-length", "2").settle();
    assertThat(client.data(3, "abc", false).resetCode(3)).isEqualTo(1);
    client.request(5, "POST", "/take", false, "content-length", "5").data(5, "abc", false).settle();
    assertThat(client.headers(5, true, "sum", "1").resetCode(5)).isEqualTo(1);
    // 3 beyond 2^32
    client.request(7, "POST", "/take", false, "content-length", "4294967299").settle();
    assertThat(client.data(7, "abc", true).resetCode(7)).isEqualTo(1);
    server.settle();
    assertThat(aborted).hasSize(4);
    assertThat(client.get(9, "/fine").answer(9).status()).isEqualTo(200);
  }

  @Test
  void cookiesAreOneLineForEverybodyBehindUs() {
    AtomicReference<String> cookie = new AtomicReference<>();
    server.on(
        "/cookie",
        exchange -> {
          cookie.set(String.valueOf(exchange.request().fields().joined(FieldName.COOKIE)));
          TestServer.stored(exchange, "");
        });
    client().get(1, "/cookie", "cookie", "a=1", "cookie", "b=2").answer(1);
    assertThat(cookie).hasValue("a=1; b=2");
    client().get(1, "/cookie", "cookie", "", "cookie", "a=1", "cookie", "").answer(1);
    assertThat(cookie).hasValue("a=1");
  }

  @Test
  void anAnswerThatBreaksOffNeverLooksComplete() {
    server.on(
        "/short",
        exchange -> {
          exchange.reply().head(ResponseHead.of(200), 10);
          exchange.reply().write(octets("abc"));
          exchange.reply().end(null);
        });
    assertThat(client().get(1, "/short").resetCode(1)).isEqualTo(INTERNAL_ERROR);
  }

  @Test
  void aSwitchOfProtocolsIsAnOriginsFault() {
    server.on("/switch", exchange -> exchange.reply().head(ResponseHead.of(101), 0));
    assertThat(client().get(1, "/switch").answer(1).status()).isEqualTo(502);
  }

  @Test
  void whoStopsUploadingAfterTheAnswerIsSparedAndWhoGoesOnIsReset() {
    server.on("/deny", exchange -> TestServer.stored(exchange, "no"));
    TestH2Client client = client().request(1, "POST", "/deny", false);
    assertThat(client.answer(1).content()).isEqualTo("no");
    client.data(1, "late", true).settle();
    client.request(3, "POST", "/deny", false);
    assertThat(client.answer(3).content()).isEqualTo("no");
    server.sweep();
    server.sweep();
    assertThat(client.resetCode(3)).isEqualTo(NO_ERROR);
    assertThat(client.passed(TestH2Client.RST_STREAM, 1)).isZero();
  }

  @Test
  void anAnswerWaitsForTheWindowsOfItsStreamAndItsConnection() {
    TestH2Client client = client(INITIAL_WINDOW, 4).get(1, "/123456789").flush();
    assertThat(client.await(TestH2Client.DATA, 1).payload()).hasSize(4);
    client.window(1, 2);
    assertThat(client.await(TestH2Client.DATA, 1).payload()).hasSize(2);
    // A larger initial window is room for streams that are open, too (§6.9.2).
    client.settings(INITIAL_WINDOW, 100);
    TestH2Client.Frame last = client.await(TestH2Client.DATA, 1);
    assertThat(last.payload()).hasSize(4);
    assertThat(last.has(TestH2Client.END_STREAM)).isTrue();
  }

  /** RFC 9113 §6.9.2: a smaller initial window may make that of an open stream negative. */
  @Test
  void aNegativeWindowHasToOpenAgain() {
    TestH2Client client = client(INITIAL_WINDOW, 100).get(1, "/" + "x".repeat(200)).flush();
    assertThat(client.await(TestH2Client.DATA, 1).payload()).hasSize(100);
    client.settings(INITIAL_WINDOW, 0).window(1, 100).settle();
    assertThat(client.passed(TestH2Client.DATA, 1)).isZero();
    client.window(1, 1);
    assertThat(client.await(TestH2Client.DATA, 1).payload()).hasSize(1);
  }

  @Test
  void aClientThatOpensNoWindowIsGivenUp() {
    TestH2Client client = client(INITIAL_WINDOW, 0).get(1, "/wait").settle();
    server.sweep();
    server.pass(Duration.ofSeconds(29));
    client.settle();
    assertThat(client.passed(TestH2Client.RST_STREAM, 1)).isZero();
    server.pass(Duration.ofSeconds(2));
    assertThat(client.resetCode(1)).isEqualTo(CANCEL);
  }

  @Test
  void urgentAnswersComeFirstAndIncrementalOnesTakeTurns() {
    String large = "x".repeat(40_000);
    server.on("/large", exchange -> TestServer.stored(exchange, large));
    TestH2Client client = client(INITIAL_WINDOW, 1 << 20);
    client.get(1, "/large", "priority", "u=5");
    client.get(3, "/large", "priority", "u=4, i");
    client.get(5, "/large", "priority", "u=4, i");
    client.get(7, "/urgent", "priority", "u=0");
    client.window(0, 1 << 20).flush();
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      order.add(client.nextContent().stream());
    }
    assertThat(order).containsExactly(7, 3, 5, 3, 5, 3, 5, 1, 1, 1);
  }

  @Test
  void anUpdateOfAPriorityCountsEvenBeforeItsStream() {
    String large = "x".repeat(40_000);
    server.on("/large", exchange -> TestServer.stored(exchange, large));
    TestH2Client client = client(INITIAL_WINDOW, 1 << 20);
    byte[] value = "\0\0\0\3u=1".getBytes(StandardCharsets.ISO_8859_1);
    client.frame(TestH2Client.PRIORITY_UPDATE, 0, 0, value);
    client.get(1, "/large").get(3, "/urgent").window(0, 1 << 20).flush();
    assertThat(client.nextContent().stream()).isEqualTo(3);
  }

  @Test
  void aResetStreamKeepsItsPlaceUntilItsExchangeHasEnded() {
    List<Exchange> held = new ArrayList<>();
    server.on("/hold", held::add);
    TestH2Client client = client();
    for (int i = 0; i < 128; i++) {
      client.get(1 + 2 * i, "/hold");
    }
    client.settle();
    client.reset(1).settle();
    assertThat(client.get(257, "/one-too-many").resetCode(257)).isEqualTo(7);
    on(server.loops().getFirst(), () -> held.getFirst().reply().fail(gone()));
    assertThat(client.get(259, "/fits").answer(259).status()).isEqualTo(200);
    on(server.loops().getFirst(), () -> held.forEach(exchange -> exchange.reply().fail(gone())));
  }

  private static Failure gone() {
    return Failure.of(Failure.ErrorType.CONNECTION_REFUSED, "for this test");
  }

  @Test
  void sourcesHearOfAResetOnce() {
    List<Failure> cancelled = new ArrayList<>();
    server.on("/open", exchange -> exchange.reply().open(new Cancelled(cancelled)));
    TestH2Client client = client().get(1, "/open").settle();
    client.reset(1).settle();
    server.settle();
    assertThat(cancelled).hasSize(1);
    client.get(3, "/open").settle().close();
    Await.until(() -> cancelled.size() == 2, "the second is cancelled");
  }

  @Test
  void aDrainLosesNoRequest() {
    TestH2Client client = client();
    client.get(1, "/first").answer(1);
    server.loops().forEach(shard -> shard.drain(Duration.ZERO));
    assertThat(client.await(TestH2Client.GOAWAY, 0).number(0)).isEqualTo(Integer.MAX_VALUE);
    // It was on its way when we said so.
    client.get(3, "/second");
    assertThat(client.answer(3).content()).isEqualTo("/second");
    byte[] ping = client.await(TestH2Client.PING, 0).payload();
    client.frame(TestH2Client.PING, TestH2Client.ACK, 0, ping);
    assertThat(client.await(TestH2Client.GOAWAY, 0).number(0)).isEqualTo(3);
    client.awaitEnd();
  }

  @Test
  void aDrainReachesEachBusyConnection() {
    echo("/echo");
    List<TestH2Client> busy = List.of(client(), client());
    busy.forEach(client -> client.request(1, "POST", "/echo", false).settle());
    server.loops().forEach(shard -> shard.drain(Duration.ZERO));
    for (TestH2Client client : busy) {
      client.await(TestH2Client.GOAWAY, 0);
      assertThat(client.data(1, "last", true).answer(1).content()).isEqualTo("last");
    }
  }

  @Test
  void aDrainDoesNotWaitForASilentClient() {
    TestH2Client client = client();
    client.get(1, "/first").answer(1);
    server.loops().forEach(shard -> shard.drain(Duration.ZERO));
    client.await(TestH2Client.GOAWAY, 0);
    server.pass(Duration.ofSeconds(6));
    client.awaitEnd();
  }

  @Test
  void anIdleConnectionEndsWithAWord() {
    TestH2Client client = client();
    client.get(1, "/first").answer(1);
    server.pass(Duration.ofSeconds(61));
    assertThat(client.goAwayCode()).isEqualTo(NO_ERROR);
  }

  @Test
  void framesCutAnywhereAreTheSame() {
    TestH2Client client = client();
    client.request(1, "POST", "/cut", false, "content-length", "3").data(1, "abc", true);
    client.flushOctetByOctet();
    assertThat(client.answer(1).content()).isEqualTo("/cut");
  }

  private void echo(String path) {
    server.on(
        path,
        exchange -> {
          Reply reply = exchange.reply();
          reply.open(exchange.content());
          reply.head(ResponseHead.of(200), Reply.UNKNOWN_LENGTH);
          exchange.content().start(reply);
        });
  }

  private static void on(ServerShard loop, Runnable task) {
    loop.loop().submit(task).awaitUninterruptibly();
  }

  /** Takes content and notes how it broke off. */
  private record Noting(List<Failure> aborted) implements ContentSink {

    @Override
    public void write(ByteBuf chunk) {
      chunk.release();
    }

    @Override
    public void end(@Nullable Fields trailers) {}

    @Override
    public void abort(Failure why) {
      aborted.add(why);
    }
  }

  /** Gives nothing and notes that nobody wants it. */
  private record Cancelled(List<Failure> cancelled) implements ContentSource {

    @Override
    public void pause() {}

    @Override
    public void resume() {}

    @Override
    public void cancel(Failure why) {
      cancelled.add(why);
    }
  }
}
