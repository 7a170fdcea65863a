package io.kamille.core.origin.send;

import static io.kamille.core.origin.send.UpstreamFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.RequestHead;
import io.kamille.core.origin.ChoiceSettings;
import io.kamille.core.origin.HealthPolicy;
import io.kamille.core.origin.Hedge;
import io.kamille.core.origin.OriginHealth;
import io.kamille.core.origin.PoolSettings;
import io.kamille.core.origin.UpstreamMetrics;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.send.ScriptedOrigin.Script;
import io.kamille.core.setting.Sections;
import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class HedgedRequestTest {

  private static final Hedge SOON = new Hedge(true, Duration.ofMillis(1));
  private static final Hedge LATE = new Hedge(true, Duration.ofMinutes(1));
  private static final UpstreamSettings DEFAULTS = UpstreamSettings.DEFAULTS;

  /** A connection to each origin, and no line for it. */
  private static final PoolSettings ONE_AT_A_TIME =
      Sections.copy(PoolSettings.DEFAULTS)
          .with("maxConnections", 1)
          .with("maxWaiting", 0)
          .with("queueTimeout", Duration.ofMinutes(1))
          .with("uploadBufferBytes", 0)
          .with("responseBufferBytes", 0)
          .record();

  private static final Script ANSWERS = answers("200 OK", Integer.MAX_VALUE);
  private static final Script UNAVAILABLE = answers("503 Service Unavailable", Integer.MAX_VALUE);

  /** Takes a request and never answers. */
  private static final Script HANGS = answers("200 OK", 0);

  private static Script answers(String status, int times) {
    return with -> {
      for (int i = 0; i < times; i++) {
        with.readHead();
        with.send("HTTP/1.1 " + status + "\r\nContent-Length: 2\r\n\r\nok");
      }
      with.readHead();
    };
  }

  private static Script[] times(int count, Script script) {
    return Collections.nCopies(count, script).toArray(Script[]::new);
  }

  @Test
  void aSecondOriginAnswersForOneThatHangs() throws Exception {
    var asked = new CompletableFuture<Void>();
    Script hangs =
        with -> {
          with.readHead();
          asked.complete(null);
          with.readHead();
        };
    Script answersLater =
        with -> {
          asked.join();
          ANSWERS.run(with);
        };
    try (var hanging = ScriptedOrigin.open(hangs);
        var sound = ScriptedOrigin.open(answersLater);
        var fixture = new UpstreamFixture(hedging(SOON), hanging, sound)) {
      RecordingReply reply = fixture.get("/");
      assertThat(reply.head().status()).isEqualTo(200);
      assertThat(reply.content()).isEqualTo("ok");
      assertThat(hanging.heads()).hasSize(1);
      assertThat(fixture.metric(UpstreamMetrics.HEDGES)).isEqualTo(1);
      assertNothingIsUnderWay(fixture);
    }
  }

  @Test
  void anOriginInTimeIsTheOnlyOneAsked() throws Exception {
    try (var first = ScriptedOrigin.open(ANSWERS);
        var second = ScriptedOrigin.open(ANSWERS);
        var fixture = new UpstreamFixture(hedging(LATE), first, second)) {
      for (int i = 0; i < 10; i++) {
        assertThat(fixture.get("/").content()).isEqualTo("ok");
      }
      assertThat(first.heads().size() + second.heads().size()).isEqualTo(10);
      assertThat(fixture.metric(UpstreamMetrics.HEDGES)).isZero();
    }
  }

  @Test
  void anOriginThatCannotServeIsNoAnswerWhileAnotherMayHaveOne() throws Exception {
    try (var broken = ScriptedOrigin.open(UNAVAILABLE);
        var sound = ScriptedOrigin.open(ANSWERS);
        var fixture = new UpstreamFixture(hedging(LATE), broken, sound)) {
      assertThat(fixture.get("/").head().status()).isEqualTo(200);
      assertThat(broken.heads()).hasSize(1);
      assertNothingIsUnderWay(fixture);
    }
  }

  @Test
  void theLastAnswerCountsWhateverItIs() throws Exception {
    try (var one = ScriptedOrigin.open(UNAVAILABLE);
        var other = ScriptedOrigin.open(UNAVAILABLE);
        var fixture = new UpstreamFixture(hedging(LATE), one, other)) {
      RecordingReply reply = fixture.get("/");
      assertThat(reply.head().status()).isEqualTo(503);
      assertThat(reply.content()).isEqualTo("ok");
    }
  }

  private static final Script COME_BACK =
      with -> {
        with.readHead();
        with.send("HTTP/1.1 503 Sorry\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n");
        with.readHead();
      };

  @Test
  void ifTheSecondOriginFailsTheClientGetsTheStatusOfTheFirst() throws Exception {
    Script closes =
        with -> {
          with.readHead();
          with.close();
        };
    try (var refusing = ScriptedOrigin.open(COME_BACK);
        var closing = ScriptedOrigin.open(closes, closes, closes);
        var fixture = new UpstreamFixture(hedging(LATE), refusing, closing)) {
      Failure failure = fixture.get("/").failure();
      assertThat(failure.status()).isEqualTo(503);
      assertThat(failure.retryAfterSeconds()).isEqualTo(7);
      assertThat(closing.heads()).isNotEmpty();
      assertNothingIsUnderWay(fixture);
    }
  }

  @Test
  void aSecondOriginThatHangsKeepsARefusalBackForASecond() throws Exception {
    try (var refusing = ScriptedOrigin.open(COME_BACK);
        var hanging = ScriptedOrigin.open(HANGS);
        var fixture = new UpstreamFixture(hedging(SOON), refusing, hanging)) {
      Failure failure = fixture.get("/").failure();
      assertThat(failure.status()).isEqualTo(503);
      assertThat(failure.retryAfterSeconds()).isEqualTo(7);
      assertNothingIsUnderWay(fixture);
    }
  }

  @Test
  void aRetryDoesNotGoWhereTheOtherWayIs() throws Exception {
    var isAsked = new CompletableFuture<Void>();
    Script hangs =
        with -> {
          with.readHead();
          isAsked.complete(null);
          with.readHead();
        };
    Script closes =
        with -> {
          with.readHead();
          isAsked.join();
          with.close();
        };
    try (var closing = ScriptedOrigin.open(closes, ANSWERS);
        var hanging = ScriptedOrigin.open(hangs, ANSWERS);
        var fixture = new UpstreamFixture(hedging(SOON), closing, hanging)) {
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(closing.heads()).hasSize(2);
      assertThat(hanging.heads()).hasSize(1);
    }
  }

  @Test
  void aSecondOriginWithoutAPlaceLeavesTheAnswerToTheFirst() throws Exception {
    try (var busy = ScriptedOrigin.open(HANGS);
        var broken = ScriptedOrigin.open(UNAVAILABLE);
        var fixture = new UpstreamFixture(hedging(LATE, ONE_AT_A_TIME), busy, broken)) {
      fixture.send("GET", "http://example.org/");
      RecordingReply reply = fixture.get("/");
      assertThat(reply.head().status()).isEqualTo(503);
      assertThat(reply.content()).isEqualTo("ok");
      assertThat(fixture.metric(UpstreamMetrics.HEDGES)).isEqualTo(1);
      assertThat(fixture.origins.getFirst().inFlight()).isEqualTo(1);
      assertThat(fixture.origins.getLast().inFlight()).isZero();
    }
  }

  @Test
  void whatMayChangeAnythingGoesToOneOriginAlone() throws Exception {
    try (var broken = ScriptedOrigin.open(UNAVAILABLE);
        var sound = ScriptedOrigin.open(ANSWERS);
        var fixture = new UpstreamFixture(hedging(SOON), broken, sound)) {
      RecordingReply reply = fixture.send("POST", "http://example.org/");
      assertThat(await(reply.ended()).head().status()).isEqualTo(503);
      assertThat(sound.connections()).isZero();
      assertThat(fixture.metric(UpstreamMetrics.HEDGES)).isZero();
    }
  }

  @Test
  void hedgesArePaidForAsRetriesAre() throws Exception {
    try (var broken = ScriptedOrigin.open(times(40, UNAVAILABLE));
        var sound = ScriptedOrigin.open(times(40, ANSWERS));
        var fixture = new UpstreamFixture(hedging(LATE), broken, sound)) {
      int failed = 0;
      for (int i = 0; i < 38; i++) {
        failed += fixture.get("/").head().status() == 503 ? 1 : 0;
        forgive(fixture);
      }
      // Ten in hand, and one for each five requests; every other request wants one.
      assertThat(fixture.metric(UpstreamMetrics.HEDGES)).isBetween(16.0, 17.0);
      assertThat(failed).isBetween(2, 3);
    }
  }

  @Test
  void aHedgeThatCannotBePaidForLeavesAnOriginItsProbe() throws Exception {
    var asked = new CompletableFuture<Void>();
    var due = new CompletableFuture<Void>();
    Script answersLater =
        with -> {
          while (with.readHead().contains("/early")) {
            with.send("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\nok");
          }
          asked.complete(null);
          due.join();
          with.send("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\nok");
        };
    try (var broken = ScriptedOrigin.open(times(40, answersLater));
        var sound = ScriptedOrigin.open(times(40, ANSWERS));
        var fixture = new UpstreamFixture(hedging(LATE), broken, sound)) {
      for (int i = 0; i < 38; i++) {
        fixture.get("/early");
        forgive(fixture);
      }
      OriginHealth health = fixture.origins.getLast().health();
      for (int i = 0; i < HealthPolicy.DEFAULTS.failuresUntilOut(); i++) {
        health.failed(false, fixture.clock.nanos());
      }
      RecordingReply reply = fixture.send("GET", "http://example.org/late");
      await(asked);
      fixture.clock.advance(HealthPolicy.DEFAULTS.outFor().multipliedBy(12));
      due.complete(null);
      assertThat(await(reply.ended()).head().status()).isEqualTo(503);
      assertThat(health.claimProbe(true, fixture.clock.nanos())).isTrue();
    }
  }

  @Test
  void anInterimResponseOfASecondOriginIsDropped() throws Exception {
    Script hints =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n");
          with.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
          with.readHead();
        };
    try (var hanging = ScriptedOrigin.open(HANGS);
        var hinting = ScriptedOrigin.open(hints, hints);
        var fixture = new UpstreamFixture(hedging(SOON), hanging, hinting)) {
      RecordingReply reply = fixture.get("/");
      assertThat(reply.head().status()).isEqualTo(200);
      assertThat(reply.interims()).isEmpty();
      assertThat(fixture.metric(UpstreamMetrics.HEDGES)).isEqualTo(1);
    }
    try (var hinting = ScriptedOrigin.open(hints);
        var other = ScriptedOrigin.open(hints);
        var fixture = new UpstreamFixture(hedging(LATE), hinting, other)) {
      assertThat(fixture.get("/").interims()).hasSize(1);
    }
  }

  @Test
  void anOriginThatOthersAreSoonerThanGoesOut() throws Exception {
    Script[] hanging = times(100, HANGS);
    hanging[0] = answers("200 OK", 100);
    try (var slow = ScriptedOrigin.open(hanging);
        var sound = ScriptedOrigin.open(ANSWERS);
        var fixture = new UpstreamFixture(hedging(SOON), slow, sound)) {
      // Not hedged; they pay for the hedges of all that follow.
      for (int i = 0; i < 200; i++) {
        await(fixture.send("POST", "http://example.org/").ended());
        fixture.onLoop(() -> null);
      }
      for (int asked = 0; asked < 40; asked++) {
        assertThat(fixture.get("/").content()).isEqualTo("ok");
      }
      assertThat(fixture.origins.getFirst().health().isIn()).isFalse();
      assertThat(fixture.origins.getFirst().health().standing().why()).contains("sooner");
      assertThat(fixture.origins.getLast().health().isIn()).isTrue();
    }
  }

  @Test
  void aClientThatGoesAwayEndsBothWays() throws Exception {
    try (var one = ScriptedOrigin.open(HANGS);
        var other = ScriptedOrigin.open(HANGS);
        var fixture = new UpstreamFixture(hedging(SOON), one, other)) {
      RecordingReply reply = fixture.send("GET", "http://example.org/");
      while (fixture.metric(UpstreamMetrics.HEDGES) == 0) {
        fixture.onLoop(() -> null);
      }
      fixture.onLoop(
          () -> {
            reply.source().cancel(Failure.of(ErrorType.CLIENT_GONE, "gone"));
            return null;
          });
      assertNothingIsUnderWay(fixture);
    }
  }

  @Test
  void whenBothFailTheClientHearsOfItOnce() throws Exception {
    Script closes =
        with -> {
          with.readHead();
          with.close();
        };
    try (var one = ScriptedOrigin.open(closes, closes, closes);
        var other = ScriptedOrigin.open(closes, closes, closes);
        var fixture = new UpstreamFixture(hedging(SOON), one, other)) {
      assertThat(fixture.get("/").failure().kind()).isEqualTo(ErrorType.CONNECTION_TERMINATED);
      assertNothingIsUnderWay(fixture);
    }
  }

  @Test
  void aSlowClientPausesTheWayThatWins() throws Exception {
    Script large =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlong");
          with.readHead();
        };
    try (var hanging = ScriptedOrigin.open(HANGS);
        var sound = ScriptedOrigin.open(large);
        var fixture = new UpstreamFixture(hedging(SOON), hanging, sound)) {
      RecordingReply reply =
          fixture.send(
              RequestHead.of("GET", "http://example.org/"),
              RequestContent.NONE,
              new RecordingReply().pausedAtOnce());
      await(reply.begun());
      fixture.onLoop(
          () -> {
            reply.source().resume();
            return null;
          });
      assertThat(await(reply.ended()).content()).isEqualTo("long");
    }
  }

  /** An origin that fails gets its part again. */
  private static void forgive(UpstreamFixture fixture) {
    fixture.clock.advance(Duration.ofSeconds(30));
  }

  private static void assertNothingIsUnderWay(UpstreamFixture fixture) throws Exception {
    fixture.onLoop(() -> null);
    assertThat(fixture.origins).allMatch(origin -> origin.inFlight() == 0);
  }

  private static UpstreamSettings hedging(Hedge hedge) {
    return hedging(hedge, DEFAULTS.pool());
  }

  private static UpstreamSettings hedging(Hedge hedge, PoolSettings pool) {
    return Sections.copy(DEFAULTS)
        .with("choice.kind", ChoiceSettings.Algorithm.ROUND_ROBIN)
        .with("choice.hedge", hedge)
        .with("pool", pool)
        .record();
  }
}
