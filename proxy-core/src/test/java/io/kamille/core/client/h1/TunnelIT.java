package io.kamille.core.client.h1;

import static io.kamille.core.client.h1.TestServer.octets;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.client.h1.TestServer.Ended;
import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import java.net.SocketException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Another protocol after 101 (RFC 9110 §7.8): octets both ways, each way ending by itself. */
class TunnelIT {

  private static final Failure BROKEN = Failure.of(ErrorType.CONNECTION_TERMINATED, "it broke");

  private final TestServer server = new TestServer();
  private final TestClient client = server.connect();
  private final TestSink sink = new TestSink();
  private final TestSource source = new TestSource();
  private final AtomicReference<@Nullable Exchange> switched = new AtomicReference<>();

  @AfterEach
  void close() {
    server.close();
  }

  @Test
  void octetsFlowBothWays() {
    open();
    client.send("GET / HTTP/1.1\r\n\r\n");
    Await.until(() -> sink.bytes.get() == 18, "the octets");
    assertThat(sink.text()).isEqualTo("GET / HTTP/1.1\r\n\r\n");
    say("hello");
    assertThat(client.read(5)).isEqualTo("hello");
    client.send("x");
    Await.until(() -> sink.bytes.get() == 19, "one more");
  }

  @Test
  void octetsThatCameBeforeTheSwitchAreNotLost() {
    server.on("/", switched::set);
    client.send(upgrade() + "early");
    Await.until(() -> switched.get() != null, "the request");
    onLoop(this::switchOver);
    assertThat(client.answer().status()).isEqualTo(101);
    Await.until(() -> sink.bytes.get() == 5, "the octets");
  }

  @Test
  void octetsThatCameWithTheRequestAreNotLost() {
    server.on("/", this::switchOver);
    client.send(upgrade() + "early");
    assertThat(client.answer().status()).isEqualTo(101);
    Await.until(() -> sink.bytes.get() == 5, "the octets");
  }

  @Test
  void aTunnelMayBeTakenHoweverSlowly() {
    try (TestServer strict = new TestServer(TestServer.withDownloadRate(), 1)) {
      strict.on("/", this::switchOver);
      TestClient slow = strict.connect(4_096);
      slow.send(upgrade()).answer();
      ByteBuf much = octets("x".repeat(16 << 20));
      onLoop(exchange -> exchange.reply().write(much));
      strict.settle();
      for (int i = 0; i < 5; i++) {
        strict.pass(Duration.ofSeconds(100));
      }
      assertThat(strict.connections()).isEqualTo(1);
    }
  }

  @Test
  void aTunnelEndsSomeSecondsAfterADrainHasBegun() {
    open();
    server.loops().getFirst().drain(Duration.ZERO);
    server.settle();
    server.pass(Duration.ofSeconds(9));
    say("still here");
    assertThat(client.read(10)).isEqualTo("still here");
    server.pass(Duration.ofSeconds(2));
    Await.until(() -> server.connections() == 0, "its end");
  }

  @Test
  void aTunnelGoesOnWhenAnotherProcessHasTakenOver() {
    open();
    server.loops().getFirst().drain(Duration.ofSeconds(15));
    server.settle();
    server.pass(Duration.ofSeconds(100));
    say("still here");
    assertThat(client.read(10)).isEqualTo("still here");
  }

  @Test
  void theClientMayEndFirst() {
    open();
    client.send("last").closeOutput();
    Await.until(() -> sink.ended, "the end");
    assertThat(sink.text()).isEqualTo("last");
    say("still here");
    assertThat(client.read(10)).isEqualTo("still here");
    onLoop(exchange -> exchange.reply().end(null));
    assertThat(client.isAtEnd()).isTrue();
    assertOver(10);
  }

  @Test
  void theOriginMayEndFirst() {
    open();
    say("last");
    onLoop(exchange -> exchange.reply().end(null));
    assertThat(client.rest()).isEqualTo("last");
    client.send("still here");
    Await.until(() -> sink.bytes.get() == 10, "the octets");
    assertThat(sink.ended).isFalse();
    client.closeOutput();
    Await.until(() -> sink.ended, "the end");
    assertOver(4);
  }

  @Test
  void theClientMayHaveEndedBeforeTheSwitch() {
    server.on("/", switched::set);
    client.send(upgrade() + "all").closeOutput();
    Await.until(() -> switched.get() != null, "the request");
    onLoop(this::switchOver);
    Await.until(() -> sink.ended, "the end");
    assertThat(sink.text()).isEqualTo("all");
    onLoop(exchange -> exchange.reply().end(null));
    assertThat(client.answer().status()).isEqualTo(101);
    assertThat(client.isAtEnd()).isTrue();
  }

