package io.kamille.core.client.h2;

import static io.kamille.core.client.h1.TestServer.octets;
import static io.kamille.core.client.h2.TestH2Client.DATA;
import static io.kamille.core.client.h2.TestH2Client.END_STREAM;
import static io.kamille.core.client.h2.TestH2Client.GOAWAY;
import static io.kamille.core.client.h2.TestH2Client.RST_STREAM;
import static io.kamille.core.client.h2.TestH2Client.SETTINGS;
import static io.kamille.core.client.h2.TestH2Client.WINDOW_UPDATE;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestServer;
import io.kamille.core.client.h1.TestServer.Ended;
import io.kamille.core.client.h2.TestH2Client.Answer;
import io.kamille.core.client.h2.TestH2Client.Frame;
import io.kamille.core.client.open.Protocols;
import io.kamille.core.content.Spool;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.WebSocketKey;
import io.kamille.core.loop.LoopGroup;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.UpstreamMetrics;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.names.DnsLookup;
import io.kamille.core.origin.names.OriginNames;
import io.kamille.core.origin.send.ScriptedOrigin;
import io.kamille.core.origin.send.ScriptedOrigin.Conversation;
import io.kamille.core.origin.send.ScriptedOrigin.Script;
import io.kamille.core.origin.send.UpstreamHandler;
import io.kamille.core.setting.OriginUrl;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** WebSockets of clients in HTTP/2 with origins in HTTP/1.1 (RFC 8441). */
class WebSocketIT {

  private static final int PROTOCOL_ERROR = 1;
  private static final int CANCEL = 8;
  private static final int EXTENDED_CONNECT = 8;
  private static final int INITIAL_WINDOW = 4;
  private static final int WINDOW = 64 * 1024;

