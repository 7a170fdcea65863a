package io.kamille.core.origin.send;

import static io.kamille.core.origin.send.UpstreamFixture.await;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.send.H2Conversation.Frame;
import io.kamille.core.origin.send.ScriptedOrigin.Script;
import io.kamille.core.setting.Sections;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Origins in HTTP/2: streams, their ends, and what a hostile origin may not do (RFC 9113). */
class H2OriginTest {

  static final UpstreamSettings SETTINGS = UpstreamFixture.unbuffered(settings());
  private static final String URI = "http://example.org/";
  private static final int MAX_STREAMS = 3;
  private static final int INITIAL_WINDOW = 4;
  private static final int NO_ERROR = 0;
  private static final int INTERNAL_ERROR = 2;
  private static final int REFUSED_STREAM = 7;
  private static final int CANCEL = 8;

  private static UpstreamSettings settings() {
    return Sections.of(UpstreamSettings.SECTION, "{connect-timeout: 1m, protocol: h2c}");
  }

  /** What happens on a connection whose settings were sent. */
  @FunctionalInterface
  private interface H2Script {
    void run(H2Conversation h2) throws IOException;
  }

  private static Script h2(H2Script script, int... settings) {
    return with -> script.run(new H2Conversation(with, settings));
  }

  /** Answers everything. */
  private static void answers(H2Conversation h2) throws IOException {
    while (true) {
      h2.answer(h2.request(), "ok");
    }
  }

  private static Failure failure(H2Script script) throws Exception {
    try (var origin = ScriptedOrigin.open(h2(script), h2(script), h2(script));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      return fixture.get("/").failure();
    }
  }

  // Requests and responses

  @Test
  void aRequestIsOneStreamAndItsFieldsAreThoseOfHttp2() throws Exception {
    CompletableFuture<H2Conversation> asked = new CompletableFuture<>();
    H2Script once =
        h2 -> {
          int stream = h2.request();
          asked.complete(h2);
          h2.head(stream, false, ":status", "200", "content-length", "2", "x-a", "b");
          h2.data(stream, true, "ok");
          answers(h2);
        };
    try (var origin = ScriptedOrigin.open(h2(once));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply =
          await(
              fixture
                  .send(
                      "GET",
                      URI + "a?b",
                      "Connection",
                      "x-hop",
                      "X-Hop",
                      "1",
                      "TE",
                      "trailers, gzip",
                      "Accept",
                      "*/*",
                      "Keep-Alive",
                      "5",
                      "Upgrade",
                      "websocket")
                  .ended());
      assertThat(reply.content()).isEqualTo("ok");
      assertThat(reply.contentLength()).isEqualTo(2);
      assertThat(reply.head().fields().all("x-a")).containsExactly("b");
      assertThat(reply.head().has(FieldName.CONTENT_LENGTH)).isFalse();
      assertThat(await(asked).fields())
          .containsEntry(":method", "GET")
          .containsEntry(":scheme", "http")
          .containsEntry(":authority", "example.org")
          .containsEntry(":path", "/a?b")
          .containsEntry("accept", "*/*")
          .containsEntry("te", "trailers")
          .containsEntry("via", "1.1 kamille")
          .doesNotContainKeys("host", "connection", "x-hop", "keep-alive", "upgrade");
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(1);
    }
  }

  @Test
  void manyRequestsShareAConnectionAndAreAnsweredInAnyOrder() throws Exception {
    H2Script backwards =
        h2 -> {
          int first = h2.request();
          int second = h2.request();
          int third = h2.request();
          h2.answer(third, "3").answer(second, "2").answer(first, "1");
        };
    try (var origin = ScriptedOrigin.open(h2(backwards));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply first = fixture.send("GET", URI);
      RecordingReply second = fixture.send("GET", URI);
      RecordingReply third = fixture.send("GET", URI);
      assertThat(await(first.ended()).content()).isEqualTo("1");
      assertThat(await(second.ended()).content()).isEqualTo("2");
      assertThat(await(third.ended()).content()).isEqualTo("3");
      assertThat(origin.connections()).isEqualTo(1);
    }
  }

