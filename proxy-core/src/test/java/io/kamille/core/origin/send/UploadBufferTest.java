package io.kamille.core.origin.send;

import static io.kamille.core.origin.send.UpstreamFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.content.Spool;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.origin.UpstreamMetrics;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.send.ScriptedOrigin.Script;
import io.kamille.core.setting.Sections;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Content comes in before its request takes a connection, as far as memory goes. */
class UploadBufferTest {

  private static final String URI = "http://example.org/";
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  private static final Failure GONE = Failure.of(ErrorType.CLIENT_GONE, "it went");
  private static final UpstreamSettings SETTINGS = connections(4, 8L << 20);

  @Test
  void aRequestTakesNoConnectionBeforeItsContentIsHere() throws Exception {
    CompletableFuture<String> got = new CompletableFuture<>();
    try (var origin = ScriptedOrigin.open(reads(got, 40_000));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      var content = new ScriptedContent(fixture.loop(), 40_000);
      RecordingReply reply = fixture.send(post(), content);
      String whole = letters(40_000);
      content.write(whole.substring(0, 1));
      content.write(whole.substring(1, 3_000));
      content.write(whole.substring(3_000, 39_000));
      await(content.fed());
      assertThat(origin.connections()).isZero();
      assertThat(fixture.metric(Spool.HELD)).isBetween(39_000.0, 60_000.0);
      assertThat(fixture.metric(UpstreamMetrics.IN_FLIGHT)).isZero();
      content.finish(whole.substring(39_000));
      assertThat(await(got)).isEqualTo(whole);
      assertThat(await(reply.ended()).content()).isEqualTo("ok");
      assertThat(fixture.uploads.heldBytes()).isZero();
      assertThat(fixture.metric(Spool.FULL)).isZero();
    }
  }

  @Test
  void theClientIsAskedForItsContentAndTheOriginIsNot() throws Exception {
    CompletableFuture<String> got = new CompletableFuture<>();
    try (var origin = ScriptedOrigin.open(reads(got, 2));
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      var content = new ScriptedContent(fixture.loop(), 2);
      RequestHead head = RequestHead.of("PUT", URI, "Expect", "100-continue");
      RecordingReply reply = fixture.send(head, content);
      await(content.started());
      content.finish("hi");
      assertThat(await(reply.ended()).content()).isEqualTo("ok");
      assertThat(await(got)).isEqualTo("hi");
      assertThat(origin.heads().getFirst()).doesNotContain("Expect");
    }
  }

  @Test
  void contentOfUnknownLengthComesInFirstAndThenHasALength() throws Exception {
    CompletableFuture<String> got = new CompletableFuture<>();
    Script reads =
        with -> {
          String head = with.readHead();
          got.complete(head + with.read("hello".length()));
          with.send(OK);
        };
    try (var origin = ScriptedOrigin.open(reads);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      var content = new ScriptedContent(fixture.loop(), RequestContent.UNKNOWN_LENGTH);
      RecordingReply reply = fixture.send(post(), content);
      content.write("he");
      await(content.fed());
      assertThat(origin.connections()).isZero();
      content.finish("llo");
      assertThat(await(reply.ended()).content()).isEqualTo("ok");
      assertThat(await(got))
          .contains("Content-Length: 5\r\n")
          .doesNotContain("Transfer-Encoding")
          .endsWith("\r\n\r\nhello");
      assertThat(fixture.uploads.heldBytes()).isZero();
    }
  }

  @Test
  void contentWithTrailersStaysInChunks() throws Exception {
    CompletableFuture<String> got = new CompletableFuture<>();
    Script reads =
        with -> {
          String head = with.readHead();
          got.complete(head + with.readUntil("\r\n0\r\nDigest: x\r\n\r\n"));
          with.send(OK);
        };
    try (var origin = ScriptedOrigin.open(reads);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      var content = new ScriptedContent(fixture.loop(), RequestContent.UNKNOWN_LENGTH);
      RecordingReply reply = fixture.send(post(), content);
      content.write("hello");
      Fields trailers = new Fields();
      trailers.add("Digest", "x");
      content.end(trailers);
      assertThat(await(reply.ended()).content()).isEqualTo("ok");
      assertThat(await(got)).contains("Transfer-Encoding: chunked").contains("5\r\nhello");
    }
  }