  @Test
  void anOriginThatWantsNoMoreIsHeeded() {
    open();
    onLoop(exchange -> exchange.content().cancel(BROKEN));
    server.settle();
    client.send("into the void");
    say("hello");
    assertThat(client.read(5)).isEqualTo("hello");
    onLoop(exchange -> exchange.reply().end(null));
    assertThat(client.isAtEnd()).isTrue();
    assertThat(sink.bytes.get()).isZero();
    server.settle();
    assertThat(server.ended()).hasSize(1);
  }

  @Test
  void aBrokenTunnelIsReset() {
    open();
    say("hello");
    client.read(5);
    onLoop(exchange -> exchange.reply().abort(BROKEN));
    assertThatThrownBy(client::rest).hasRootCauseInstanceOf(SocketException.class);
    Await.until(() -> server.connections() == 0, "the end");
  }

  @Test
  void aClientThatIsGoneEndsBothWays() {
    open();
    client.reset();
    Await.until(() -> server.connections() == 0, "the end");
    server.settle();
    assertThat(sink.aborts).hasSize(1);
    assertThat(source.cancelled).hasSize(1);
    assertThat(server.ended()).hasSize(1);
  }

  @Test
  void aSilentTunnelIsClosed() {
    open();
    server.pass(Duration.ofSeconds(590));
    client.send("x");
    Await.until(() -> sink.bytes.get() == 1, "the octet");
    server.pass(Duration.ofSeconds(590));
    say("y");
    client.read(1);
    server.pass(Duration.ofSeconds(590));
    assertThat(server.connections()).isEqualTo(1);
    server.pass(Duration.ofSeconds(11));
    Await.until(() -> server.connections() == 0, "the end");
    server.settle();
    assertThat(sink.aborts).hasSize(1);
  }

  @Test
  void aSinkThatThrowsEndsTheTunnelAndOwnsTheOctets() {
    AtomicReference<@Nullable ByteBuf> given = new AtomicReference<>();
    AtomicReference<@Nullable Failure> aborted = new AtomicReference<>();
    ContentSink throwing =
        new ContentSink() {
          @Override
          public void write(ByteBuf chunk) {
            given.set(chunk);
            throw new IllegalStateException("a sink that throws, as this test wants it");
          }

          @Override
          public void end(@Nullable Fields trailers) {}

          @Override
          public void abort(Failure why) {
            aborted.set(why);
          }
        };
    server.on(
        "/",
        exchange -> {
          exchange.reply().open(source);
          exchange.reply().head(ResponseHead.of(101, "Upgrade", "echo"), -1);
          exchange.content().tunnel(throwing);
        });
    client.send(upgrade());
    assertThat(client.answer().status()).isEqualTo(101);
    client.send("x");
    Await.until(() -> server.connections() == 0, "the end");
    server.settle();
    ByteBuf octets = Objects.requireNonNull(given.get());
    assertThat(octets.refCnt()).isEqualTo(1);
    octets.release();
    assertThat(aborted.get()).isNotNull();
    assertThat(source.cancelled).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.0\r\nConnection: upgrade, keep-alive\r\nUpgrade: echo\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nUpgrade: echo\r\nContent-Length: 1\r\n\r\n",
      })
  void aSwitchThatCannotBeIsAProtocolError(String request) {
    server.on("/", this::switchOver);
    client.send(request);
    assertThat(client.answer().status()).isEqualTo(502);
    client.send(request.startsWith("POST") ? "x" : "");
    assertThat(client.get("/after").answer().content()).isEqualTo("/after");
    assertThat(source.cancelled).hasSize(1);
    assertThat(sink.bytes.get()).isZero();
  }

  @Test
  void anUpgradeMayBeDeclined() {
    server.on("/", exchange -> TestServer.answer(exchange.reply(), 200, 2, "no"));
    client.send(upgrade());
    assertThat(client.answer().content()).isEqualTo("no");
    assertThat(client.get("/after").answer().content()).isEqualTo("/after");
  }

  private void open() {
    server.on("/", this::switchOver);
    client.send(upgrade());
    Answer answer = client.answer();
    assertThat(answer.status()).isEqualTo(101);
    assertThat(answer.lines()).containsExactly("Upgrade: echo", "Connection: upgrade");
  }

  private void switchOver(Exchange exchange) {
    exchange.reply().open(source);
    exchange.reply().head(ResponseHead.of(101, "Upgrade", "echo"), -1);
    exchange.content().tunnel(sink);
    switched.set(exchange);
  }

  private void say(String octets) {
    onLoop(exchange -> exchange.reply().write(octets(octets)));
  }

  private void onLoop(ExchangeHandler task) {
    Await.until(() -> switched.get() != null, "the switch");
    Exchange exchange = Objects.requireNonNull(switched.get());
    exchange.loop().execute(() -> task.handle(exchange));
  }

  private void assertOver(long contentBytes) {
    Await.until(() -> server.connections() == 0, "the end");
    assertThat(server.ended()).containsExactly(new Ended("/", 101, contentBytes));
    assertThat(source.cancelled).isEmpty();
    assertThat(sink.aborts).isEmpty();
  }

  private static String upgrade() {
    return "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n";
  }
}
