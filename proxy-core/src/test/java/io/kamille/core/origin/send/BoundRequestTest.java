package io.kamille.core.origin.send;

import static io.kamille.core.origin.send.UpstreamFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.http.FieldName;
import io.kamille.core.origin.ChoiceSettings;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.send.ScriptedOrigin.Script;
import io.kamille.core.setting.Sections;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests that belong to one origin, by a cookie or by their key. */
class BoundRequestTest {

  private static final UpstreamSettings DEFAULTS = UpstreamSettings.DEFAULTS;
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  private static final Script ANSWERS =
      with -> {
        while (true) {
          with.readHead();
          with.send(OK);
        }
      };

  /** Answers the first request, and closes when the second one comes. */
  private static final Script GOES_STALE =
      with -> {
        with.readHead();
        with.send(OK);
        with.readHead();
        with.close();
      };

  @TempDir private Path directory = Path.of("");

  @Test
  void aConnectionThatGoesStaleLosesNoSession() throws Exception {
    try (var first = ScriptedOrigin.open(GOES_STALE, ANSWERS);
        var second = ScriptedOrigin.open(ANSWERS);
        var fixture = new UpstreamFixture(sticky(1), first, second)) {
      String cookie = cookie(fixture.get("/"));
      RecordingReply again = get(fixture, cookie);
      assertThat(again.content()).isEqualTo("ok");
      assertThat(again.head().fields().has(FieldName.SET_COOKIE)).isFalse();
      assertThat(first.connections()).isEqualTo(2);
      assertThat(second.connections()).isZero();
    }
  }

  @Test
  void anOriginThatClosesAndThenRefusesCostsNoRetry() throws Exception {
    try (var first = ScriptedOrigin.open(GOES_STALE);
        var second = ScriptedOrigin.open(ANSWERS);
        var fixture = new UpstreamFixture(sticky(0), first, second)) {
      String cookie = cookie(fixture.get("/"));
      // Where nobody listens: the idle connection still counts as the origin's.
      fixture
          .origins
          .getFirst()
          .addresses(List.of(InetAddress.getByAddress(new byte[] {127, 0, 0, 2})));
      RecordingReply moved = get(fixture, cookie);
      assertThat(moved.content()).isEqualTo("ok");
      assertThat(moved.head().fields().has(FieldName.SET_COOKIE)).isTrue();
      assertThat(second.connections()).isEqualTo(1);
      assertThat(fixture.origins).allMatch(origin -> origin.inFlight() == 0);
    }
  }

  @Test
  void anOriginThatIsDrainedMeanwhileGetsNoRepetition() throws Exception {
    var isAsked = new CompletableFuture<Void>();
    var isDrained = new CompletableFuture<Void>();
    Script goesStaleLater =
        with -> {
          with.readHead();
          with.send(OK);
          with.readHead();
          isAsked.complete(null);
          isDrained.join();
          with.close();
        };
    try (var first = ScriptedOrigin.open(goesStaleLater, ANSWERS);
        var second = ScriptedOrigin.open(ANSWERS);
        var fixture = new UpstreamFixture(sticky(1), first, second)) {
      String cookie = cookie(fixture.get("/"));
      RecordingReply moved = fixture.send("GET", "http://example.org/", "Cookie", cookie);
      await(isAsked);
      fixture.origins.getFirst().health().drain(Duration.ofMinutes(10).toNanos());
      isDrained.complete(null);
      assertThat(await(moved.ended()).content()).isEqualTo("ok");
      assertThat(first.connections()).isEqualTo(1);
      assertThat(second.connections()).isEqualTo(1);
    }
  }

  @Test
  void aConnectionThatGoesStaleMovesNoKey() throws Exception {
    try (var first = ScriptedOrigin.open(GOES_STALE, ANSWERS);
        var second = ScriptedOrigin.open(GOES_STALE, ANSWERS);
        var fixture = new UpstreamFixture(with(hashed(), 1), first, second)) {
      assertThat(fixture.get("/key").content()).isEqualTo("ok");
      assertThat(fixture.get("/key").content()).isEqualTo("ok");
      assertThat(List.of(first.connections(), second.connections()))
          .containsExactlyInAnyOrder(0, 2);
    }
  }

  private static RecordingReply get(UpstreamFixture fixture, String cookie) throws Exception {
    RecordingReply reply =
        await(fixture.send("GET", "http://example.org/", "Cookie", cookie).ended());
    fixture.onLoop(() -> null);
    return reply;
  }

  private static String cookie(RecordingReply reply) {
    String line = Objects.requireNonNull(reply.head().fields().first(FieldName.SET_COOKIE));
    return line.substring(0, line.indexOf(';'));
  }

  /** The first request goes to the first origin. */
  private UpstreamSettings sticky(int retries) throws Exception {
    Path secret = Files.writeString(directory.resolve("secret"), "sixteen octets and more");
    return with(
        Sections.of(
            ChoiceSettings.SECTION,
            "{choice: round-robin, sticky: {cookie: at, secret-file: %s}}",
            secret),
        retries);
  }

  private static ChoiceSettings hashed() {
    return Sections.of(ChoiceSettings.SECTION, "{choice: consistent-hash}");
  }

  private static UpstreamSettings with(ChoiceSettings choice, int retries) {
    return Sections.copy(DEFAULTS).with("choice", choice).with("retries", retries).record();
  }
}
