package io.kamille.core.origin.send;

import static io.kamille.core.client.h2.TestH2Client.DATA;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestServer;
import io.kamille.core.client.h2.TestH2Client;
import io.kamille.core.client.h2.TestH2Client.Answer;
import io.kamille.core.client.open.Protocols;
import io.kamille.core.content.Spool;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeNotes;
import io.kamille.core.loop.LoopGroup;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.UpstreamMetrics;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.names.DnsLookup;
import io.kamille.core.origin.names.OriginNames;
import io.kamille.core.origin.send.ScriptedOrigin.Script;
import io.kamille.core.setting.OriginUrl;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Calls of gRPC, and trailers of requests, from clients in HTTP/2 to origins. */
class GrpcIT {

  private static final int PROTOCOL_ERROR = 1;
  private static final int CANCEL = 8;

  private final TestServer server = new TestServer(TestServer.SETTINGS, 1, Protocols.BOTH);
  private final OriginNames names = OriginNames.open(DnsLookup::new, new MetricRegistry());
  private final AtomicReference<@Nullable Exchange> called = new AtomicReference<>();
  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
    server.close();
    names.close();
  }

  /** A client of an origin that follows the script. */
  private TestH2Client client(UpstreamSettings settings, Script script) throws IOException {
    ScriptedOrigin origin = ScriptedOrigin.open(script);
    open.add(origin);
    List<Origin> origins =
        List.of(settings.origin(new OriginUrl(false, "127.0.0.1", origin.port()), 1));
    names.watch(origins);
    UpstreamHandler handler =
        new UpstreamHandler(
            settings,
            origins,
            null,
            LoopGroup.sockets(),
            WallClock.system(),
            new Spool(1 << 20, new MetricRegistry()),
            new UpstreamMetrics(new MetricRegistry(), "test", origins));
    open.add(handler);
    server.on(
        "/svc/Do",
        exchange -> {
          called.set(exchange);
          handler.handle(exchange);
        });
    TestH2Client client = TestH2Client.connect(server.address());
    open.add(client);
    return client;
  }

  private static TestH2Client call(TestH2Client client) {
    return client.request(
        1,
        "POST",
        "/svc/Do",
        false,
        "te",
        "trailers",
        "content-type",
        "application/grpc",
        "grpc-timeout",
        "5S");
  }

  private int grpcStatus() {
    Await.until(() -> !server.ended().isEmpty(), "the end");
    return Objects.requireNonNull(called.get()).notes().grpcStatus();
  }

  @Test
  void messagesPassBothWaysAsTheyComeAndTheStatusFollows() throws Exception {
    CompletableFuture<H2Conversation> asked = new CompletableFuture<>();
    TestH2Client client =
        client(
            H2OriginTest.SETTINGS,
            with -> {
              H2Conversation h2 = new H2Conversation(with);
              int stream = h2.request();
              asked.complete(h2);
              h2.content(stream, 3);
              h2.head(stream, false, ":status", "200", "content-type", "application/grpc");
              h2.data(stream, false, "ONE");
              h2.content(stream, 3);
              h2.data(stream, false, "TWO");
              while (!h2.await(DATA).has(H2Conversation.END_STREAM)) {
                // More of the call.
              }
              h2.head(stream, true, "grpc-status", "0", "grpc-message", "fine");
              h2.request();
            });
    call(client).data(1, "one", false).flush();
    assertThat(client.head(1).fields()).containsEntry("content-type", "application/grpc");
    assertThat(text(client)).isEqualTo("ONE");
    client.data(1, "two", false).flush();
    assertThat(text(client)).isEqualTo("TWO");
    client.data(1, "", true).flush();
    assertThat(client.fields(1))
        .containsEntry("grpc-status", "0")
        .containsEntry("grpc-message", "fine");
    assertThat(asked.get(60, TimeUnit.SECONDS).fields())
        .containsEntry("te", "trailers")
        .containsEntry("grpc-timeout", "5S")
        .containsEntry("content-type", "application/grpc")
        .doesNotContainKey("content-length");
    assertThat(grpcStatus()).isZero();
  }

  private static String text(TestH2Client client) {
    return new String(client.await(DATA, 1).payload(), StandardCharsets.ISO_8859_1);
  }

  @Test
  void aResponseOfTrailersAloneIsOneSection() throws Exception {
    TestH2Client client =
        client(
            H2OriginTest.SETTINGS,
            with -> {
              H2Conversation h2 = new H2Conversation(with);
              int stream = h2.request();
              h2.head(
                  stream,
                  true,
                  ":status",
                  "200",
                  "content-type",
                  "application/grpc",
                  "grpc-status",
                  "12");
              h2.request();
            });
    Answer answer = call(client).data(1, "one", true).answer(1);
    assertThat(answer.fields()).containsEntry("grpc-status", "12");
    assertThat(answer.trailers()).isEmpty();
    assertThat(grpcStatus()).isEqualTo(12);
  }

  @Test
  void aCallThatItsClientGivesUpIsGivenUpAtTheOrigin() throws Exception {
    CompletableFuture<Integer> code = new CompletableFuture<>();
    TestH2Client client =
        client(
            H2OriginTest.SETTINGS,
            with -> {
              H2Conversation h2 = new H2Conversation(with);
              h2.head(h2.request(), false, ":status", "200");
              code.complete(h2.await(H2Conversation.RST_STREAM).number(0));
            });
    call(client).flush();
    assertThat(client.head(1).status()).isEqualTo(200);
    client.reset(1).flush();
    assertThat(code.get(60, TimeUnit.SECONDS)).isEqualTo(CANCEL);
    assertThat(grpcStatus()).isEqualTo(ExchangeNotes.NO_GRPC_STATUS);
  }

  @Test
  void trailersOfARequestReachAnOriginInHttp2() throws Exception {
    CompletableFuture<List<String>> heard = new CompletableFuture<>();
    TestH2Client client =
        client(
            H2OriginTest.SETTINGS,
            with -> {
              H2Conversation h2 = new H2Conversation(with);
              int stream = h2.request();
              h2.content(stream, 3);
              h2.request();
              heard.complete(List.copyOf(h2.fields().keySet()));
              h2.answer(stream, "ok");
              h2.request();
            });
    call(client).data(1, "one", false);
    client.headers(1, true, "x-sum", "1", "content-length", "3", "client-cert", "forged");
    assertThat(client.answer(1).content()).isEqualTo("ok");
    assertThat(heard.get(60, TimeUnit.SECONDS)).containsExactly("x-sum");
  }

  @Test
  void trailersOfARequestReachAnOriginInHttp11BehindItsChunks() throws Exception {
    CompletableFuture<String> heard = new CompletableFuture<>();
    TestH2Client client =
        client(
            UpstreamSettings.DEFAULTS,
            with -> {
              with.readHead();
              heard.complete(with.readUntil("0\r\n") + with.readUntil("\r\n\r\n"));
              with.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
              with.readToEnd();
            });
    call(client).data(1, "one", false);
    client.headers(1, true, "x-sum", "1", "transfer_encoding", "chunked", "host", "b");
    assertThat(client.answer(1).content()).isEqualTo("ok");
    assertThat(heard.get(60, TimeUnit.SECONDS)).isEqualTo("3\r\none\r\n0\r\nx-sum: 1\r\n\r\n");
  }

  @Test
  void trailersOverTheirLimitsOrMalformedAreAFaultOfTheStream() throws Exception {
    CompletableFuture<@Nullable Void> asked = new CompletableFuture<>();
    CompletableFuture<Integer> code = new CompletableFuture<>();
    TestH2Client client =
        client(
            H2OriginTest.SETTINGS,
            with -> {
              H2Conversation h2 = new H2Conversation(with);
              h2.content(h2.request(), 3);
              asked.complete(null);
              code.complete(h2.await(H2Conversation.RST_STREAM).number(0));
            });
    call(client).data(1, "one", false).flush();
    asked.get(60, TimeUnit.SECONDS);
    String[] many = new String[66];
    for (int i = 0; i < many.length; i++) {
      many[i] = i % 2 == 0 ? "x-" + i : "1";
    }
    client.headers(1, true, many);
    assertThat(client.resetCode(1)).isEqualTo(PROTOCOL_ERROR);
    assertThat(code.get(60, TimeUnit.SECONDS)).isEqualTo(CANCEL);
    client.request(3, "POST", "/x", false).headers(3, true, "X-Upper", "1");
    assertThat(client.resetCode(3)).isEqualTo(PROTOCOL_ERROR);
    client.request(5, "POST", "/x", false).headers(5, true, ":path", "/y");
    assertThat(client.resetCode(5)).isEqualTo(PROTOCOL_ERROR);
  }

  /** As clients of gRPC do, which measure the path by PING and open their windows at once. */
  @Test
  void aClientMayAnswerEachSmallMessageWithAPingAndWindows() throws Exception {
    int messages = 2_000;
    TestH2Client client =
        client(
            H2OriginTest.SETTINGS,
            with -> {
              H2Conversation h2 = new H2Conversation(with);
              int stream = h2.request();
              h2.head(stream, false, ":status", "200");
              for (int i = 0; i < messages; i++) {
                h2.content(stream, 1);
                h2.data(stream, false, "m");
              }
              h2.head(stream, true, "grpc-status", "0");
              h2.request();
            });
    call(client).flush();
    assertThat(client.head(1).status()).isEqualTo(200);
    for (int i = 0; i < messages; i++) {
      client.data(1, "m", false).flush();
      assertThat(text(client)).isEqualTo("m");
      client.window(0, 1).window(1, 1).ping();
    }
    assertThat(client.fields(1)).containsEntry("grpc-status", "0");
  }
}
