package io.kamille.core.origin.check;

import static io.kamille.core.origin.send.UpstreamFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.loop.LoopGroup;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricFamily;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.HealthCheck;
import io.kamille.core.origin.HealthCheck.Protocol;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.OriginHealth;
import io.kamille.core.origin.OriginProtocol;
import io.kamille.core.origin.ProxyAnnouncement;
import io.kamille.core.origin.Standing.Phase;
import io.kamille.core.origin.UpstreamMetrics;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.check.HealthChecker.Target;
import io.kamille.core.origin.send.H2Conversation;
import io.kamille.core.origin.send.ScriptedOrigin;
import io.kamille.core.origin.send.ScriptedOrigin.Conversation;
import io.kamille.core.origin.send.ScriptedOrigin.Script;
import io.kamille.core.setting.OriginUrl;
import io.kamille.core.setting.Sections;
import io.kamille.core.socket.ClosedPort;
import io.kamille.core.socket.Connector;
import io.kamille.core.tls.Certificates;
import io.kamille.core.tls.OriginTls;
import io.kamille.core.tls.OriginTrust;
import io.netty.channel.ChannelException;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HealthCheckerTest {

  /*
   * Checks follow each other in milliseconds, whether the test looks or not. So an origin that has
   * come to where a test looks at it hangs, or waits for the test, and no check ends meanwhile.
   */
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

  private static final Script WELL = says(OK);
  private static final Script HANGS = Conversation::readHead;
  private static final Script BROKEN = says("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n");

  private final MetricRegistry registry = new MetricRegistry();
  private final HealthChecker checker =
      new HealthChecker(LoopGroup.sockets(), WallClock.system(), registry);

  @AfterEach
  void close() {
    checker.close();
  }

  @Test
  void failedChecksPutAnOriginOutAndPassedOnesBringItBack() throws Exception {
    CompletableFuture<Void> mended = new CompletableFuture<>();
    Script well = after(mended, WELL);
    try (var server = ScriptedOrigin.open(BROKEN, BROKEN, well, WELL, HANGS)) {
      Origin origin = follow(server.port(), check(Protocol.HTTP, LONG, 2, 2));
      until(origin, health -> !health.isIn());
      assertThat(origin.health().standing().why()).isEqualTo("its check failed: status 500");
      mended.complete(null);
      until(origin, health -> health.standing().phase() == Phase.RETURNING);
      assertThat(server.heads().getFirst())
          .startsWith("GET /health HTTP/1.1\r\nHost: 127.0.0.1:" + server.port() + "\r\n")
          .contains("User-Agent: Kamille-Check", "X-Probe: yes");
    }
  }

  @Test
  void anEndpointThatFlapsPutsNobodyOut() throws Exception {
    Script[] flapping = new Script[13];
    Arrays.setAll(flapping, i -> i % 3 == 2 ? WELL : BROKEN);
    flapping[12] = HANGS;
    try (var server = ScriptedOrigin.open(flapping)) {
      Origin origin = follow(server.port(), check(Protocol.HTTP, LONG, 2, 3));
      Await.until(() -> server.heads().size() == flapping.length);
      assertThat(origin.health().standing().isFromTheStart()).isTrue();
    }
  }

  @Test
  void anEndpointThatHangsFailsAfterTheTimeout() throws Exception {
    Script[] hanging = new Script[1000];
    Arrays.fill(hanging, HANGS);
    try (var server = ScriptedOrigin.open(hanging)) {
      Origin origin = follow(server.port(), check(Protocol.HTTP, Duration.ofMillis(50), 1, 1));
      until(origin, health -> health.standing().why().contains("no answer in 50 ms"));
      assertThat(origin.health().isIn()).isFalse();
    }
  }

  @Test
  void anEndpointThatFloodsIsLeftAfterItsStatusCode() throws Exception {
    CompletableFuture<Boolean> left = new CompletableFuture<>();
    Script floods =
        with -> {
          with.readHead();
          try {
            with.send("HTTP/1.1 500 Oops\r\nContent-Length: 1000000000\r\n\r\n");
            String chunk = "x".repeat(100_000);
            for (int i = 0; i < 10_000; i++) {
              with.send(chunk);
            }
            left.complete(false);
          } catch (IOException closed) {
            left.complete(true);
          }
        };
    try (var server = ScriptedOrigin.open(floods)) {
      Origin origin = follow(server.port(), check(Protocol.HTTP, LONG, 1, 1));
      until(origin, health -> !health.isIn());
      assertThat(await(left)).isTrue();
    }
  }

  @Test
  void contentDecidesIfItIsExpected() throws Exception {
    String well = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nall is well";
    String ill = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nall is ill";
    CompletableFuture<Void> mended = new CompletableFuture<>();
    Script mends = after(mended, says(well));
    try (var server = ScriptedOrigin.open(says(ill), mends, HANGS)) {
      Origin origin = follow(server.port(), check(Protocol.HTTP, LONG, 1, 1, "is well"));
      until(origin, health -> !health.isIn());
      assertThat(origin.health().standing().why()).contains("lacks what is expected");
      mended.complete(null);
      until(origin, health -> health.standing().phase() == Phase.RETURNING);
    }
  }

  @Test
  void anEndpointThatFloodsWithoutTheExpectedContentIsLeft() throws Exception {
    Script floods =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
          while (true) {
            with.send("x".repeat(10_000));
          }
        };
    try (var server = ScriptedOrigin.open(floods)) {
      Origin origin = follow(server.port(), check(Protocol.HTTP, LONG, 1, 1, "well"));
      until(origin, health -> !health.isIn());
    }
  }

  @Test
  void aGrpcServerIsInAsLongAsItServes() throws Exception {
    CompletableFuture<String> asked = new CompletableFuture<>();
    CompletableFuture<Map<String, String>> fields = new CompletableFuture<>();
    Script serves =
        with -> {
          var h2 = new H2Conversation(with);
          int stream = h2.request();
          fields.complete(h2.fields());
          asked.complete(h2.content(stream, 5));
          serving(h2, stream, '\1');
        };
    Script stops =
        with -> {
          var h2 = new H2Conversation(with);
          serving(h2, h2.request(), '\2');
        };
    CompletableFuture<Void> mended = new CompletableFuture<>();
    try (var server = ScriptedOrigin.open(stops, after(mended, serves), HANGS)) {
      Origin origin = follow(server.port(), check(Protocol.GRPC, LONG, 1, 1));
      until(origin, health -> !health.isIn());
      assertThat(origin.health().standing().why()).isEqualTo("its check failed: NOT_SERVING");
      mended.complete(null);
      until(origin, health -> health.standing().phase() == Phase.RETURNING);
      assertThat(await(fields))
          .containsEntry(":method", "POST")
          .containsEntry(":path", "/grpc.health.v1.Health/Check")
          .containsEntry("content-type", "application/grpc")
          .containsEntry("te", "trailers")
          .containsEntry("x-probe", "yes");
      assertThat(await(asked)).isEqualTo("\0\0\0\0\0");
    }
  }

  @Test
  void checksOfAnOriginThatSpeaksTlsGoByTls() throws Exception {
    var authority = new Certificates("authority");
    var own = authority.ecdsa("127.0.0.1");
    var foreign = new Certificates("another").ecdsa("127.0.0.1");
    Script serves =
        with -> {
          with.speaks("h2");
          var h2 = new H2Conversation(with);
          serving(h2, h2.request(), '\1');
        };
    try (var trusted = ScriptedOrigin.open(Certificates.server(own), serves, with -> {});
        var untrusted = ScriptedOrigin.open(Certificates.server(foreign), serves)) {
      UpstreamSettings settings = settings(check(Protocol.GRPC, LONG, 1, 1), OriginProtocol.AUTO);
      OriginTls tls =
          OriginTls.open(
              settings.tls(),
              new OriginTrust(List.of(authority.authority()), null),
              List.of("h2", "http/1.1"));
      List<Target> targets = new ArrayList<>();
      for (ScriptedOrigin server : List.of(trusted, untrusted)) {
        Origin origin = settings.origin(new OriginUrl(true, "127.0.0.1", server.port()), 1);
        origin.addresses(List.of(InetAddress.getLoopbackAddress()));
        targets.add(new Target(origin, settings, tls, metrics(origin)));
      }
      checker.follow(targets);
      targets.forEach(target -> untilChecked(target.origin()));
      until(targets.getLast().origin(), health -> !health.isIn());
      assertThat(targets.getFirst().origin().health().isIn()).isTrue();
    }
  }

  private static void serving(H2Conversation h2, int stream, char status) throws IOException {
    h2.head(stream, false, ":status", "200", "content-type", "application/grpc");
    h2.data(stream, false, "\0\0\0\0\2\b" + status);
    h2.head(stream, true, "grpc-status", "0");
    h2.await(H2Conversation.SETTINGS);
  }

  @Test
  void aServerWithoutTheHealthServiceFails() throws Exception {
    Script without =
        with -> {
          var h2 = new H2Conversation(with);
          h2.head(h2.request(), true, ":status", "200", "grpc-status", "12");
          h2.await(H2Conversation.SETTINGS);
        };
    try (var server = ScriptedOrigin.open(without, HANGS)) {
      Origin origin = follow(server.port(), check(Protocol.GRPC, LONG, 1, 1));
      until(origin, health -> !health.isIn());
      assertThat(origin.health().standing().why()).contains("grpc-status 12");
    }
  }

  @Test
  void garbageFails() throws Exception {
    try (var server = ScriptedOrigin.open(says("no HTTP at all\r\n\r\n"))) {
      Origin origin = follow(server.port(), check(Protocol.HTTP, LONG, 1, 1));
      until(origin, health -> !health.isIn());
    }
  }

  @Test
  void aPortThatTakesConnectionsPassesTcp() throws Exception {
    try (var server = ScriptedOrigin.open(HANGS)) {
      Origin origin = follow(server.port(), check(Protocol.TCP, LONG, 1, 1));
      untilChecked(origin);
      Origin.Checked last = Objects.requireNonNull(origin.lastCheck());
      assertThat(last.trouble()).isEmpty();
      assertThat(last.nextNanos()).isGreaterThan(last.nanos());
    }
  }

  /** The client of a check is nobody: an address of ours could be one that the origin trusts. */
  @Test
  void aCheckSaysByProxyProtocolThatItHasNoClient() throws Exception {
    for (Protocol kind : List.of(Protocol.TCP, Protocol.HTTP)) {
      CompletableFuture<String> first = new CompletableFuture<>();
      Script tells =
          with -> {
            first.complete(with.readUntil("\n"));
            with.readHead();
            with.send(OK);
          };
      UpstreamSettings settings = announcing(check(kind, LONG, 1, 1));
      try (var server = ScriptedOrigin.open(tells)) {
        Origin origin = origin(server.port(), settings);
        follow(origin, settings);
        assertThat(first.get(60, TimeUnit.SECONDS)).isEqualTo("PROXY UNKNOWN\r\n");
        untilChecked(origin);
        assertThat(Objects.requireNonNull(origin.lastCheck()).trouble()).isEmpty();
      }
    }
  }

  private static UpstreamSettings announcing(HealthCheck check) {
    return Sections.copy(settings(check))
        .with("connection.proxyProtocol", ProxyAnnouncement.V1)
        .record();
  }

  @Test
  void aClosedPortFailsBoth() throws Exception {
    try (var closed = ClosedPort.open()) {
      for (Protocol kind : List.of(Protocol.TCP, Protocol.HTTP)) {
        Origin origin = follow(closed.number(), check(kind, LONG, 1, 1));
        until(origin, health -> !health.isIn());
        assertThat(origin.health().isBarred()).as("takes no connection").isTrue();
      }
    }
  }

  @Test
  void aCheckWithoutASocketSaysNothingOfItsOrigin() throws Exception {
    for (Protocol kind : List.of(Protocol.TCP, Protocol.HTTP)) {
      MetricRegistry figures = new MetricRegistry();
      CountDownLatch asked = new CountDownLatch(5);
      Connector without =
          (bootstrap, address) -> {
            asked.countDown();
            return GlobalEventExecutor.INSTANCE.newFailedFuture(
                new ChannelException("Too many open files"));
          };
      try (var own = new HealthChecker(without, WallClock.system(), figures)) {
        UpstreamSettings settings = settings(check(kind, LONG, 1, 1));
        Origin origin = origin(80, settings);
        own.follow(List.of(target(origin, settings)));
        assertThat(asked.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(origin.health().standing().isFromTheStart()).as("%s", kind).isTrue();
        assertThat(Objects.requireNonNull(origin.lastCheck()).trouble())
            .contains("Too many open files");
        assertThat(figures.read())
            .flatExtracting(MetricFamily::samples)
            .allSatisfy(sample -> assertThat(sample.value()).isZero());
      }
    }
  }

  /** The pool of a check must not say that none of our connections is free. */
  @Test
  void anOriginThatNeverConnectsFailsHoweverShortOurLineWaits() throws Exception {
    Connector silent = (bootstrap, address) -> bootstrap.config().group().next().newPromise();
    try (var own = new HealthChecker(silent, WallClock.system(), registry)) {
      UpstreamSettings settings =
          impatient(settings(check(Protocol.HTTP, Duration.ofMillis(50), 1, 1)));
      Origin origin = origin(80, settings);
      own.follow(List.of(target(origin, settings)));
      until(origin, health -> !health.isIn());
    }
  }

  private static UpstreamSettings impatient(UpstreamSettings settings) {
    return Sections.copy(settings).with("pool.queueTimeout", Duration.ofMillis(1)).record();
  }

  @Test
  void anOriginWithoutAddressFails() throws Exception {
    UpstreamSettings settings = settings(check(Protocol.TCP, LONG, 1, 1));
    Origin origin = settings.origin(new OriginUrl(false, "nowhere.invalid", 80), 1);
    follow(origin, settings);
    until(origin, health -> !health.isIn());
    assertThat(origin.health().standing().why()).contains("no address is known");
  }

  @Test
  void atMostSoManyChecksRunAtATime() throws Exception {
    int count = HealthChecker.MOST_AT_A_TIME + 20;
    Script[] scripts = new Script[count];
    Arrays.fill(scripts, HANGS);
    UpstreamSettings settings = settings(check(Protocol.HTTP, LONG, 1, 1));
    try (var server = ScriptedOrigin.open(scripts)) {
      List<Target> targets =
          IntStream.range(0, count)
              .mapToObj(i -> target(origin(server.port(), settings), settings))
              .toList();
      checker.follow(targets);
      Await.until(() -> server.heads().size() == HealthChecker.MOST_AT_A_TIME);
      checker.follow(targets);
      assertThat(server.connections()).isEqualTo(HealthChecker.MOST_AT_A_TIME);
    }
  }

  @Test
  void checksThatEndAtOnceDoNotBeginEachOtherOnOneStack() throws Exception {
    List<Promise<Void>> hanging = new CopyOnWriteArrayList<>();
    CompletableFuture<EventLoop> loop = new CompletableFuture<>();
    CompletableFuture<Long> depth = new CompletableFuture<>();
    Connector connector =
        (bootstrap, address) -> {
          EventLoop own = (EventLoop) bootstrap.config().group();
          Promise<Void> never = own.newPromise();
          if (address.getPort() == 1) {
            hanging.add(never);
          } else {
            depth.complete(StackWalker.getInstance().walk(Stream::count));
          }
          loop.complete(own);
          return never;
        };
    try (var own = new HealthChecker(connector, WallClock.system(), registry)) {
      UpstreamSettings settings =
          settings(check(Protocol.TCP, Duration.ofNanos(1), LONG, 1, 100, ""));
      List<Target> targets = new ArrayList<>();
      for (int i = 0; i < HealthChecker.MOST_AT_A_TIME; i++) {
        targets.add(target(origin(1, settings), settings));
      }
      for (int i = 0; i < 500; i++) {
        Origin nameless = settings.origin(new OriginUrl(false, "nowhere.invalid", 80), 1);
        targets.add(target(nameless, settings));
      }
      targets.add(target(origin(2, settings), settings));
      own.follow(targets);
      Await.until(() -> hanging.size() == HealthChecker.MOST_AT_A_TIME);
      // All others wait by then: they were due in this order.
      await(await(loop).submit(() -> {}));
      hanging.getFirst().setSuccess(null);
      assertThat(await(depth)).isLessThan(500);
    }
  }

  @Test
  void anOriginThatIsGoneIsCheckedNoMore() throws Exception {
    try (var server = ScriptedOrigin.open(WELL, WELL, WELL)) {
      Origin origin = follow(server.port(), check(Protocol.HTTP, LONG, 1, 1));
      untilChecked(origin);
      checker.follow(List.of());
      Await.until(() -> origin.lastCheck() == null);
    }
  }

  @Test
  void theEndOfTheProberIsNoTroubleOfAnOrigin() throws Exception {
    try (var server = ScriptedOrigin.open(WELL, HANGS)) {
      Origin origin = follow(server.port(), check(Protocol.HTTP, LONG, 1, 1));
      Await.until(() -> server.heads().size() == 2);
      checker.close();
      Await.until(() -> origin.lastCheck() == null);
      assertThat(origin.health().isIn()).isTrue();
    }
  }

  /** As the other, when the test says so. */
  private static Script after(CompletableFuture<Void> word, Script script) {
    return with -> {
      word.join();
      script.run(with);
    };
  }

  private static Script says(String answer) {
    return with -> {
      with.readHead();
      with.send(answer);
    };
  }

  private static HealthCheck check(Protocol kind, Duration timeout, int rise, int fall) {
    return check(kind, timeout, rise, fall, "");
  }

  private static HealthCheck check(
      Protocol kind, Duration timeout, int rise, int fall, String contains) {
    return check(kind, Duration.ofMillis(10), timeout, rise, fall, contains);
  }

  private static HealthCheck check(
      Protocol kind, Duration interval, Duration timeout, int rise, int fall, String contains) {
    return Sections.copy(
            Sections.of(
                HealthCheck.SECTION, "{path: /health, headers: ['X-Probe: yes'], expect: [2xx]}"))
        .with("kind", kind)
        .with("interval", interval)
        .with("timeout", timeout)
        .with("rise", rise)
        .with("fall", fall)
        .with("contains", contains)
        .record();
  }

  private static UpstreamSettings settings(HealthCheck check) {
    return settings(
        check, check.kind() == Protocol.GRPC ? OriginProtocol.H2C : OriginProtocol.AUTO);
  }

  private static UpstreamSettings settings(HealthCheck check, OriginProtocol protocol) {
    return Sections.copy(UpstreamSettings.DEFAULTS)
        .with("protocol", protocol)
        .with("health.check", check)
        .record();
  }

  private Origin follow(int port, HealthCheck check) {
    UpstreamSettings settings = settings(check);
    Origin origin = origin(port, settings);
    follow(origin, settings);
    return origin;
  }

  private static Origin origin(int port, UpstreamSettings settings) {
    Origin origin = settings.origin(new OriginUrl(false, "127.0.0.1", port), 1);
    origin.addresses(List.of(InetAddress.getLoopbackAddress()));
    return origin;
  }

  private void follow(Origin origin, UpstreamSettings settings) {
    checker.follow(List.of(target(origin, settings)));
  }

  private Target target(Origin origin, UpstreamSettings settings) {
    return new Target(origin, settings, null, metrics(origin));
  }

  private static UpstreamMetrics metrics(Origin origin) {
    return new UpstreamMetrics(new MetricRegistry(), "test", List.of(origin));
  }

  private static void untilChecked(Origin origin) {
    Await.until(() -> origin.lastCheck() != null);
  }

  private static void until(Origin origin, Predicate<OriginHealth> condition) {
    Await.until(() -> condition.test(origin.health()));
  }
}