  @Test
  void beyondTheStreamsThatAnOriginAllowsAnotherConnectionIsOpened() throws Exception {
    CountDownLatch both = new CountDownLatch(2);
    H2Script one =
        h2 -> {
          int stream = h2.request();
          both.countDown();
          waitFor(both);
          h2.answer(stream, "ok");
        };
    try (var origin = ScriptedOrigin.open(h2(one, MAX_STREAMS, 1), h2(one, MAX_STREAMS, 1));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply first = fixture.send("GET", URI);
      RecordingReply second = fixture.send("GET", URI);
      assertThat(await(first.ended()).content()).isEqualTo("ok");
      assertThat(await(second.ended()).content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(2);
    }
  }

  @Test
  void trailersAndInterimResponsesPass() throws Exception {
    H2Script script =
        h2 -> {
          int stream = h2.request();
          h2.head(stream, false, ":status", "103", "link", "</a>");
          h2.head(stream, false, ":status", "200").data(stream, false, "ok");
          h2.head(stream, true, "grpc-status", "0", "content-length", "7");
        };
    try (var origin = ScriptedOrigin.open(h2(script));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = fixture.get("/");
      assertThat(reply.interims()).hasSize(1);
      assertThat(reply.content()).isEqualTo("ok");
      assertThat(reply.trailers()).isEqualTo("grpc-status: 0\n");
    }
  }

  @Test
  void aHeadAloneIsAResponseWithoutContent() throws Exception {
    H2Script script = h2 -> h2.head(h2.request(), true, ":status", "200", "grpc-status", "5");
    try (var origin = ScriptedOrigin.open(h2(script));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = fixture.get("/");
      assertThat(reply.head().fields().all("grpc-status")).containsExactly("5");
      assertThat(reply.contentLength()).isZero();
      assertThat(reply.hasFailed()).isFalse();
    }
  }

  @Test
  void aResponseToHeadMayHaveALengthAndNoContent() throws Exception {
    H2Script script = h2 -> h2.head(h2.request(), true, ":status", "200", "content-length", "1000");
    try (var origin = ScriptedOrigin.open(h2(script));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = await(fixture.send("HEAD", URI).ended());
      assertThat(reply.contentLength()).isEqualTo(1000);
      assertThat(reply.hasFailed()).isFalse();
    }
  }

  // Content of requests

  @Test
  void contentGoesAsFarAsTheWindowAllows() throws Exception {
    String text = "0123456789".repeat(1000);
    CompletableFuture<String> received = new CompletableFuture<>();
    H2Script slow =
        h2 -> {
          int stream = h2.request();
          Frame first = h2.await(H2Conversation.DATA);
          assertThat(first.payload()).hasSize(10);
          h2.send(H2Conversation.WINDOW_UPDATE, 0, stream, H2Conversation.number(1 << 20));
          String rest = h2.content(stream, text.length() - 10);
          h2.request();
          received.complete(first.payload() + rest + h2.fields());
          h2.answer(stream, "ok");
        };
    try (var origin = ScriptedOrigin.open(h2(slow, INITIAL_WINDOW, 10));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      ScriptedContent content = new ScriptedContent(fixture.loop(), RequestContent.UNKNOWN_LENGTH);
      RecordingReply reply = fixture.send(RequestHead.of("POST", URI), content);
      content.write(text);
      content.end(Fields.of("X-Sum", "1"));
      assertThat(await(received)).isEqualTo(text + "{x-sum=1}");
      assertThat(await(reply.ended()).content()).isEqualTo("ok");
    }
  }

  @Test
  void contentThatCameInWholeHasALength() throws Exception {
    CompletableFuture<String> received = new CompletableFuture<>();
    H2Script reads =
        h2 -> {
          int stream = h2.request();
          String head = h2.fields().toString();
          received.complete(h2.content(stream, 5) + head);
          h2.answer(stream, "ok");
        };
    try (var origin = ScriptedOrigin.open(h2(reads));
        var fixture = new UpstreamFixture(settings(), origin)) {
      ScriptedContent content = new ScriptedContent(fixture.loop(), RequestContent.UNKNOWN_LENGTH);
      RecordingReply reply = fixture.send(RequestHead.of("POST", URI), content);
      content.write("hello");
      content.end(null);
      assertThat(await(received)).startsWith("hello").contains("content-length=5");
      assertThat(await(reply.ended()).content()).isEqualTo("ok");
    }
  }

  @Test
  void anErrorBeforeAllContentWasSentEndsTheUploadAndSparesTheConnection() throws Exception {
    CompletableFuture<Integer> code = new CompletableFuture<>();
    H2Script early =
        h2 -> {
          int stream = h2.request();
          h2.head(stream, true, ":status", "413");
          code.complete(h2.await(H2Conversation.RST_STREAM).number(0));
          answers(h2);
        };
    try (var origin = ScriptedOrigin.open(h2(early));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      ScriptedContent content = new ScriptedContent(fixture.loop(), 100);
      RecordingReply reply = fixture.send(RequestHead.of("POST", URI), content);
      await(content.cancelled());
      assertThat(await(reply.ended()).head().status()).isEqualTo(413);
      assertThat(await(code)).isEqualTo(CANCEL);
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(1);
    }
  }

  // Ends

  @Test
  void streamsThatAnOriginHasNotLookedAtAreSentAgainWhateverTheirMethod() throws Exception {
    H2Script goesAway =
        h2 -> {
          int first = h2.request();
          h2.request();
          h2.goAway(first, NO_ERROR).answer(first, "old");
        };
    try (var origin = ScriptedOrigin.open(h2(goesAway), h2(H2OriginTest::answers));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply first = fixture.send("GET", URI);
      RecordingReply second = fixture.send("POST", URI);
      assertThat(await(first.ended()).content()).isEqualTo("old");
      assertThat(await(second.ended()).content()).isEqualTo("ok");
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(2);
    }
  }

  /** It is closed in the middle of a read. What is left of that read is let go of, too. */
  @Test
  void whatBeginsBehindTheLastStreamOfAConnectionIsLeft() throws Exception {
    H2Script servesOne =
        h2 -> {
          int only = h2.request();
          h2.goAway(only, NO_ERROR).head(only, false, ":status", "200");
          h2.dataAndMore(only, "ok", "begun");
        };
    try (var origin = ScriptedOrigin.open(h2(servesOne));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = new RecordingReply();
      fixture.send(RequestHead.of("GET", URI), RequestContent.NONE, reply);
      assertThat(await(reply.ended()).content()).isEqualTo("ok");
    }
  }

  @Test
  void connectionsThatEndAfterOneStreamEachServeAllThatWait() throws Exception {
    int requests = 60;
    H2Script servesOne =
        h2 -> {
          int first = h2.request();
          h2.goAway(first, NO_ERROR).answer(first, "ok");
          while (true) {
            h2.request();
          }
        };
    Script[] scripts = Collections.nCopies(requests, h2(servesOne)).toArray(Script[]::new);
    try (var origin = ScriptedOrigin.open(scripts);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      List<RecordingReply> replies = new ArrayList<>();
      for (int i = 0; i < requests; i++) {
        replies.add(fixture.send("POST", URI));
      }
      for (RecordingReply reply : replies) {
        assertThat(await(reply.ended()).content()).isEqualTo("ok");
      }
    }
  }

  @Test
  void whatAConnectionLeavesOverIsSentAgainInItsOrder() throws Exception {
    int answered = 60;
    int waiting = 30;
    H2Script goesAway =
        h2 -> {
          for (int i = 0; i < answered; i++) {
            h2.answer(h2.request(), "ok");
          }
          int first = h2.request();
          for (int i = 1; i < waiting; i++) {
            h2.request();
          }
          h2.goAway(first, NO_ERROR).answer(first, "ok");
        };
    List<String> paths = new CopyOnWriteArrayList<>();
    H2Script notes =
        h2 -> {
          while (true) {
            int stream = h2.request();
            paths.add(h2.fields().get(":path"));
            h2.answer(stream, "ok");
          }
        };
    try (var origin = ScriptedOrigin.open(h2(goesAway), h2(notes));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      for (int i = 0; i < answered; i++) {
        fixture.get("/");
      }
      List<RecordingReply> replies = new ArrayList<>();
      for (int i = 0; i < waiting; i++) {
        replies.add(fixture.send("POST", URI + (10 + i)));
      }
      for (RecordingReply reply : replies) {
        assertThat(await(reply.ended()).content()).isEqualTo("ok");
      }
      assertThat(paths).hasSize(waiting - 1).isSorted();
    }
  }

  @Test
  void aConnectionThatBreaksIsOneFailureHoweverManyStreamsItHad() throws Exception {
    Script breaks =
        with -> {
          H2Conversation h2 = new H2Conversation(with);
          for (int i = 0; i < 5; i++) {
            h2.request();
          }
          with.close();
        };
    try (var origin = ScriptedOrigin.open(breaks, h2(H2OriginTest::answers));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      List<RecordingReply> replies = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        replies.add(fixture.send("POST", URI));
      }
      for (RecordingReply reply : replies) {
        assertThat(await(reply.ended()).failure().kind())
            .isEqualTo(ErrorType.CONNECTION_TERMINATED);
      }
      assertThat(fixture.origins.getFirst().health().failuresInAll()).isEqualTo(1);
      assertThat(fixture.origins.getFirst().health().isIn()).isTrue();
      assertThat(fixture.get("/").content()).isEqualTo("ok");
    }
  }

