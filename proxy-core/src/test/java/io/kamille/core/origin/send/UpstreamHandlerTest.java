package io.kamille.core.origin.send;

import static io.kamille.core.origin.send.UpstreamFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.LoopGroup;
import io.kamille.core.origin.ChoiceSettings;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.OriginHealth;
import io.kamille.core.origin.PoolSettings;
import io.kamille.core.origin.UpstreamMetrics;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.send.ScriptedOrigin.Script;
import io.kamille.core.setting.Sections;
import io.kamille.core.socket.ClosedPort;
import io.kamille.core.socket.Connector;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.util.internal.InternalThreadLocalMap;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UpstreamHandlerTest {

  private static final UpstreamSettings SETTINGS = UpstreamSettings.DEFAULTS;
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  private static final Script ANSWERS =
      with -> {
        while (true) {
          with.readHead();
          with.send(OK);
        }
      };

  private static final Script CLOSES_AFTER_THE_HEAD =
      with -> {
        with.readHead();
        with.close();
      };

  /** Answers the first request, and closes when the second one comes. */
  private static final Script GOES_STALE =
      with -> {
        with.readHead();
        with.send(OK);
        with.readHead();
        with.close();
      };

  private final ClosedPort closed;

  UpstreamHandlerTest() throws IOException {
    closed = ClosedPort.open();
  }

  @AfterEach
  void close() throws IOException {
    closed.close();
  }

  @Test
  void oneConnectionServesOneRequestAfterTheOther() throws Exception {
    try (var origin = ScriptedOrigin.open(ANSWERS);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      for (int i = 0; i < 5; i++) {
        assertThat(fixture.get("/").content()).isEqualTo("ok");
      }
      assertThat(origin.connections()).isEqualTo(1);
      assertThat(fixture.origins.getFirst().inFlight()).isZero();
    }
  }

  @Test
  void aRefusedConnectionIsABadGateway() throws Exception {
    try (var fixture = new UpstreamFixture(SETTINGS, closed.number())) {
      Failure failure = fixture.get("/").failure();
      assertThat(failure.kind()).isEqualTo(ErrorType.CONNECTION_REFUSED);
      assertThat(failure.status()).isEqualTo(502);
      assertThat(failure.reason()).contains(fixture.origins.getFirst().name());
    }
  }

  @Test
  void aRefusedConnectionIsTriedAtAnotherOrigin() throws Exception {
    try (var origin = ScriptedOrigin.open(ANSWERS, ANSWERS);
        var fixture = new UpstreamFixture(roundRobin(), closed.number(), origin.port())) {
      for (int i = 0; i < 4; i++) {
        assertThat(fixture.get("/").content()).isEqualTo("ok");
      }
    }
  }

  @Test
  void aRefusedConnectionIsTriedAtAnotherOriginWhateverTheMethod() throws Exception {
    try (var origin = ScriptedOrigin.open(ANSWERS);
        var fixture = new UpstreamFixture(roundRobin(), closed.number(), origin.port())) {
      RecordingReply reply = fixture.send("POST", "http://example.org/");
      assertThat(await(reply.ended()).content()).isEqualTo("ok");
    }
  }

  @Test
  void aConnectionThatClosesBeforeTheFirstOctetIsRetriedOnANewOne() throws Exception {
    try (var origin = ScriptedOrigin.open(CLOSES_AFTER_THE_HEAD, ANSWERS);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(2);
    }
  }

  @Test
  void aRequestIsRetriedNoMoreOftenThanAllowed() throws Exception {
    try (var origin = ScriptedOrigin.open(CLOSES_AFTER_THE_HEAD, CLOSES_AFTER_THE_HEAD, ANSWERS);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      assertThat(fixture.get("/").failure().kind()).isEqualTo(ErrorType.CONNECTION_TERMINATED);
      assertThat(origin.connections()).isEqualTo(2);
    }
  }

  @Test
  void theFirstRetryGoesAtOnceAndFurtherOnesWaitLongerAndLonger() {
    assertThat(RetryBudget.pauseNanos(0, 1)).isZero();
    assertThat(RetryBudget.pauseNanos(1, 1)).isZero();
    assertThat(RetryBudget.pauseNanos(2, 1)).isEqualTo(TimeUnit.MILLISECONDS.toNanos(25));
    assertThat(RetryBudget.pauseNanos(5, 1)).isEqualTo(TimeUnit.MILLISECONDS.toNanos(200));
    assertThat(RetryBudget.pauseNanos(20, 1)).isEqualTo(TimeUnit.MILLISECONDS.toNanos(200));
    assertThat(RetryBudget.pauseNanos(5, 0)).isZero();
  }

  @Test
  void aRetryAfterAPauseIsARetryLikeAnother() throws Exception {
    try (var origin =
            ScriptedOrigin.open(
                CLOSES_AFTER_THE_HEAD, CLOSES_AFTER_THE_HEAD, CLOSES_AFTER_THE_HEAD, ANSWERS);
        var fixture = new UpstreamFixture(roundRobin(5), origin)) {
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(fixture.metric(UpstreamMetrics.RETRIES)).isEqualTo(3);
      assertThat(fixture.origins.getFirst().inFlight()).isZero();
    }
  }

  @Test
  void aPostIsNeverSentTwice() throws Exception {
    try (var origin = ScriptedOrigin.open(CLOSES_AFTER_THE_HEAD, ANSWERS);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = await(fixture.send("POST", "http://example.org/").ended());
      assertThat(reply.failure().kind()).isEqualTo(ErrorType.CONNECTION_TERMINATED);
      assertThat(origin.connections()).isEqualTo(1);
    }
  }

  @Test
  void afterTheFirstOctetOfAResponseThereIsNoRetry() throws Exception {
    Script breaksOff =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 200");
          with.close();
        };
    try (var origin = ScriptedOrigin.open(breaksOff, ANSWERS);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      Failure failure = fixture.get("/").failure();
      assertThat(failure.kind()).isEqualTo(ErrorType.CONNECTION_TERMINATED);
      assertThat(failure.reason()).contains("within the response head");
      assertThat(origin.connections()).isEqualTo(1);
    }
  }

  @Test
  void aStalePooledConnectionCostsNeitherARetryNorTheOriginsReputation() throws Exception {
    try (var origin = ScriptedOrigin.open(GOES_STALE, ANSWERS);
        var fixture = new UpstreamFixture(noRetries(SETTINGS.pool()), origin)) {
      assertThat(fixture.get("/1").content()).isEqualTo("ok");
      assertThat(fixture.get("/2").content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(2);
      assertThat(fixture.origins.getFirst().health().isIn()).isTrue();
    }
  }

  @Test
  void aUsedConnectionThatComesBackFirstMayBeStaleToo() throws Exception {
    var areWarm = new CyclicBarrier(2);
    var isSent = new CountDownLatch(2);
    var closesFirst = new CompletableFuture<Void>();
    var isThirdSent = new CompletableFuture<Void>();
    var answersSecond = new CompletableFuture<Void>();
    var firstSent = new AtomicInteger();
    Script script =
        with -> {
          while (true) {
            String head = with.readHead();
            String target = head.substring("GET ".length(), head.indexOf(" HTTP/"));
            switch (target) {
              case "/warm" -> meet(areWarm);
              case "/first" -> {
                isSent.countDown();
                closesFirst.join();
                if (firstSent.incrementAndGet() <= 2) {
                  with.close();
                  return;
                }
              }
              case "/second" -> {
                isSent.countDown();
                answersSecond.join();
              }
              default -> isThirdSent.complete(null);
            }
            if (!target.equals("/third")) {
              with.send(OK);
            }
          }
        };
    PoolSettings two =
        Sections.copy(UpstreamFixture.unbuffered(SETTINGS).pool())
            .with("maxConnections", 2)
            .with("maxWaiting", 10)
            .record();
    try (var origin = ScriptedOrigin.open(script, script, script, script);
        var fixture = new UpstreamFixture(noRetries(two), origin)) {
      List<RecordingReply> warm = List.of(get(fixture, "/warm"), get(fixture, "/warm"));
      for (RecordingReply reply : warm) {
        assertThat(await(reply.ended()).content()).isEqualTo("ok");
      }
      fixture.onLoop(() -> null);
      RecordingReply first = get(fixture, "/first");
      RecordingReply second = get(fixture, "/second");
      isSent.await();
      get(fixture, "/third");
      fixture.onLoop(() -> null);
      // Its place goes to the third, so that the first waits for the connection of the second.
      closesFirst.complete(null);
      await(isThirdSent);
      answersSecond.complete(null);
      assertThat(await(second.ended()).content()).isEqualTo("ok");
      assertThat(await(first.ended()).content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(4);
      assertThat(fixture.origins.getFirst().health().isIn()).isTrue();
    }
  }

  private static RecordingReply get(UpstreamFixture fixture, String path) {
    return fixture.send("GET", "http://example.org" + path);
  }

  private static void meet(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (InterruptedException | BrokenBarrierException failure) {
      throw new IllegalStateException(failure);
    }
  }

  /** An origin that fails once is out. */
  private static UpstreamSettings noRetries(PoolSettings pool) {
    return Sections.copy(SETTINGS)
        .with("retries", 0)
        .with("health.failuresUntilOut", 1)
        .with("health.outFor", Duration.ofSeconds(10))
        .with("pool", pool)
        .record();
  }

  @Test
  void aStaleConnectionIsRepeatedAtTheSameOriginWhereTheOtherIsDrained() throws Exception {
    try (var origin = ScriptedOrigin.open(GOES_STALE, GOES_STALE, ANSWERS);
        var drained = ScriptedOrigin.open(ANSWERS);
        var fixture = new UpstreamFixture(roundRobin(), origin, drained)) {
      fixture.origins.getLast().health().drain(Duration.ofMinutes(10).toNanos());
      for (int i = 0; i < 4; i++) {
        assertThat(fixture.get("/").content()).isEqualTo("ok");
      }
      assertThat(drained.connections()).isZero();
      assertThat(fixture.origins).allMatch(each -> each.inFlight() == 0);
    }
  }

  @Test
  void aStaleConnectionIsRepeatedAtTheSameOriginWhereTheOtherIsOutAndTriedAlready()
      throws Exception {
    try (var origin = ScriptedOrigin.open(GOES_STALE, ANSWERS);
        var fixture = new UpstreamFixture(roundRobin(), origin.port(), closed.number())) {
      OriginHealth other = fixture.origins.getLast().health();
      while (other.isIn()) {
        other.failed(true, 0);
      }
      assertThat(other.claimTrial(0)).isTrue();
      assertThat(fixture.get("/1").content()).isEqualTo("ok");
      assertThat(fixture.get("/2").content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(2);
    }
  }

  @Test
  void aConnectionThatBreaksLeavesABackupAloneWhileItsOriginIsIn() throws Exception {
    try (var origin = ScriptedOrigin.open(GOES_STALE, CLOSES_AFTER_THE_HEAD, ANSWERS);
        var backup = ScriptedOrigin.open(ANSWERS);
        var fixture = new UpstreamFixture(roundRobin(), origin, backup)) {
      lastIsABackup(fixture);
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(3);
      assertThat(backup.connections()).isZero();
    }
  }

  @Test
  void aRequestThatPutsItsOriginOutGoesToTheBackup() throws Exception {
    try (var backup = ScriptedOrigin.open(ANSWERS);
        var fixture = new UpstreamFixture(roundRobin(), closed.number(), backup.port())) {
      lastIsABackup(fixture);
      for (int failed = 1; failed < SETTINGS.health().failuresUntilOut(); failed++) {
        assertThat(fixture.get("/").failure().kind()).isEqualTo(ErrorType.CONNECTION_REFUSED);
      }
      assertThat(fixture.get("/").content()).isEqualTo("ok");
    }
  }

  private static void lastIsABackup(UpstreamFixture fixture) throws Exception {
    Origin last = fixture.origins.getLast();
    fixture.change(List.of(fixture.origins.getFirst(), last.with(1, true, last.health())));
  }

  @Test
  void aPostOnAStaleConnectionIsNotRepeated() throws Exception {
    try (var origin = ScriptedOrigin.open(GOES_STALE, ANSWERS);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      fixture.get("/");
      RecordingReply reply = await(fixture.send("POST", "http://example.org/").ended());
      assertThat(reply.failure().kind()).isEqualTo(ErrorType.CONNECTION_TERMINATED);
    }
  }

  @Test
  void anIdleConnectionThatTheOriginClosesIsForgotten() throws Exception {
    CompletableFuture<Void> closed = new CompletableFuture<>();
    Script once =
        with -> {
          with.readHead();
          with.send(OK);
          with.closeOutput();
          with.readToEnd();
          closed.complete(null);
        };
    try (var origin = ScriptedOrigin.open(once, ANSWERS);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      fixture.get("/");
      await(closed);
      RecordingReply reply = await(fixture.send("POST", "http://example.org/").ended());
      assertThat(reply.content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(2);
    }
  }

  @Test
  void anIdleConnectionToAnAddressThatTheNameNoLongerHasIsClosed() throws Exception {
    CompletableFuture<Void> closed = new CompletableFuture<>();
    Script once =
        with -> {
          with.readHead();
          with.send(OK);
          with.readToEnd();
          closed.complete(null);
        };
    try (var origin = ScriptedOrigin.open(once);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      fixture.get("/");
      for (int lookUp = 0; lookUp < 3; lookUp++) {
        lookUp(fixture.origins.getFirst(), 2);
      }
      closed.get(60, TimeUnit.SECONDS);
    }
  }

  @Test
  void anIdleConnectionIsLentWhileTheNameTellsOtherAddressesForATime() throws Exception {
    try (var origin = ScriptedOrigin.open(ANSWERS);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      fixture.get("/");
      lookUp(fixture.origins.getFirst(), 2);
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      lookUp(fixture.origins.getFirst(), 3);
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(1);
    }
  }

  /** The name means another address of the loopback interface now. */
  private static void lookUp(Origin origin, int last) throws UnknownHostException {
    byte[] octets = {127, 0, 0, (byte) last};
    origin.addresses(List.of(InetAddress.getByAddress(octets)));
  }

  @Test
  void anIdleConnectionIsClosedAfterItsTime() throws Exception {
    CompletableFuture<Void> closed = new CompletableFuture<>();
    Script once =
        with -> {
          with.readHead();
          with.send(OK);
          with.readToEnd();
          closed.complete(null);
        };
    try (var origin = ScriptedOrigin.open(once);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      fixture.get("/");
      fixture.clock.advance(SETTINGS.pool().idleTimeout());
      await(closed);
    }
  }

  @Test
  void requestsWaitInLineForAConnectionAndAreRefusedWhenTheLineIsFull() throws Exception {
    CompletableFuture<Void> go = new CompletableFuture<>();
    Script waits =
        with -> {
          with.readHead();
          go.join();
          with.send(OK);
          with.readHead();
          with.send(OK);
        };
    try (var origin = ScriptedOrigin.open(waits);
        var fixture = new UpstreamFixture(pool(1, 1), origin)) {
      RecordingReply first = fixture.send("GET", "http://example.org/1");
      RecordingReply second = fixture.send("GET", "http://example.org/2");
      Failure third = fixture.get("/3").failure();
      assertThat(third.kind()).isEqualTo(ErrorType.CONNECTION_LIMIT_REACHED);
      assertThat(third.status()).isEqualTo(503);
      go.complete(null);
      assertThat(await(first.ended()).content()).isEqualTo("ok");
      assertThat(await(second.ended()).content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(1);
    }
  }

  @Test
  void whoWaitsTooLongInLineIsRefused() throws Exception {
    try (var origin = ScriptedOrigin.open(with -> with.readToEnd());
        var fixture = new UpstreamFixture(pool(1, 8), origin)) {
      fixture.send("GET", "http://example.org/1");
      RecordingReply second = fixture.send("GET", "http://example.org/2");
      fixture.onLoop(() -> null);
      fixture.clock.advance(SETTINGS.pool().queueTimeout());
      assertThat(await(second.ended()).failure().kind())
          .isEqualTo(ErrorType.CONNECTION_LIMIT_REACHED);
    }
  }

  @Test
  void whoLeavesWhileWaitingIsForgotten() throws Exception {
    CompletableFuture<Void> asked = new CompletableFuture<>();
    Script silent =
        with -> {
          with.readHead();
          asked.complete(null);
          with.readToEnd();
        };
    try (var origin = ScriptedOrigin.open(silent, ANSWERS);
        var fixture = new UpstreamFixture(pool(1, 1), origin)) {
      RecordingReply first = fixture.send("GET", "http://example.org/1");
      await(asked);
      RecordingReply second = fixture.send("GET", "http://example.org/2");
      fixture.onLoop(
          () -> {
            second.source().cancel(Failure.of(ErrorType.CLIENT_GONE, "gone"));
            first.source().cancel(Failure.of(ErrorType.CLIENT_GONE, "gone"));
            return null;
          });
      assertThat(fixture.get("/3").content()).isEqualTo("ok");
      assertThat(first.isEnded()).isFalse();
      assertThat(second.isEnded()).isFalse();
      assertThat(fixture.origins.getFirst().inFlight()).isZero();
    }
  }

  /** As when the process may open no more files. */
  @Test
  void aSocketThatCannotBeMadeIsOurOwnTroubleAndIsToldOnTheLoop() throws Exception {
    Connector none =
        Connector.of(
            () -> {
              throw new ChannelException("too many open files");
            });
    try (var fixture = new UpstreamFixture(SETTINGS, none, closed.number())) {
      for (int i = 0; i < 2 * SETTINGS.health().failuresUntilOut(); i++) {
        assertThat(fixture.get("/").failure().kind()).isEqualTo(ErrorType.CONNECTION_LIMIT_REACHED);
      }
      assertThat(fixture.origins.getFirst().health().isIn()).isTrue();
    }
  }

  /** It is done at once each time, and so never has much under way. */
  @Test
  void anOriginThatFailsAtOnceWithA500GetsASmallPart() throws Exception {
    Script serves = with -> answerAll(with, "200 OK");
    Script fails = with -> answerAll(with, "500 Internal Server Error");
    try (var good = ScriptedOrigin.open(serves);
        var bad = ScriptedOrigin.open(fails);
        var fixture = new UpstreamFixture(SETTINGS, good, bad)) {
      for (int i = 0; i < 200; i++) {
        fixture.get("/");
      }
      assertThat(bad.heads().size()).isLessThan(40);
    }
  }

  private static void answerAll(ScriptedOrigin.Conversation with, String status)
      throws IOException {
    while (true) {
      with.readHead();
      with.send("HTTP/1.1 " + status + "\r\nContent-Length: 0\r\n\r\n");
    }
  }

  /** RFC 8305 §5: a packet filter that drops everything costs a moment, not a timeout. */
  @Test
  void anAddressThatSaysNothingIsOvertakenByTheNext() throws Exception {
    List<Channel> silent = new CopyOnWriteArrayList<>();
    InetAddress nowhere = InetAddress.getByName("192.0.2.1");
    Connector connector =
        (bootstrap, address) -> {
          if (!address.getAddress().equals(nowhere)) {
            return LoopGroup.sockets().connect(bootstrap, address);
          }
          silent.add(bootstrap.channelFactory(LoopGroup::socket).register().channel());
          return bootstrap.config().group().next().newPromise();
        };
    try (var server = ScriptedOrigin.open(ANSWERS);
        var fixture = new UpstreamFixture(SETTINGS, connector, server.port())) {
      Origin origin = fixture.origins.getFirst();
      origin.addresses(List.of(nowhere, InetAddress.getLoopbackAddress()));
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(silent).hasSize(1);
      assertThat(silent.getFirst().closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
      assertThat(origin.addressesInTurn().getFirst().getAddress().isLoopbackAddress()).isTrue();
    }
  }

  @Test
  void aFaultOfOursWithinAResponseIsNotTheOrigins() throws Exception {
    RecordingReply faulty = new RecordingReply().faulty();
    try (var origin = ScriptedOrigin.open(ANSWERS, ANSWERS);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      fixture.send(RequestHead.of("GET", "http://example.org/"), RequestContent.NONE, faulty);
      Failure failure = await(faulty.ended()).failure();
      assertThat(failure.kind()).isEqualTo(ErrorType.PROXY_INTERNAL_ERROR);
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(fixture.origins.getFirst().health().failuresInAll()).isZero();
    }
  }

  @Test
  void anOriginWithoutAnAddressIsADnsError() throws Exception {
    try (var fixture = new UpstreamFixture(SETTINGS, closed.number())) {
      fixture.origins.getFirst().addresses(List.of());
      assertThat(fixture.get("/").failure().kind()).isEqualTo(ErrorType.DNS_ERROR);
    }
  }

  @Test
  void failuresInARowPutAnOriginOutAndASuccessBringsItBack() throws Exception {
    try (var origin =
            ScriptedOrigin.open(
                CLOSES_AFTER_THE_HEAD, CLOSES_AFTER_THE_HEAD, CLOSES_AFTER_THE_HEAD, ANSWERS);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      Origin only = fixture.origins.getFirst();
      fixture.get("/1");
      assertThat(only.health().isIn()).isTrue();
      assertThat(fixture.get("/2").content()).isEqualTo("ok");
      assertThat(only.health().isIn()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {-86_400_000, 86_400_000})
  void aStepOfTheClockBringsNoOriginBackAndPutsNoneOut(long stepMillis) throws Exception {
    try (var sound = ScriptedOrigin.open(ANSWERS, ANSWERS);
        var lost = ScriptedOrigin.open(ANSWERS);
        var fixture = new UpstreamFixture(SETTINGS, sound, lost)) {
      OriginHealth health = fixture.origins.getLast().health();
      for (int i = 0; i < SETTINGS.health().failuresUntilOut(); i++) {
        health.failed(false, fixture.clock.nanos());
      }
      fixture.clock.setTimeOfDay(fixture.clock.epochMillis() + stepMillis);
      fixture.get("/");
      assertThat(fixture.origins.getFirst().health().isIn()).isTrue();
      assertThat(lost.connections()).isZero();
      fixture.clock.advance(SETTINGS.health().outFor().multipliedBy(12));
      fixture.get("/");
      assertThat(lost.connections()).isEqualTo(1);
      assertThat(health.isIn()).isTrue();
    }
  }

  @Test
  void aPostIsNoProbeWhileAnotherOriginIsIn() throws Exception {
    try (var sound = ScriptedOrigin.open(ANSWERS, ANSWERS);
        var broken = ScriptedOrigin.open(CLOSES_AFTER_THE_HEAD);
        var fixture = new UpstreamFixture(SETTINGS, sound, broken)) {
      OriginHealth health = fixture.origins.getLast().health();
      while (health.isIn()) {
        health.failed(false, fixture.clock.nanos());
      }
      fixture.clock.advance(SETTINGS.health().outFor().multipliedBy(3).dividedBy(2));
      RecordingReply post = await(fixture.send("POST", "http://example.org/").ended());
      assertThat(post.content()).isEqualTo("ok");
      fixture.onLoop(() -> null);
      assertThat(broken.connections()).isZero();
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(broken.connections()).as("the probe").isEqualTo(1);
    }
  }

  @Test
  void theOnlyOriginIsAskedEvenWhenItIsOut() throws Exception {
    try (var origin = ScriptedOrigin.open(ANSWERS);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      Origin only = fixture.origins.getFirst();
      for (int i = 0; i < SETTINGS.health().failuresUntilOut(); i++) {
        only.health().failed(false, fixture.clock.nanos());
      }
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(only.health().isIn()).isTrue();
    }
  }

  @Test
  void whereNoOriginTakesConnectionsOneRequestAtATimeTriesAndTheRestIsRefused() throws Exception {
    try (var fixture = new UpstreamFixture(SETTINGS, closed.number())) {
      Origin only = fixture.origins.getFirst();
      for (int i = 0; i < SETTINGS.health().failuresUntilOut(); i++) {
        assertThat(fixture.get("/").failure().kind()).isEqualTo(ErrorType.CONNECTION_REFUSED);
      }
      assertThat(only.health().claimTrial(fixture.clock.nanos())).isTrue();
      assertThat(fixture.get("/").failure().kind()).isEqualTo(ErrorType.DESTINATION_UNAVAILABLE);
      fixture.clock.advance(SETTINGS.health().outFor());
      assertThat(fixture.get("/").failure().kind())
          .as("a trial that lapsed")
          .isEqualTo(ErrorType.CONNECTION_REFUSED);
      assertThat(fixture.get("/").failure().kind())
          .as("a trial that has ended")
          .isEqualTo(ErrorType.CONNECTION_REFUSED);
    }
  }

  @Test
  void aRetiredHandlerClosesItsIdleConnectionsAndStillAnswers() throws Exception {
    CompletableFuture<Void> closed = new CompletableFuture<>();
    Script once =
        with -> {
          with.readHead();
          with.send(OK);
          with.readToEnd();
          closed.complete(null);
        };
    try (var origin = ScriptedOrigin.open(once, ANSWERS);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      fixture.get("/");
      fixture.retire();
      await(closed);
      assertThat(fixture.get("/").content()).isEqualTo("ok");
    }
  }

  @Test
  void aRequestWhoseForwardsAreSpentIsAnsweredHere() throws Exception {
    try (var fixture = new UpstreamFixture(SETTINGS, closed.number())) {
      RecordingReply options = fixture.send("OPTIONS", "http://example.org/", "Max-Forwards", "0");
      assertThat(await(options.ended()).head().status()).isEqualTo(200);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "1", ""})
  void aTraceGoesNowhere(String maxForwards) throws Exception {
    try (var origin = ScriptedOrigin.open(ANSWERS);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply trace =
          fixture.send(
              "TRACE", "http://example.org/x", "Max-Forwards", maxForwards, "Cookie", "a=b");
      assertThat(await(trace.ended()).failure().status()).isEqualTo(405);
      assertThat(origin.connections()).isZero();
    }
  }

  @Test
  void manyRequestsAtOnceAllGetTheirOwnAnswer() throws Exception {
    Script echo =
        with -> {
          while (true) {
            String target = with.readHead().split(" ", 3)[1];
            with.send(
                "HTTP/1.1 200 OK\r\nContent-Length: " + target.length() + "\r\n\r\n" + target);
          }
        };
    Script[] scripts = new Script[64];
    Arrays.fill(scripts, echo);
    try (var origin = ScriptedOrigin.open(scripts);
        var fixture = new UpstreamFixture(pool(8, 1000), origin)) {
      List<RecordingReply> replies =
          IntStream.range(0, 500)
              .mapToObj(i -> fixture.send("GET", "http://example.org/" + i))
              .toList();
      for (int i = 0; i < replies.size(); i++) {
        assertThat(await(replies.get(i).ended()).content()).isEqualTo("/" + i);
      }
      assertThat(origin.connections()).isBetween(1, 8);
      assertThat(fixture.origins.getFirst().inFlight()).isZero();
    }
  }

  @Test
  void whatHappensIsCounted() throws Exception {
    try (var origin = ScriptedOrigin.open(CLOSES_AFTER_THE_HEAD, ANSWERS);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      fixture.get("/");
      fixture.get("/");
      assertThat(fixture.metric(UpstreamMetrics.REQUESTS)).isEqualTo(3);
      assertThat(fixture.metric(UpstreamMetrics.FAILURES)).isEqualTo(1);
      assertThat(fixture.metric(UpstreamMetrics.RETRIES)).isEqualTo(1);
      assertThat(fixture.metric(UpstreamMetrics.OPENED)).isEqualTo(2);
      assertThat(fixture.metric(UpstreamMetrics.CLOSED)).isEqualTo(1);
      assertThat(fixture.metric(UpstreamMetrics.IN_FLIGHT)).isEqualTo(0);
      assertThat(fixture.metric(UpstreamMetrics.ORIGIN_IN)).isEqualTo(1);
    }
  }

  /** RFC 9112 §9.2. A loop reads 2,048 octets at first; a pause keeps it from reading on. */
  @ParameterizedTest
  @ValueSource(ints = {1200, 2047, 2048})
  void whoWaitsForAConnectionDoesNotGetWhatLiesUnreadBehindTheResponseBefore(int total)
      throws Exception {
    String head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nX-Long: ";
    String filled = head + "x".repeat(total - head.length() - 4 - 1000) + "\r\n\r\n";
    String surplus = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nPOISON";
    CompletableFuture<Void> bothWait = new CompletableFuture<>();
    Script talksTooMuch =
        with -> {
          with.readHead();
          bothWait.join();
          with.send(filled + "y".repeat(1000) + surplus);
          with.readToEnd();
        };
    try (var origin = ScriptedOrigin.open(talksTooMuch, ANSWERS);
        var fixture = new UpstreamFixture(pool(1, 1), origin)) {
      RecordingReply first = new RecordingReply().pausedAtOnce();
      fixture.send(RequestHead.of("GET", "http://example.org/"), RequestContent.NONE, first);
      RecordingReply second = fixture.send("GET", "http://example.org/");
      fixture.onLoop(() -> null);
      bothWait.complete(null);
      await(first.ended());
      assertThat(first.received()).isEqualTo(1000);
      assertThat(await(second.ended()).content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(2);
    }
  }

  @Test
  void aPauseAskedOfARequestThatWaitsForAConnectionIsKept() throws Exception {
    CompletableFuture<Void> bothWait = new CompletableFuture<>();
    CompletableFuture<Void> answered = new CompletableFuture<>();
    Script answersBoth =
        with -> {
          with.readHead();
          bothWait.join();
          with.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
          with.readHead();
          with.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nlater");
          answered.complete(null);
          with.readToEnd();
        };
    try (var origin = ScriptedOrigin.open(answersBoth);
        var fixture = new UpstreamFixture(pool(1, 1), origin)) {
      RecordingReply first = fixture.send("GET", "http://example.org/");
      RecordingReply second = fixture.send("GET", "http://example.org/");
      fixture.onLoop(
          () -> {
            second.source().pause();
            return null;
          });
      bothWait.complete(null);
      assertThat(await(first.ended()).content()).isEqualTo("ok");
      await(answered);
      // Each task ends a poll, which would have found the answer.
      fixture.onLoop(() -> null);
      fixture.onLoop(() -> null);
      assertThat(second.begun()).isNotDone();
      fixture.loop().execute(() -> second.source().resume());
      assertThat(await(second.ended()).content()).isEqualTo("later");
    }
  }

  @Test
  void handlersThatComeAndGoLeaveNothingInTheTablesOfTheThreads() throws Exception {
    int before = InternalThreadLocalMap.lastVariableIndex();
    for (int i = 0; i < 8; i++) {
      try (var origin = ScriptedOrigin.open(ANSWERS);
          var fixture = new UpstreamFixture(SETTINGS, origin)) {
        assertThat(fixture.get("/").content()).isEqualTo("ok");
      }
    }
    assertThat(InternalThreadLocalMap.lastVariableIndex() - before).isLessThan(8);
  }

  private static UpstreamSettings roundRobin() {
    return roundRobin(1);
  }

  private static UpstreamSettings roundRobin(int retries) {
    return Sections.copy(SETTINGS)
        .with("choice.kind", ChoiceSettings.Algorithm.ROUND_ROBIN)
        .with("retries", retries)
        .record();
  }

  private static UpstreamSettings pool(int maxConnections, int maxWaiting) {
    return Sections.copy(UpstreamFixture.unbuffered(SETTINGS))
        .with("pool.maxConnections", maxConnections)
        .with("pool.maxWaiting", maxWaiting)
        .with("pool.idleTimeout", Duration.ofMinutes(1))
        .record();
  }
}
