package io.kamille.core.origin.send;

import static io.kamille.core.origin.send.UpstreamFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.content.Spool;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.origin.OriginProtocol;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.send.ScriptedOrigin.Script;
import io.kamille.core.setting.Sections;
import java.nio.file.Path;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Content that is held whole goes a second time where that cannot do harm (RFC 9110 §9.2.2). */
class RepeatedContentTest {

  private static final String URI = "http://example.org/";
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  private static final int REFUSED_STREAM = 7;

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void idempotentContentIsSentAgainIfAUsedConnectionTurnsOutClosed(boolean isReset)
      throws Exception {
    CompletableFuture<String> got = new CompletableFuture<>();
    try (var origin = ScriptedOrigin.open(closesTheSecond(isReset), reads(got));
        var fixture = new UpstreamFixture(settings(OriginProtocol.HTTP_1_1), origin)) {
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      RecordingReply reply = send(fixture, "PUT", "abc");
      assertThat(reply.content()).isEqualTo("ok");
      assertThat(await(got)).isEqualTo("abc");
      assertThat(fixture.origins.getFirst().health().failuresInAll()).isZero();
      assertThat(fixture.uploads.heldBytes()).isZero();
    }
  }

  @Test
  void aPostIsNot() throws Exception {
    try (var origin =
            ScriptedOrigin.open(closesTheSecond(false), reads(new CompletableFuture<>()));
        var fixture = new UpstreamFixture(settings(OriginProtocol.HTTP_1_1), origin)) {
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(send(fixture, "POST", "abc").failure().kind())
          .isEqualTo(ErrorType.CONNECTION_TERMINATED);
      assertThat(origin.connections()).isOne();
      assertThat(fixture.uploads.heldBytes()).isZero();
    }
  }

  private static Script closesTheSecond(boolean isReset) {
    return with -> {
      with.readHead();
      with.send(OK);
      with.readHead();
      with.read(3);
      if (isReset) {
        with.reset();
      } else {
        with.close();
      }
    };
  }

  private static Script reads(CompletableFuture<String> got) {
    return with -> {
      with.readHead();
      got.complete(with.read(3));
      with.send(OK);
    };
  }

  @ParameterizedTest
  @ValueSource(strings = {"POST", "PUT"})
  void whatAnOriginHasNotProcessedIsSentAgainThoughItHasTheContent(String method) throws Exception {
    CompletableFuture<String> got = new CompletableFuture<>();
    Script goesAway =
        with -> {
          var h2 = new H2Conversation(with);
          int first = h2.request();
          int second = h2.request();
          h2.content(second, 3);
          h2.goAway(first, 0).answer(first, "old");
        };
    Script answers =
        with -> {
          var h2 = new H2Conversation(with);
          int stream = h2.request();
          String sent = h2.content(stream, 3);
          h2.request();
          got.complete(sent + h2.fields());
          h2.answer(stream, "ok");
        };
    try (var origin = ScriptedOrigin.open(goesAway, answers);
        var fixture = new UpstreamFixture(settings(OriginProtocol.H2C), origin)) {
      RecordingReply first = fixture.send("GET", URI);
      var content = new ScriptedContent(fixture.loop(), RequestContent.UNKNOWN_LENGTH);
      RecordingReply second = fixture.send(RequestHead.of(method, URI), content);
      content.write("abc");
      content.end(Fields.of("X-Sum", "1"));
      assertThat(await(first.ended()).content()).isEqualTo("old");
      assertThat(await(second.ended()).content()).isEqualTo("ok");
      assertThat(await(got)).isEqualTo("abc{x-sum=1}");
      assertThat(fixture.origins.getFirst().health().failuresInAll()).isZero();
      assertThat(fixture.uploads.heldBytes()).isZero();
    }
  }