  @Test
  void streamsThatAreResetOneByOneAreAFailureEach() throws Exception {
    H2Script resets =
        h2 -> {
          h2.reset(h2.request(), INTERNAL_ERROR).reset(h2.request(), INTERNAL_ERROR);
          answers(h2);
        };
    try (var origin = ScriptedOrigin.open(h2(resets));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply first = fixture.send("POST", URI);
      RecordingReply second = fixture.send("POST", URI);
      await(first.ended());
      await(second.ended());
      assertThat(fixture.origins.getFirst().health().failuresInAll()).isEqualTo(2);
    }
  }

  @Test
  void aRefusedStreamIsSentAgainWhateverItsMethod() throws Exception {
    H2Script refuses =
        h2 -> {
          h2.reset(h2.request(), REFUSED_STREAM);
          answers(h2);
        };
    try (var origin = ScriptedOrigin.open(h2(refuses), h2(H2OriginTest::answers));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      assertThat(await(fixture.send("POST", URI).ended()).content()).isEqualTo("ok");
    }
  }

  @Test
  void aStreamThatIsResetBeforeItsHeadIsSentAgainOnlyIfThatIsSafe() throws Exception {
    H2Script resets =
        h2 -> {
          h2.reset(h2.request(), INTERNAL_ERROR);
          answers(h2);
        };
    try (var origin = ScriptedOrigin.open(h2(resets), h2(resets));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      assertThat(await(fixture.send("POST", URI).ended()).failure().kind())
          .isEqualTo(ErrorType.CONNECTION_TERMINATED);
    }
    try (var origin = ScriptedOrigin.open(h2(resets), h2(H2OriginTest::answers));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      assertThat(fixture.get("/").content()).isEqualTo("ok");
    }
  }