  private final TestServer server = new TestServer(TestServer.SETTINGS, 1, Protocols.BOTH);
  private final OriginNames names = OriginNames.open(DnsLookup::new, new MetricRegistry());
  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
    server.close();
    names.close();
  }

  private TestH2Client client(int... settings) {
    TestH2Client client = TestH2Client.connect(server.address(), settings);
    open.add(client);
    return client;
  }

  /** An origin behind each path that has no handler yet. */
  private ScriptedOrigin origin(Script... scripts) throws IOException {
    ScriptedOrigin origin = ScriptedOrigin.open(scripts);
    open.add(origin);
    List<Origin> origins =
        List.of(
            UpstreamSettings.DEFAULTS.origin(new OriginUrl(false, "127.0.0.1", origin.port()), 1));
    names.watch(origins);
    UpstreamHandler handler =
        new UpstreamHandler(
            UpstreamSettings.DEFAULTS,
            origins,
            null,
            LoopGroup.sockets(),
            WallClock.system(),
            new Spool(1 << 20, new MetricRegistry()),
            new UpstreamMetrics(new MetricRegistry(), "test", origins));
    open.add(handler);
    server.on("/chat", handler);
    return origin;
  }

  private static TestH2Client ask(TestH2Client client, int stream, String... more) {
    String[] own = {
      ":method", "CONNECT",
      ":protocol", "websocket",
      ":scheme", "http",
      ":path", "/chat",
      ":authority", "a",
      "sec-websocket-version", "13",
    };
    List<String> all = new ArrayList<>(List.of(own));
    all.addAll(List.of(more));
    return client.headers(stream, false, all.toArray(String[]::new));
  }

  /** Switches to WebSocket as an origin does, with further lines, each with its CRLF. */
  private static void switchOver(Conversation with, String more) throws IOException {
    String head = with.readHead();
    String key =
        head.lines()
            .filter(line -> line.startsWith("Sec-WebSocket-Key: "))
            .map(line -> line.substring("Sec-WebSocket-Key: ".length()))
            .findFirst()
            .orElse("");
    with.send(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: "
            + WebSocketKey.answer(key)
            + "\r\n"
            + more
            + "\r\n");
  }

  private static void switchOver(Conversation with) throws IOException {
    switchOver(with, "");
  }

  private static String read(TestH2Client client, int stream, int length) {
    StringBuilder text = new StringBuilder();
    while (text.length() < length) {
      text.append(new String(client.await(DATA, stream).payload(), StandardCharsets.ISO_8859_1));
    }
    return text.toString();
  }

  @Test
  void clientsAreToldThatTheyMayAsk() {
    Frame settings = client().await(SETTINGS, 0);
    boolean isOffered = false;
    for (int at = 0; at < settings.payload().length; at += 6) {
      isOffered |= settings.payload()[at + 1] == EXTENDED_CONNECT && settings.number(at + 2) == 1;
    }
    assertThat(isOffered).isTrue();
  }

  @Test
  void theOriginSeesAnUpgradeOfHttp11AndOctetsPassUntouched() throws Exception {
    CompletableFuture<String> heard = new CompletableFuture<>();
    ScriptedOrigin origin =
        origin(
            with -> {
              switchOver(with, "Sec-WebSocket-Extensions: permessage-deflate\r\n");
              heard.complete(with.read(5));
              with.send("\u0081\u0002hi");
              with.readToEnd();
            });
    TestH2Client client = client();
    ask(client, 1, "sec-websocket-key", "mine", "sec-websocket-extensions", "permessage-deflate");
    client.data(1, "\u00c1\u0003\0\u00ff\n", false).flush();
    Answer answer = client.head(1);
    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.fields())
        .containsEntry("sec-websocket-extensions", "permessage-deflate")
        .doesNotContainKeys("sec-websocket-accept", "upgrade", "connection", "content-length");
    assertThat(read(client, 1, 4)).isEqualTo("\u0081\u0002hi");
    assertThat(heard.get(60, TimeUnit.SECONDS)).isEqualTo("\u00c1\u0003\0\u00ff\n");
    assertThat(origin.heads().getFirst())
        .startsWith("GET /chat HTTP/1.1\r\nHost: a\r\n")
        .containsOnlyOnce("Upgrade: websocket\r\n")
        .containsOnlyOnce("Connection: upgrade\r\n")
        .containsOnlyOnce("Sec-WebSocket-Key: ")
        .containsIgnoringCase("sec-websocket-version: 13\r\n")
        .containsIgnoringCase("sec-websocket-extensions: permessage-deflate\r\n")
        .doesNotContain("mine", "chunked", "protocol");
  }

  @Test
  void eachSideMayEndBeforeTheOther() throws Exception {
    CompletableFuture<String> rest = new CompletableFuture<>();
    origin(
        with -> {
          switchOver(with);
          with.readToEnd();
          with.send("still here");
          with.close();
        },
        with -> {
          switchOver(with);
          with.send("bye");
          with.closeOutput();
          rest.complete(with.read(10));
          with.readToEnd();
        });
    TestH2Client client = client();
    ask(client, 1).data(1, "last", true);
    assertThat(client.head(1).status()).isEqualTo(200);
    assertThat(read(client, 1, 10)).isEqualTo("still here");
    assertThat(client.await(DATA, 1).has(END_STREAM)).isTrue();
    ask(client, 3);
    assertThat(client.head(3).status()).isEqualTo(200);
    assertThat(read(client, 3, 3)).isEqualTo("bye");
    assertThat(client.await(DATA, 3).has(END_STREAM)).isTrue();
    client.data(3, "still here", true).flush();
    assertThat(rest.get(60, TimeUnit.SECONDS)).isEqualTo("still here");
    Await.until(() -> server.ended().size() == 2, "both ends");
    assertThat(server.ended())
        .containsExactly(new Ended("/chat", 200, 10), new Ended("/chat", 200, 3));
  }

  @Test
  void aResetOfTheClientClosesTheConnectionToTheOrigin() throws Exception {
    CountDownLatch closed = new CountDownLatch(1);
    origin(
        with -> {
          switchOver(with);
          with.readToEnd();
          closed.countDown();
        });
    TestH2Client client = ask(client(), 1);
    assertThat(client.head(1).status()).isEqualTo(200);
    client.data(1, "x", false).reset(1).flush();
    assertThat(closed.await(60, TimeUnit.SECONDS)).isTrue();
    assertThat(client.get(3, "/fine").answer(3).status()).isEqualTo(200);
  }

  @Test
  void aBrokenConnectionToTheOriginIsAResetOfTheStream() throws Exception {
    origin(
        with -> {
          switchOver(with);
          with.read(1);
          with.reset();
        });
    TestH2Client client = ask(client(), 1);
    assertThat(client.head(1).status()).isEqualTo(200);
    assertThat(client.data(1, "x", false).resetCode(1)).isEqualTo(CANCEL);
  }

  @Test
  void aSwitchWithoutTheAnswerToTheKeyIsABadGateway() throws Exception {
    String switched =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
    origin(
        with -> {
          with.readHead();
          with.send(switched + "\r\n");
        },
        with -> {
          with.readHead();
          with.send(switched + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n");
        });
    TestH2Client client = ask(client(), 1);
    assertThat(client.answer(1).status()).isEqualTo(502);
    assertThat(ask(client, 3).answer(3).status()).isEqualTo(502);
  }

  @Test
  void onlyASwitchIsASuccess() throws Exception {
    origin(
        with -> {
          with.readHead();
          with.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        },
        with -> {
          with.readHead();
          with.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
        });
    TestH2Client client = ask(client(), 1);
    assertThat(client.answer(1).status()).isEqualTo(502);
    Answer declined = ask(client, 3).data(3, "early", false).answer(3);
    assertThat(declined.status()).isEqualTo(403);
    assertThat(declined.content()).isEqualTo("no");
  }

  @Test
  void aStoredResponseIsNoSwitch() {
    TestH2Client client = client();
    client.headers(1, false, fields("CONNECT", ":protocol", "websocket", ":path", "/stored"));
    assertThat(client.answer(1).status()).isEqualTo(502);
  }

  private static String[] fields(String method, String... more) {
    List<String> all = new ArrayList<>(List.of(":method", method));
    all.addAll(List.of(more));
    all.addAll(List.of(":scheme", "http", ":authority", "a"));
    return all.toArray(String[]::new);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        ":method GET :protocol websocket :scheme http :path /chat :authority a",
        ":method CONNECT :protocol websocket :path /chat :authority a",
        ":method CONNECT :protocol websocket :scheme http :authority a",
        ":method CONNECT :protocol websocket :scheme http :path /chat",
        ":method CONNECT :protocol websocket :scheme http :path chat :authority a",
        ":method CONNECT :protocol websocket :scheme http :path * :authority a",
        ":method CONNECT :protocol websocket :protocol x :scheme http :path / :authority a",
        ":method CONNECT :protocol websocket :scheme http :path / :authority a content-length 0",
        ":method CONNECT :protocol websocket :scheme http :path / :authority a upgrade websocket",
        ":method CONNECT :scheme http :path /chat :authority a",
      })
  void whatIsMalformedReachesNobody(String fields) {
    AtomicReference<@Nullable Exchange> seen = new AtomicReference<>();
    server.on("/chat", seen::set);
    TestH2Client client = client().headers(1, false, fields.split(" ", -1));
    assertThat(client.resetCode(1)).isEqualTo(PROTOCOL_ERROR);
    assertThat(seen.get()).isNull();
    assertThat(server.ended()).isEmpty();
  }

  @Test
  void otherProtocolsAreNotOffered() {
    TestH2Client client = client();
    client.headers(1, false, fields("CONNECT", ":protocol", "connect-udp", ":path", "/"));
    assertThat(client.answer(1).status()).isEqualTo(501);
    client.headers(3, false, ":method", "CONNECT", ":authority", "a:443");
    assertThat(client.answer(3).status()).isEqualTo(405);
  }

  @Test
  void anOriginThatReadsNothingHoldsTheClientBack() throws Exception {
    CountDownLatch reads = new CountDownLatch(1);
    CompletableFuture<Integer> heard = new CompletableFuture<>();
    origin(
        with -> {
          switchOver(with);
          try {
            reads.await();
          } catch (InterruptedException stopped) {
            throw new IOException(stopped);
          }
          int all = 0;
          for (int more = with.skip(1 << 16); more > 0; more = with.skip(1 << 16)) {
            all += more;
            heard.complete(all);
          }
        });
    TestH2Client client = ask(client(), 1);
    assertThat(client.head(1).status()).isEqualTo(200);
    int window = WINDOW;
    String piece = "x".repeat(8 * 1024);
    while (window >= piece.length()) {
      // A kernel may take so much that one PING for each piece would be a flood.
      for (int i = 0; i < 4 && window >= piece.length(); i++) {
        client.data(1, piece, false);
        window -= piece.length();
      }
      client.settle();
      while (client.passed(WINDOW_UPDATE, 1) > 0) {
        window += client.await(WINDOW_UPDATE, 1).number(0);
      }
    }
    assertThat(client.get(3, "/others").answer(3).status()).isEqualTo(200);
    reads.countDown();
    assertThat(client.await(WINDOW_UPDATE, 1).number(0)).isPositive();
    assertThat(heard.get(60, TimeUnit.SECONDS)).isPositive();
  }

  @Test
  void aClientThatOpensNoWindowHoldsTheOriginBackForAsLongAsItLikes() {
    Paused source = new Paused();
    AtomicReference<@Nullable Exchange> switched = opens(source);
    TestH2Client client = ask(client(INITIAL_WINDOW, 10), 1);
    assertThat(client.head(1).status()).isEqualTo(200);
    onLoop(switched, exchange -> exchange.reply().write(octets("x".repeat(100_000))));
    assertThat(source.isPaused).isTrue();
    server.sweep();
    server.pass(Duration.ofSeconds(100));
    client.settle();
    assertThat(client.passed(RST_STREAM, 1)).isZero();
    client.window(1, 1 << 20).window(0, 1 << 20);
    assertThat(read(client, 1, 100_000)).hasSize(100_000);
    server.settle();
    assertThat(source.isPaused).isFalse();
  }

  @Test
  void aTunnelEndsSomeSecondsAfterADrainHasBegun() {
    Paused source = new Paused();
    AtomicReference<@Nullable Exchange> switched = opens(source);
    TestH2Client client = ask(client(), 1);
    assertThat(client.head(1).status()).isEqualTo(200);
    server.loops().forEach(shard -> shard.drain(Duration.ZERO));
    byte[] ping = client.await(TestH2Client.PING, 0).payload();
    client.frame(TestH2Client.PING, TestH2Client.ACK, 0, ping);
    assertThat(client.await(GOAWAY, 0).number(0)).isEqualTo(Integer.MAX_VALUE);
    assertThat(client.await(GOAWAY, 0).number(0)).isEqualTo(1);
    server.pass(Duration.ofSeconds(9));
    onLoop(switched, exchange -> exchange.reply().write(octets("still here")));
    assertThat(read(client, 1, 10)).isEqualTo("still here");
    server.pass(Duration.ofSeconds(2));
    assertThat(client.resetCode(1)).isEqualTo(CANCEL);
    client.awaitEnd();
    assertThat(source.cancelled).hasSize(1);
  }

  /** A station that switches at once and leaves what comes where it is. */
  private AtomicReference<@Nullable Exchange> opens(ContentSource source) {
    AtomicReference<@Nullable Exchange> switched = new AtomicReference<>();
    server.on(
        "/chat",
        exchange -> {
          exchange.reply().open(source);
          String key = exchange.request().fields().all(WebSocketKey.FIELD).getFirst();
          exchange
              .reply()
              .head(ResponseHead.of(101, WebSocketKey.ANSWER_FIELD, WebSocketKey.answer(key)), -1);
          switched.set(exchange);
        });
    return switched;
  }

  private void onLoop(AtomicReference<@Nullable Exchange> switched, ExchangeHandler task) {
    Exchange exchange = Objects.requireNonNull(switched.get());
    exchange.loop().submit(() -> task.handle(exchange)).awaitUninterruptibly();
  }

  /** Notes what it is told. */
  private static final class Paused implements ContentSource {

    private final List<Failure> cancelled = new ArrayList<>();
    private volatile boolean isPaused;

    @Override
    public void pause() {
      isPaused = true;
    }

    @Override
    public void resume() {
      isPaused = false;
    }

    @Override
    public void cancel(Failure why) {
      cancelled.add(why);
    }
  }
}
