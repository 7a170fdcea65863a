package io.kamille.core.origin.choose;

import static io.kamille.core.origin.send.UpstreamFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.loop.ManualClock;
import io.kamille.core.origin.ChoiceSettings;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.choose.OriginChoice.Speed;
import io.kamille.core.origin.send.ScriptedOrigin;
import io.kamille.core.origin.send.ScriptedOrigin.Script;
import io.kamille.core.origin.send.UpstreamFixture;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class LeastTimeTest {

  private static final int SOUND = 0;
  private static final int OTHER = 1;
  private static final Duration STEP = Duration.ofMillis(10);
  private static final UpstreamSettings DEFAULTS = UpstreamSettings.DEFAULTS;

  private final ManualClock clock = ManualClock.atSeconds(0);
  private final List<Origin> origins =
      List.of(DEFAULTS.origin("127.0.0.1", 9000, 1), DEFAULTS.origin("127.0.0.1", 9001, 1));
  private final LeastTime choice = new LeastTime(origins, new SplittableRandom(42));

  /** One request after the other; requests to the other origin stay without an answer. */
  private int askedOther(Duration time) {
    int asked = 0;
    for (long end = clock.nanos() + time.toNanos(); clock.nanos() < end; ) {
      int place = choice.choose(0, true, OriginChoice.NOWHERE, clock.nanos());
      origins.get(place).begin();
      clock.advance(STEP);
      if (place == SOUND) {
        answer(SOUND, STEP);
      } else {
        asked++;
      }
    }
    return asked;
  }

  private void answer(int place, Duration time) {
    origins.get(place).finish();
    choice.answered(place, time.toNanos(), Speed.OWN, clock.nanos());
  }

  @Test
  void anOriginThatHangsFromTheStartGetsOneRequestAtATime() {
    assertThat(askedOther(Duration.ofSeconds(10))).isEqualTo(1);
    assertThat(askedOther(Duration.ofSeconds(90))).isBetween(1, 6);
  }

  @Test
  void anOriginThatHangsAfterAPauseGetsNoMoreThanTheSoundOneHasInFlight() {
    choice.answered(SOUND, STEP.toNanos(), Speed.OWN, clock.nanos());
    choice.answered(OTHER, STEP.toNanos(), Speed.OWN, clock.nanos());
    clock.advance(Duration.ofHours(3));
    assertThat(askedOther(Duration.ofSeconds(1))).isBetween(1, 2);
  }

  @Test
  void whileNothingIsKnownRequestsInFlightDecide() {
    for (int i = 0; i < 80; i++) {
      origins.get(choice.choose(0, true, OriginChoice.NOWHERE, clock.nanos())).begin();
    }
    assertThat(origins).allMatch(origin -> origin.inFlight() == 40);
  }

  @Test
  void anOriginThatWasSlowOnceIsTriedAgainAndThenTrusted() {
    origins.get(OTHER).begin();
    answer(OTHER, Duration.ofSeconds(1));
    assertThat(askedOther(Duration.ofSeconds(8))).isZero();
    assertThat(askedOther(Duration.ofSeconds(4))).isEqualTo(1);
    answer(OTHER, STEP);
    int asked = 0;
    for (int i = 0; i < 1_000; i++) {
      int place = choice.choose(0, true, OriginChoice.NOWHERE, clock.nanos());
      origins.get(place).begin();
      clock.advance(STEP);
      answer(place, STEP);
      asked += place == OTHER ? 1 : 0;
    }
    assertThat(asked).isBetween(100, 900);
  }

  @Test
  void refusalsWithoutEndAreForgottenAsSoon() {
    for (int i = 0; i < 2_000; i++) {
      choice.answered(OTHER, 1, Speed.OF_OVERLOAD, clock.nanos());
    }
    assertThat(askedOther(Duration.ofSeconds(20))).isEqualTo(1);
  }

  @Test
  void aWaitInVainRaisesTheTimeAndNeverLowersIt() {
    choice.answered(SOUND, 20_000_000, Speed.OWN, clock.nanos());
    choice.answered(OTHER, 10_000_000, Speed.OWN, clock.nanos());
    choice.waited(SOUND, 1, clock.nanos());
    assertThat(choice.choose(0, true, OriginChoice.NOWHERE, clock.nanos())).isEqualTo(OTHER);
    choice.waited(OTHER, 30_000_000, clock.nanos());
    assertThat(choice.choose(0, true, OriginChoice.NOWHERE, clock.nanos())).isEqualTo(SOUND);
  }

  @Test
  void aClientThatGivesUpCountsWithTheTimeItWaited() throws Exception {
    Script answersOnce =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
          with.readHead();
        };
    Script hangs = ScriptedOrigin.Conversation::readHead;
    try (var one = ScriptedOrigin.open(answersOnce, hangs);
        var other = ScriptedOrigin.open(answersOnce, hangs);
        var fixture = new UpstreamFixture(leastTime(), one, other)) {
      // Without a sample, each gets one; then the one with fewer requests in flight.
      await(fixture.get("/").ended());
      await(fixture.get("/").ended());
      RecordingReply given = fixture.send("GET", "http://example.org/");
      fixture.send("GET", "http://example.org/");
      fixture.onLoop(() -> null);
      assertThat(fixture.origins).allMatch(origin -> origin.inFlight() == 1);
      fixture.clock.advance(Duration.ofSeconds(3));
      fixture.onLoop(
          () -> {
            given.source().cancel(Failure.of(Kind.CLIENT_GONE, "gone"));
            return null;
          });
      fixture.send("GET", "http://example.org/");
      fixture.onLoop(() -> null);
      assertThat(fixture.origins.stream().map(Origin::inFlight)).containsExactlyInAnyOrder(0, 2);
    }
  }

  private static UpstreamSettings leastTime() {
    ChoiceSettings choice = DEFAULTS.choice();
    return new UpstreamSettings(
        new ChoiceSettings(
            ChoiceSettings.Kind.LEAST_TIME, choice.hashKey(), choice.sticky(), choice.hedge()),
        DEFAULTS.connectTimeout(),
        DEFAULTS.protocol(),
        DEFAULTS.tls(),
        DEFAULTS.retries(),
        DEFAULTS.health(),
        DEFAULTS.concurrency(),
        DEFAULTS.pool(),
        DEFAULTS.connection(),
        DEFAULTS.forwarding());
  }
}