  @Test
  void aStreamThatIsResetIsSentAgainOnTheConnectionThatLivesAndIsAFailure() throws Exception {
    H2Script resets =
        h2 -> {
          h2.answer(h2.request(), "ok").reset(h2.request(), INTERNAL_ERROR);
          answers(h2);
        };
    try (var origin = ScriptedOrigin.open(h2(resets), h2(H2OriginTest::answers));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      fixture.get("/");
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(1);
      assertThat(fixture.origins.getFirst().health().failuresInAll()).isEqualTo(1);
    }
  }

  @Test
  void anOriginThatResetsEachStreamIsAskedAsOftenAsRetriesAllow() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    H2Script resets =
        h2 -> {
          h2.answer(h2.request(), "ok");
          while (true) {
            int stream = h2.request();
            asked.incrementAndGet();
            h2.reset(stream, INTERNAL_ERROR);
          }
        };
    try (var origin = ScriptedOrigin.open(h2(resets));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      Failure failure = await(fixture.send("GET", URI).ended()).failure();
      assertThat(failure.kind()).isEqualTo(ErrorType.CONNECTION_TERMINATED);
      assertThat(asked.get()).isEqualTo(1 + SETTINGS.retries());
    }
  }

  @Test
  void requestsThatAnOriginAnswersBadlyAreNoFloodAndSpareTheOthersOfTheirConnection()
      throws Exception {
    CountDownLatch allBad = new CountDownLatch(1);
    H2Script script =
        h2 -> {
          int good = h2.request();
          h2.head(good, false, ":status", "200");
          for (int i = 0; i < 500; i++) {
            h2.head(h2.request(), true, ":status", "200", "connection", "close");
            h2.reset(h2.request(), INTERNAL_ERROR);
          }
          waitFor(allBad);
          h2.data(good, true, "whole");
          h2.await(H2Conversation.GOAWAY);
        };
    try (var origin = ScriptedOrigin.open(h2(script));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply good = fixture.send("GET", URI);
      for (int i = 0; i < 500; i++) {
        Failure malformed = await(fixture.send("POST", URI).ended()).failure();
        assertThat(malformed.reason())
            .endsWith("Illegal connection-specific header 'connection' encountered.");
        assertThat(await(fixture.send("POST", URI).ended()).failure().kind())
            .isEqualTo(ErrorType.CONNECTION_TERMINATED);
      }
      allBad.countDown();
      assertThat(await(good.ended()).content()).isEqualTo("whole");
    }
  }

  @Test
  void aStreamThatIsResetWithinItsContentIsIncomplete() throws Exception {
    Failure failure =
        failure(
            h2 -> {
              int stream = h2.request();
              h2.head(stream, false, ":status", "200").data(stream, false, "a");
              h2.reset(stream, INTERNAL_ERROR);
            });
    assertThat(failure.kind()).isEqualTo(ErrorType.HTTP_RESPONSE_INCOMPLETE);
  }

  @Test
  void aClientThatLeavesEndsItsStreamAndSparesTheConnection() throws Exception {
    CompletableFuture<Integer> code = new CompletableFuture<>();
    H2Script script =
        h2 -> {
          int stream = h2.request();
          h2.head(stream, false, ":status", "200").data(stream, false, "a");
          code.complete(h2.await(H2Conversation.RST_STREAM).number(0));
          h2.data(stream, true, "late");
          answers(h2);
        };
    try (var origin = ScriptedOrigin.open(h2(script));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = fixture.send("GET", URI);
      await(reply.begun());
      fixture.onLoop(
          () -> {
            reply.source().cancel(Failure.of(ErrorType.CLIENT_GONE, "gone"));
            return null;
          });
      assertThat(await(code)).isEqualTo(CANCEL);
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      assertThat(origin.connections()).isEqualTo(1);
    }
  }

  @Test
  void lateSectionsOfStreamsThatWereGivenUpAreNoFloodButSectionsWithoutEndAre() throws Exception {
    int given = 500;
    H2Script script =
        h2 -> {
          int other = h2.request();
          h2.head(other, false, ":status", "200").data(other, false, "a");
          int last = 0;
          for (int i = 0; i < given; i++) {
            last = h2.request();
            h2.head(last, false, ":status", "200");
            h2.await(H2Conversation.RST_STREAM);
            h2.head(last, true, "late", "trailers");
          }
          h2.data(other, false, "b");
          for (int i = 0; i < 2_000; i++) {
            h2.head(last, true, "late", "trailers");
          }
          h2.data(other, true, "c");
        };
    try (var origin = ScriptedOrigin.open(h2(script));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply other = fixture.send("POST", URI);
      await(other.begun());
      for (int i = 0; i < given; i++) {
        RecordingReply reply = fixture.send("GET", URI);
        await(reply.begun());
        fixture.onLoop(
            () -> {
              reply.source().cancel(Failure.of(ErrorType.CLIENT_GONE, "gone"));
              return null;
            });
      }
      assertThat(await(other.ended()).failure().reason()).endsWith("a flood of frames");
      assertThat(other.content()).isEqualTo("ab");
      assertThat(origin.connections()).isEqualTo(1);
    }
  }

  @Test
  void aConnectionThatEndsTakesItsRequestsAlongButIdempotentOnesAreSentAgain() throws Exception {
    Script ends =
        with -> {
          H2Conversation h2 = new H2Conversation(with);
          h2.request();
          h2.request();
          with.close();
        };
    try (var origin = ScriptedOrigin.open(ends, h2(H2OriginTest::answers));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply get = fixture.send("GET", URI);
      RecordingReply post = fixture.send("POST", URI);
      assertThat(await(post.ended()).failure().kind()).isEqualTo(ErrorType.CONNECTION_TERMINATED);
      assertThat(await(get.ended()).content()).isEqualTo("ok");
    }
  }

  // Back-pressure and deadlines

  @Test
  void aSlowClientHoldsBackItsStreamAndNoOther() throws Exception {
    int window = 128 * 1024;
    String content = "x".repeat(16 * 1024);
    CountDownLatch resumed = new CountDownLatch(1);
    CompletableFuture<Boolean> credited = new CompletableFuture<>();
    H2Script script =
        h2 -> {
          int slow = h2.request();
          h2.head(slow, false, ":status", "200");
          for (int sent = 0; sent < window; sent += content.length()) {
            h2.data(slow, false, content);
          }
          h2.answer(h2.request(), "ok");
          h2.request();
          credited.complete(
              h2.passed().stream()
                  .anyMatch(f -> f.type() == H2Conversation.WINDOW_UPDATE && f.stream() == slow));
          resumed.countDown();
          while (h2.await(H2Conversation.WINDOW_UPDATE).stream() != slow) {}
          h2.data(slow, true, content);
        };
    try (var origin = ScriptedOrigin.open(h2(script));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply slow =
          fixture.send(
              RequestHead.of("GET", URI),
              RequestContent.NONE,
              new RecordingReply().onlyCounting().pausedAtOnce());
      await(slow.begun());
      assertThat(fixture.get("/").content()).isEqualTo("ok");
      fixture.send("GET", URI);
      assertThat(await(credited)).isFalse();
      waitFor(resumed);
      fixture.onLoop(
          () -> {
            slow.source().resume();
            return null;
          });
      assertThat(await(slow.ended()).received()).isEqualTo(window + content.length());
    }
  }

  @Test
  void windowsOfResponsesThatAreGivenUpAreLentAgain() throws Exception {
    // All streams of a connection share what their windows grow by: 16 MiB.
    int window = 128 * 1024;
    int givenUp = 16 * 1024 * 1024 / window;
    String content = "x".repeat(16 * 1024);
    CompletableFuture<Integer> grown = new CompletableFuture<>();
    H2Script script =
        h2 -> {
          for (int i = 0; i <= givenUp; i++) {
            int stream = h2.request();
            h2.head(stream, false, ":status", "200");
            for (int sent = 0; sent < window; sent += content.length()) {
              h2.data(stream, false, content);
            }
            if (i == givenUp) {
              int credit = 0;
              while (credit <= window) {
                Frame update = h2.await(H2Conversation.WINDOW_UPDATE);
                credit += update.stream() == stream ? update.number(0) : 0;
              }
              grown.complete(credit);
              h2.data(stream, true, "");
            }
          }
        };
    try (var origin = ScriptedOrigin.open(h2(script));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      for (int i = 0; i < givenUp; i++) {
        RecordingReply reply = new RecordingReply().onlyCounting().cancellingAt(window);
        fixture.send(RequestHead.of("GET", URI), RequestContent.NONE, reply);
        await(reply.ended());
      }
      RecordingReply last = new RecordingReply().onlyCounting();
      fixture.send(RequestHead.of("GET", URI), RequestContent.NONE, last);
      assertThat(await(grown)).isEqualTo(2 * window);
      await(last.ended());
    }
  }

  /** A stream grows to 8 MiB at the most, and all of a connection by 16 MiB. */
  @Test
  void whatWindowsMayGrowByHasAnEnd() throws Exception {
    int kib = 1024;
    String content = "x".repeat(16 * kib);
    int[] windows = new int[8];
    int[] most = new int[windows.length];
    H2Script script =
        h2 -> {
          int first = h2.request();
          int[] streams = {first, h2.request(), h2.request()};
          for (int stream : streams) {
            h2.head(stream, false, ":status", "200");
            windows[stream] = 128 * kib;
          }
          for (int stream : streams) {
            int end = stream == streams[2] ? 2 << 20 : 24 << 20;
            for (int sent = 0; sent < end; sent += content.length()) {
              while (windows[stream] < content.length()) {
                Frame update = h2.await(H2Conversation.WINDOW_UPDATE);
                assertThat(update.number(0)).isPositive();
                windows[update.stream()] += update.number(0);
                most[update.stream()] = Math.max(most[update.stream()], windows[update.stream()]);
              }
              windows[stream] -= content.length();
              h2.data(stream, false, content);
            }
          }
          for (int stream : streams) {
            h2.data(stream, true, "");
          }
        };
    try (var origin = ScriptedOrigin.open(h2(script));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      List<RecordingReply> replies = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        RecordingReply reply = new RecordingReply().onlyCounting();
        replies.add(reply);
        fixture.send(RequestHead.of("GET", URI), RequestContent.NONE, reply);
      }
      for (RecordingReply reply : replies) {
        assertThat(await(reply.ended()).hasFailed()).isFalse();
      }
      assertThat(most[1]).isBetween(4 << 20, 8 << 20);
      assertThat(most[3]).isBetween(4 << 20, 8 << 20);
      assertThat(most[5]).as("what the others left").isBetween(128 * kib, 384 * kib);
    }
  }

  @Test
  void aHeadThatDoesNotComeIsATimeout() throws Exception {
    H2Script silent = h2 -> h2.await(H2Conversation.RST_STREAM);
    try (var origin = ScriptedOrigin.open(h2(silent));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = fixture.send("GET", URI);
      Failure failure = untilEnded(fixture, reply, Duration.ofSeconds(2));
      assertThat(failure.kind())
          .isIn(ErrorType.HTTP_RESPONSE_TIMEOUT, ErrorType.CONNECTION_READ_TIMEOUT);
    }
  }

  @Test
  void anOriginThatGivesNoSignOfLifeIsGivenUp() throws Exception {
    CompletableFuture<Void> asked = new CompletableFuture<>();
    H2Script silent =
        h2 -> {
          h2.request();
          h2.await(H2Conversation.PING);
          asked.complete(null);
          h2.await(H2Conversation.RST_STREAM);
        };
    try (var origin = ScriptedOrigin.open(h2(silent));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      RecordingReply reply = fixture.send("GET", URI);
      Failure failure = untilEnded(fixture, reply, Duration.ofSeconds(6));
      assertThat(failure.kind()).isEqualTo(ErrorType.CONNECTION_READ_TIMEOUT);
      assertThat(failure.reason()).endsWith("gave no sign of life");
      await(asked);
    }
  }

  /** The pool looks at deadlines four times a second, so once at least in each step. */
  private static Failure untilEnded(UpstreamFixture fixture, RecordingReply reply, Duration step)
      throws Exception {
    while (!reply.ended().isDone()) {
      fixture.clock.advance(step);
      await(fixture.loop().schedule(() -> {}, 300, MILLISECONDS));
    }
    return reply.failure();
  }

  private static void waitFor(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }
}