  @Test
  void whatIsRefusedUnprocessedCostsNoRetry() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    Script refusesThreeTimes =
        with -> {
          var h2 = new H2Conversation(with);
          while (true) {
            int stream = h2.request();
            h2.content(stream, 3);
            if (asked.incrementAndGet() <= 3) {
              h2.reset(stream, REFUSED_STREAM);
            } else {
              h2.answer(stream, "ok");
            }
          }
        };
    try (var origin =
            ScriptedOrigin.open(
                refusesThreeTimes, refusesThreeTimes, refusesThreeTimes, refusesThreeTimes);
        var fixture = new UpstreamFixture(settings(OriginProtocol.H2C), origin)) {
      assertThat(send(fixture, "POST", "abc").content()).isEqualTo("ok");
      assertThat(asked).hasValue(4);
      assertThat(origin.connections()).as("it refused streams, no connection").isOne();
      assertThat(fixture.uploads.heldBytes()).isZero();
    }
  }

  @Test
  void anOriginThatRefusesEverythingIsNotAskedWithoutEnd() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    Script refuses =
        with -> {
          var h2 = new H2Conversation(with);
          while (true) {
            int stream = h2.request();
            asked.incrementAndGet();
            h2.reset(stream, REFUSED_STREAM);
          }
        };
    try (var origin = ScriptedOrigin.open(Collections.nCopies(22, refuses).toArray(Script[]::new));
        var fixture = new UpstreamFixture(settings(OriginProtocol.H2C), origin)) {
      assertThat(send(fixture, "POST", "abc").failure().kind())
          .isEqualTo(ErrorType.CONNECTION_TERMINATED);
      assertThat(asked.get()).isBetween(2, 22);
      assertThat(fixture.uploads.heldBytes()).isZero();
    }
  }

  @Test
  void whatWaitedInAFileIsSentAgainToo(@TempDir Path directory) throws Exception {
    String whole = "0123456789".repeat(20_000);
    CompletableFuture<String> got = new CompletableFuture<>();
    Script closesTheSecond =
        with -> {
          with.readHead();
          with.send(OK);
          with.readHead();
          with.read(whole.length());
          with.close();
        };
    Script reads =
        with -> {
          with.readHead();
          got.complete(with.read(whole.length()));
          with.send(OK);
        };
    try (var threads = Executors.newSingleThreadExecutor();
        var origin = ScriptedOrigin.open(closesTheSecond, reads);
        var fixture =
            new UpstreamFixture(
                settings(OriginProtocol.HTTP_1_1),
                new Spool.Disk(directory.resolve("spool"), 1 << 20, 1 << 20, threads),
                origin)) {
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(send(fixture, "PUT", whole).content()).isEqualTo("ok");
      assertThat(await(got)).isEqualTo(whole);
      assertThat(fixture.uploads.heldBytes()).isZero();
      assertThat(fixture.uploads.bytesInFile()).isZero();
    }
  }

  @Test
  void contentThatPassesWithoutBeingHeldIsNotSentAgain() throws Exception {
    Script refuses =
        with -> {
          var h2 = new H2Conversation(with);
          int stream = h2.request();
          h2.content(stream, 3);
          h2.reset(stream, REFUSED_STREAM);
        };
    try (var origin = ScriptedOrigin.open(refuses);
        var fixture =
            new UpstreamFixture(UpstreamFixture.unbuffered(settings(OriginProtocol.H2C)), origin)) {
      assertThat(send(fixture, "PUT", "abc").failure().kind())
          .isEqualTo(ErrorType.CONNECTION_TERMINATED);
    }
  }

  private static RecordingReply send(UpstreamFixture fixture, String method, String text)
      throws Exception {
    var content = new ScriptedContent(fixture.loop(), text.length());
    RecordingReply reply = fixture.send(RequestHead.of(method, URI), content);
    content.finish(text);
    await(reply.ended());
    fixture.onLoop(() -> null);
    return reply;
  }

  private static UpstreamSettings settings(OriginProtocol protocol) {
    return Sections.copy(
            Sections.of(
                UpstreamSettings.SECTION,
                """
                connect-timeout: 1m
                retries: 0
                max-connections: 8
                idle-timeout: 1m
                """))
        .with("protocol", protocol)
        .with("pool.uploadBufferBytes", 40_000)
        .record();
  }
}
