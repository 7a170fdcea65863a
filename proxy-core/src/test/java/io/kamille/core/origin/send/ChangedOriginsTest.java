package io.kamille.core.origin.send;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.UpstreamMetrics;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.send.ScriptedOrigin.Script;
import io.kamille.core.setting.OriginUrl;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** What happens to connections and limits when an upstream gets other origins. */
class ChangedOriginsTest {

  private static final UpstreamSettings SETTINGS = UpstreamSettings.DEFAULTS;
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  private static final Script ANSWERS =
      with -> {
        while (true) {
          with.readHead();
          with.send(OK);
        }
      };

  @Test
  void anOriginThatStaysKeepsItsConnectionAlsoUnderAnotherWeight() throws Exception {
    try (var first = ScriptedOrigin.open(ANSWERS);
        var fixture = new UpstreamFixture(SETTINGS, first)) {
      fixture.get("/");
      Origin stays = fixture.origins.getFirst();
      Origin heavier = stays.with(7, false, stays.health());
      fixture.change(List.of(origin(1), heavier));
      fixture.change(List.of(heavier));
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(first.connections()).isEqualTo(1);
      assertThat(fixture.metric(UpstreamMetrics.OPENED)).isEqualTo(1);
    }
  }

  @Test
  void anOriginThatGoesLosesItsIdleConnectionsAndGetsNothingMore() throws Exception {
    CountDownLatch isClosed = new CountDownLatch(1);
    Script answersOnce =
        with -> {
          with.readHead();
          with.send(OK);
          with.readToEnd();
          isClosed.countDown();
        };
    try (var first = ScriptedOrigin.open(answersOnce);
        var second = ScriptedOrigin.open(ANSWERS);
        var fixture = new UpstreamFixture(SETTINGS, first)) {
      fixture.get("/");
      fixture.change(List.of(origin(second.port())));
      isClosed.await();
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(first.heads()).hasSize(1);
      assertThat(second.heads()).hasSize(1);
    }
  }

  @Test
  void aRequestUnderWayAtAnOriginThatGoesIsAnswered() throws Exception {
    CountDownLatch isAsked = new CountDownLatch(1);
    CountDownLatch isGone = new CountDownLatch(1);
    Script waits =
        with -> {
          with.readHead();
          isAsked.countDown();
          await(isGone);
          with.send(OK);
          with.readToEnd();
        };
    try (var first = ScriptedOrigin.open(waits);
        var fixture = new UpstreamFixture(SETTINGS, first)) {
      RecordingReply reply = fixture.send("GET", "http://example.org/");
      isAsked.await();
      Origin gone = fixture.origins.getFirst();
      fixture.change(List.of(origin(1)));
      isGone.countDown();
      assertThat(UpstreamFixture.await(reply.ended()).content()).isEqualTo("ok");
      fixture.onLoop(() -> null);
      assertThat(gone.inFlight()).isZero();
    }
  }

  @Test
  void withoutOriginsRequestsGet503AndWithOneTheyAreAnsweredAgain() throws Exception {
    try (var first = ScriptedOrigin.open(ANSWERS, ANSWERS);
        var fixture = new UpstreamFixture(SETTINGS, first)) {
      fixture.change(List.of());
      Failure failure = fixture.get("/").failure();
      assertThat(failure.status()).isEqualTo(503);
      assertThat(failure.reason()).contains("no origin");
      fixture.change(fixture.origins);
      assertThat(fixture.get("/").content()).isEqualTo("ok");
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private static Origin origin(int port) {
    return SETTINGS.origin(new OriginUrl(false, "127.0.0.1", port), 1);
  }
}