  @Test
  void contentThatIsTooLongOrACallOfGrpcGoesStraightToTheOrigin() throws Exception {
    for (long length : new long[] {(8L << 20) + 1, RequestContent.UNKNOWN_LENGTH}) {
      String type = length < 0 ? "application/grpc+proto" : "text/plain";
      CompletableFuture<String> asked = new CompletableFuture<>();
      Script silent =
          with -> {
            asked.complete(with.readHead());
            with.readToEnd();
          };
      try (var origin = ScriptedOrigin.open(silent);
          var fixture = new UpstreamFixture(SETTINGS, origin)) {
        RequestHead head = RequestHead.of("POST", URI, "Content-Type", type);
        fixture.send(head, new ScriptedContent(fixture.loop(), length));
        assertThat(await(asked)).startsWith("POST / ");
      }
    }
  }

  @Test
  void ifTheMemoryIsUsedUpTheRequestGoesToTheOriginWithWhatIsHere() throws Exception {
    int length = 2 * UpstreamFixture.ROOM_BYTES;
    String whole = letters(length);
    CompletableFuture<Void> asked = new CompletableFuture<>();
    CompletableFuture<String> got = new CompletableFuture<>();
    Script reads =
        with -> {
          with.readHead();
          asked.complete(null);
          got.complete(with.read(length));
          with.send(OK);
        };
    try (var origin = ScriptedOrigin.open(reads);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      var content = new ScriptedContent(fixture.loop(), length);
      RecordingReply reply = fixture.send(post(), content);
      for (int at = 0; at < length; at += 1 << 17) {
        content.write(whole.substring(at, at + (1 << 17)));
        if (at == UpstreamFixture.ROOM_BYTES) {
          await(asked);
        }
      }
      content.end(null);
      assertThat(await(got)).isEqualTo(whole);
      assertThat(await(reply.ended()).content()).isEqualTo("ok");
      assertThat(fixture.metric(Spool.FULL)).isOne();
      assertThat(fixture.uploads.heldBytes()).isZero();
    }
  }

  @Test
  void anUploadThatWaitsForAConnectionIsPausedIfTheMemoryIsUsedUp() throws Exception {
    CompletableFuture<Void> go = new CompletableFuture<>();
    CompletableFuture<String> got = new CompletableFuture<>();
    int length = 2 * UpstreamFixture.ROOM_BYTES;
    Script busy =
        with -> {
          with.readHead();
          go.join();
          with.send(OK);
          with.readHead();
          got.complete(with.read(length));
          with.send(OK);
        };
    try (var origin = ScriptedOrigin.open(busy);
        var fixture = new UpstreamFixture(connections(1, 8L << 20), origin)) {
      RecordingReply first = fixture.send("GET", URI);
      var content = new ScriptedContent(fixture.loop(), length);
      RecordingReply reply = fixture.send(post(), content);
      String part = letters(UpstreamFixture.ROOM_BYTES);
      content.write(part);
      content.write(part.substring(0, 1));
      await(content.fed());
      assertThat(content.isPaused()).isTrue();
      go.complete(null);
      await(first.ended());
      content.finish(part.substring(1));
      assertThat(await(got)).isEqualTo(part + part);
      assertThat(await(reply.ended()).content()).isEqualTo("ok");
      assertThat(content.isPaused()).isFalse();
    }
  }

  @Test
  void aClientThatGoesAwayLeavesNothing() throws Exception {
    try (var origin = ScriptedOrigin.open();
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      var content = new ScriptedContent(fixture.loop(), 5_000);
      RecordingReply reply = fixture.send(post(), content);
      content.write(letters(4_000));
      await(content.fed());
      fixture.onLoop(
          () -> {
            reply.source().cancel(GONE);
            return null;
          });
      assertThat(await(content.cancelled()).kind()).isEqualTo(ErrorType.CLIENT_GONE);
      assertThat(fixture.uploads.heldBytes()).isZero();

      var cutShort = new ScriptedContent(fixture.loop(), 5_000);
      RecordingReply failed = fixture.send(post(), cutShort);
      cutShort.write(letters(4_000));
      cutShort.abort(GONE);
      assertThat(await(failed.ended()).failure().kind()).isEqualTo(ErrorType.CLIENT_GONE);
      assertThat(fixture.uploads.heldBytes()).isZero();
      assertThat(origin.connections()).isZero();
      assertThat(fixture.metric(UpstreamMetrics.FAILURES)).isZero();
    }
  }

