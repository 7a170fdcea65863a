package io.kamille.core.client.h1;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.content.Spool;
import io.kamille.core.loop.LoopGroup;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.UpstreamMetrics;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.names.DnsLookup;
import io.kamille.core.origin.names.OriginNames;
import io.kamille.core.origin.send.ScriptedOrigin;
import io.kamille.core.origin.send.ScriptedOrigin.Script;
import io.kamille.core.origin.send.UpstreamHandler;
import io.kamille.core.setting.OriginUrl;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A client, the proxy without a cache, and an origin, over real sockets. */
class PassThroughIT {

  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  private final TestServer server = new TestServer();
  private final OriginNames names = OriginNames.open(DnsLookup::new, new MetricRegistry());

  @AfterEach
  void close() {
    server.close();
    names.close();
  }

  @Test
  void bothConnectionsPersist() throws IOException {
    try (var origin = ScriptedOrigin.open(answering(OK, OK))) {
      TestClient client = connect(origin);
      assertThat(client.get("/").answer().content()).isEqualTo("ok");
      server.settle();
      assertThat(client.get("/").answer().content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(1);
    }
  }

  @Test
  void pipelinedRequestsAreAnsweredInOrder() throws IOException {
    Script echo =
        with -> {
          while (true) {
            String head = with.readHead();
            String number = head.substring(head.indexOf("N: ") + 3, head.indexOf("N: ") + 4);
            with.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + number);
          }
        };
    try (var origin = ScriptedOrigin.open(echo, echo, echo)) {
      TestClient client = connect(origin);
      StringBuilder pipeline = new StringBuilder();
      for (int i = 1; i <= 3; i++) {
        pipeline.append("GET / HTTP/1.1\r\nHost: a\r\nN: ").append(i).append("\r\n\r\n");
      }
      client.send(pipeline.toString());
      for (int i = 1; i <= 3; i++) {
        assertThat(client.answer().content()).isEqualTo("" + i);
      }
    }
  }

  @Test
  void chunkedContentPassesBothWaysWithItsTrailers() throws IOException {
    Script echo =
        with -> {
          with.readHead();
          String content = with.readUntil("\r\n\r\n");
          with.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + content);
        };
    try (var origin = ScriptedOrigin.open(echo)) {
      TestClient client = connect(origin);
      client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
      client.send("3\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 5\r\n\r\n");
      Answer answer = client.answer();
      assertThat(answer.content()).isEqualTo("abcde");
      assertThat(answer.trailers()).containsExactly("X-Sum: 5");
      assertThat(origin.heads().getFirst()).contains("\r\nTransfer-Encoding: chunked\r\n");
    }
  }

  @Test
  void theHundredOfTheOriginReachesTheClientOnce() throws IOException {
    Script agrees =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 100 Continue\r\n\r\n");
          with.read(2);
          with.send(OK);
        };
    try (var origin = ScriptedOrigin.open(agrees)) {
      TestClient client = connect(origin);
      client.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
      assertThat(client.answer().status()).isEqualTo(100);
      client.send("hi");
      assertThat(client.answer().content()).isEqualTo("ok");
    }
  }

  @Test
  void anEarlyErrorReachesTheClientThatStillSends() throws IOException {
    Script refuses =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno");
          with.readToEnd();
        };
    try (var origin = ScriptedOrigin.open(refuses)) {
      TestClient client = connect(origin);
      client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n");
      client.send("x".repeat(100_000));
      Answer answer = client.answer();
      assertThat(answer.status()).isEqualTo(413);
      assertThat(answer.content()).isEqualTo("no");
    }
  }

  @Test
  void aSlowClientCostsNoMemoryAndGetsEveryOctet() throws IOException {
    long total = 256L << 20;
    AtomicLong sent = new AtomicLong();
    Script streams =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 200 OK\r\nContent-Length: " + total + "\r\n\r\n");
          String chunk = "0123456789abcdef".repeat(4096);
          while (sent.get() < total) {
            with.send(chunk);
            sent.addAndGet(chunk.length());
          }
        };
    try (var origin = ScriptedOrigin.open(streams)) {
      TestClient client = connect(origin);
      client.get("/");
      client.read(1);
      long before = -1;
      while (before != sent.get()) {
        before = sent.get();
        for (int i = 0; i < 100; i++) {
          server.settle();
        }
      }
      assertThat(before).isLessThan(32L << 20);
      client.readUntil("\r\n\r\n");
      byte[] expected = "0123456789abcdef".repeat(4096).getBytes(StandardCharsets.US_ASCII);
      for (long got = 0; got < total; got += expected.length) {
        assertThat(client.octets(expected.length)).isEqualTo(expected);
      }
    }
  }

  @Test
  void anUpgradedConnectionIsATunnelThatClosesSideBySide() throws IOException {
    Script tunnel =
        with -> {
          with.readHead();
          with.send(
              """
              HTTP/1.1 101 Switching Protocols\r
              Upgrade: websocket\r
              Connection: upgrade\r
              \r
              hi\
              """);
          String said = with.readToEnd();
          with.send("[" + said + "]");
          with.close();
        };
    try (var origin = ScriptedOrigin.open(tunnel)) {
      TestClient client = connect(origin);
      Answer answer = client.get("/", "Connection: Upgrade", "Upgrade: websocket").answer();
      assertThat(answer.status()).isEqualTo(101);
      assertThat(answer.field("Upgrade")).isEqualTo("websocket");
      assertThat(client.read(2)).isEqualTo("hi");
      client.send("one ").send("two").closeOutput();
      assertThat(client.rest()).isEqualTo("[one two]");
    }
  }

  @Test
  void aClientThatGoesAwayTakesItsOriginConnectionWithIt() throws Exception {
    CompletableFuture<Void> closed = new CompletableFuture<>();
    Script streams =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc");
          with.readToEnd();
          closed.complete(null);
        };
    try (var origin = ScriptedOrigin.open(streams)) {
      TestClient client = connect(origin);
      client.get("/");
      client.readUntil("abc");
      client.reset();
      closed.get(60, SECONDS);
    }
  }

  @Test
  void anOriginThatDiesMidContentNeverLooksLikeACleanEnd() throws IOException {
    Script dies =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
          with.close();
        };
    try (var origin = ScriptedOrigin.open(dies)) {
      TestClient client = connect(origin);
      client.get("/");
      assertThatThrownBy(client::answer).isInstanceOf(UncheckedIOException.class);
    }
  }

  @Test
  void anOriginThatIsNotThereIsABadGatewayWithItsReason() throws IOException {
    ScriptedOrigin origin = ScriptedOrigin.open();
    origin.close();
    Answer answer = connect(origin).get("/").answer();
    assertThat(answer.status()).isEqualTo(502);
    assertThat(answer.field("Proxy-Status")).startsWith("kamille; error=connection_refused");
  }

  private TestClient connect(ScriptedOrigin origin) {
    Origin only =
        UpstreamSettings.DEFAULTS.origin(new OriginUrl(false, "127.0.0.1", origin.port()), 1);
    List<Origin> origins = List.of(only);
    names.watch(origins);
    server.on(
        "/",
        new UpstreamHandler(
            UpstreamSettings.DEFAULTS,
            origins,
            null,
            LoopGroup.sockets(),
            WallClock.system(),
            new Spool(1 << 20, new MetricRegistry()),
            new UpstreamMetrics(new MetricRegistry(), "test", origins)));
    return server.connect();
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
}
