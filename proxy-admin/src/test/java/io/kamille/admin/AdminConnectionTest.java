package io.kamille.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.admin.api.Answer;
import io.kamille.admin.api.Operation;
import io.kamille.admin.api.OperationTable;
import io.kamille.admin.auth.AuditLog;
import io.kamille.admin.auth.Authenticator;
import io.kamille.admin.auth.Peer;
import io.kamille.admin.auth.Scope;
import io.kamille.admin.auth.TokenFile;
import io.kamille.admin.live.History;
import io.kamille.admin.metric.PrometheusText;
import io.kamille.core.loop.ManualClock;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpResponseEncoder;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client that asks without end, and takes answers when the test says so. */
class AdminConnectionTest {

  private static final int MANY = 1_000;

  @TempDir private Path directory;
  private SmallAppliance appliance;
  private ManualClock clock;
  private final ArrayDeque<Runnable> control = new ArrayDeque<>();
  private final Untaken client = new Untaken();
  private int asked;
  private PrometheusText metrics;
  private AuditLog audit;
  private EmbeddedChannel channel;
  private String token;

  /** Keeps what is written until the client takes it. */
  private static final class Untaken extends ChannelOutboundHandlerAdapter {
    private final List<ChannelPromise> promises = new ArrayList<>();
    private final StringBuilder text = new StringBuilder();

    @Override
    public void write(ChannelHandlerContext context, Object written, ChannelPromise promise) {
      ByteBuf octets = (ByteBuf) written;
      text.append(octets.toString(StandardCharsets.UTF_8));
      octets.release();
      promises.add(promise);
    }
  }

  @BeforeEach
  void open() throws IOException {
    appliance = new SmallAppliance();
    clock = appliance.clock;
    audit = AuditLog.open(directory.resolve("audit.jsonl"), clock);
    Authenticator authenticator =
        new Authenticator(TokenFile.open(directory.resolve("token")), directory, clock, () -> null);
    token = Files.readString(directory.resolve("token")).strip();
    metrics = new PrometheusText(appliance.registry);
    OperationTable operations =
        new OperationTable(
            "1.2.3",
            appliance.operations(
                Operation.put("/v1/long", Scope.ADMIN, "Takes long content.")
                    .upTo(1 << 20)
                    .by(
                        () -> {
                          asked++;
                          return Answer.nothing();
                        })),
            metrics,
            new History(),
            authenticator,
            audit,
            "localhost",
            () -> "http://localhost");
    RequestDecoder decoder = new RequestDecoder();
    channel = new EmbeddedChannel();
    channel
        .pipeline()
        .addLast(
            client,
            decoder,
            new HttpResponseEncoder(),
            new AdminConnection(
                channel,
                operations,
                new LiveStreams(channel.eventLoop(), clock),
                _ -> control::add,
                clock,
                Duration.ofSeconds(75),
                new Peer.Network(InetAddress.getLoopbackAddress()),
                decoder));
  }

  @AfterEach
  void close() throws IOException {
    channel.close();
    metrics.close();
    audit.close();
    appliance.close();
  }

  private ByteBuf send(String text) {
    ByteBuf octets = Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1);
    channel.writeInbound(octets);
    return octets;
  }

  private String request(String line, String... fields) {
    StringBuilder request = new StringBuilder(line + " HTTP/1.1\r\nHost: localhost\r\n");
    for (String field : fields) {
      request.append(field).append("\r\n");
    }
    return request + "Authorization: Bearer " + token + "\r\n\r\n";
  }

  private void work() {
    while (!control.isEmpty()) {
      control.remove().run();
    }
    channel.runPendingTasks();
  }

  private void takeAnswers() {
    List<ChannelPromise> taken = List.copyOf(client.promises);
    client.promises.clear();
    taken.forEach(ChannelPromise::setSuccess);
    channel.runPendingTasks();
  }

  private int answers() {
    return client.text.toString().split("HTTP/1.1 ", -1).length - 1;
  }

  /** Operations are asked one by one, on the loop or on the control thread. */
  @ParameterizedTest
  @ValueSource(strings = {"/readyz", "/metrics"})
  void theNextRequestIsTakenWhenTheAnswerIs(String path) {
    send(("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").repeat(MANY));
    for (int i = 1; i <= 3; i++) {
      assertThat(control.size()).isLessThan(2);
      work();
      assertThat(answers()).isEqualTo(i);
      assertThat(channel.config().isAutoRead()).isFalse();
      takeAnswers();
    }
  }

  /** It was closed as idle while its request was under way. */
  @Test
  void aRequestItsOperationAndItsAnswerHaveEachTheirTime() {
    later(74);
    send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    later(74);
    work();
    assertThat(answers()).isEqualTo(1);
    later(74);
    assertThat(channel.isOpen()).isTrue();
    takeAnswers();
    later(74);
    assertThat(channel.isOpen()).isTrue();
    later(2);
    assertThat(channel.isOpen()).isFalse();
  }

  private void later(int seconds) {
    channel.advanceTimeBy(seconds, TimeUnit.SECONDS);
    channel.runPendingTasks();
  }

  @Test
  void allRequestsAreAnsweredInTheEndAndThenMoreIsRead() {
    send("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(MANY));
    for (int i = 0; i < MANY; i++) {
      takeAnswers();
    }
    assertThat(answers()).isEqualTo(MANY);
    assertThat(channel.config().isAutoRead()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET /readyz", "GET /v1/live", "no request"})
  void whatComesBehindTheLastAnswerIsDropped(String last) {
    String behind = "POST /v1/cache/purges HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(MANY);
    send(request(last, "Connection: close") + behind);
    work();
    assertThat(answers()).isEqualTo(1);
    assertThat(channel.config().isAutoRead()).isTrue();
    for (int i = 0; i < 3; i++) {
      assertThat(send(behind).refCnt()).isZero();
    }
    work();
    assertThat(answers()).isEqualTo(1);
  }

  /** Its refusal is an answer like any other. */
  @Test
  void aTooLongRequestIsRefusedBehindTheAnswerToTheOneBefore() {
    send(
        request("GET /v1/status")
            + request("POST /v1/cache/purges", "Content-Length: 70000")
            + "x".repeat(70_000));
    assertThat(client.text).isEmpty();
    work();
    takeAnswers();
    assertThat(client.text.toString()).startsWith("HTTP/1.1 200 ").contains("HTTP/1.1 413 ");
  }

  @Test
  void longContentIsTakenFromSomebodyWhoIsKnown() {
    send(request("PUT /v1/long", "Content-Type: application/json", "Content-Length: 100000"));
    work();
    send("x".repeat(100_000));
    work();
    assertThat(client.text.toString()).startsWith("HTTP/1.1 204 ");
    assertThat(asked).isOne();
  }

  @ParameterizedTest
  @ValueSource(strings = {"Content-Length: 100000", "Transfer-Encoding: chunked"})
  void longContentOfAStrangerIsNotEvenRead(String length) {
    token = "wrong";
    send(request("PUT /v1/long", "Content-Type: application/json", length));
    assertThat(channel.config().isAutoRead()).isFalse();
    work();
    assertThat(client.text.toString()).startsWith("HTTP/1.1 401 ");
    assertThat(send("x".repeat(50_000)).refCnt()).isZero();
    assertThat(asked).isZero();
  }
}