  @Test
  void aClientThatGoesAwayWhileItsRequestWaitsInLineLeavesNothing() throws Exception {
    Script silent =
        with -> {
          with.readHead();
          with.readToEnd();
        };
    try (var origin = ScriptedOrigin.open(silent);
        var fixture = new UpstreamFixture(connections(1, 8L << 20), origin)) {
      fixture.send("GET", URI);
      var content = new ScriptedContent(fixture.loop(), 4);
      RecordingReply reply = fixture.send(post(), content);
      content.finish("data");
      await(content.fed());
      assertThat(fixture.uploads.heldBytes()).isEqualTo(4);
      fixture.onLoop(
          () -> {
            reply.source().cancel(GONE);
            return null;
          });
      assertThat(fixture.uploads.heldBytes()).isZero();
    }
  }

  @Test
  void aRequestThatNoOriginTakesLeavesNothing() throws Exception {
    ScriptedOrigin origin = ScriptedOrigin.open();
    origin.close();
    try (var fixture = new UpstreamFixture(SETTINGS, origin)) {
      var content = new ScriptedContent(fixture.loop(), 4);
      RecordingReply reply = fixture.send(post(), content);
      content.finish("data");
      assertThat(await(reply.ended()).failure().kind()).isEqualTo(ErrorType.CONNECTION_REFUSED);
      assertThat(fixture.uploads.heldBytes()).isZero();
    }
  }

  @Test
  void anOriginThatRefusesStopsContentThatIsHereAlready() throws Exception {
    Script refuses =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n");
          with.readToEnd();
        };
    int length = UpstreamFixture.ROOM_BYTES;
    try (var origin = ScriptedOrigin.open(refuses);
        var fixture = new UpstreamFixture(SETTINGS, origin)) {
      var content = new ScriptedContent(fixture.loop(), length);
      RecordingReply reply = fixture.send(post(), content);
      content.finish(letters(length));
      assertThat(await(reply.ended()).head().status()).isEqualTo(413);
      assertThat(fixture.uploads.heldBytes()).isZero();
    }
  }

  @Test
  void trailersOutliveTheCallThatBroughtThem() throws Exception {
    try (var fixture = new UpstreamFixture(SETTINGS, 1)) {
      var content = new ScriptedContent(fixture.loop(), 4);
      var owner = new Noting();
      var buffer = new UploadBuffer(content, fixture.loop(), 1 << 20, fixture.uploads, owner);
      Fields trailers = Fields.of("X-Sum", "3");
      buffer.fill();
      buffer.write(Unpooled.copiedBuffer("data", StandardCharsets.US_ASCII));
      buffer.end(trailers);
      trailers.clear();
      assertThat(owner.isReady).isTrue();
      var reply = new RecordingReply();
      reply.head(ResponseHead.of(200), 4);
      buffer.start(reply);
      assertThat(reply.content()).isEqualTo("data");
      assertThat(reply.trailers()).isEqualTo("X-Sum: 3\n");
    }
  }

  private static final class Noting implements UploadBuffer.Owner {

    private boolean isReady;

    @Override
    public void contentIsReady() {
      isReady = true;
    }

    @Override
    public void contentBroke(Failure why) {
      throw new AssertionError(why.reason());
    }
  }

  private static Script reads(CompletableFuture<String> got, int length) {
    return with -> {
      with.readHead();
      got.complete(with.read(length));
      with.send(OK);
      with.readToEnd();
    };
  }

  private static RequestHead post() {
    return RequestHead.of("POST", URI);
  }

  private static String letters(int count) {
    StringBuilder text = new StringBuilder(count);
    for (int i = 0; i < count; i++) {
      text.append((char) ('a' + (i + i / 26) % 26));
    }
    return text.toString();
  }

  private static UpstreamSettings connections(int count, long uploadBufferBytes) {
    return Sections.copy(
            Sections.of(UpstreamSettings.SECTION, "{max-connections: %d, idle-timeout: 1m}", count))
        .with("pool.maxWaiting", 8)
        .with("pool.uploadBufferBytes", uploadBufferBytes)
        .record();
  }
}
