package io.kamille.core.origin.send;

import static io.kamille.core.origin.send.UpstreamFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.content.QueuePieces;
import io.kamille.core.content.Spool;
import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.send.ScriptedOrigin.Script;
import io.kamille.core.setting.Sections;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCounted;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Content that waits keeps its order and gives all room back, whatever the disk does. */
class SpoolTest {

  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  private static final int MEMORY_BYTES = 40_000;

  @TempDir private Path directory;
  private final ExecutorService threads = Executors.newFixedThreadPool(2);

  @AfterEach
  void close() {
    threads.shutdown();
  }

  @Test
  void contentBeyondMemoryWaitsInAFileWithoutAName() throws Exception {
    String whole = letters(280_000);
    CompletableFuture<String> got = new CompletableFuture<>();
    try (var origin = ScriptedOrigin.open(reads(got, whole.length()));
        var fixture = new UpstreamFixture(settings(), disk(1 << 20, 1 << 20), origin)) {
      var content = new ScriptedContent(fixture.loop(), whole.length());
      RecordingReply reply = fixture.send(post(), content);
      for (int at = 0; at < 270_000; at += 30_000) {
        content.write(whole.substring(at, at + 30_000));
      }
      await(content.fed());
      Await.until(() -> fixture.uploads.heldBytes() < 2 * MEMORY_BYTES, "the rest is written");
      assertThat(fixture.metric(Spool.IN_FILE)).isGreaterThanOrEqualTo(200_000);
      assertThat(directory.resolve("spool")).isEmptyDirectory();
      assertThat(origin.connections()).isZero();
      content.finish(whole.substring(270_000));
      assertThat(await(got)).isEqualTo(whole);
      assertThat(await(reply.ended()).content()).isEqualTo("ok");
      isFree(fixture);
      assertThat(fixture.metric(Spool.FULL)).isZero();
    }
  }

  @Test
  void whatFileAndDiskHaveNoRoomForGoesToTheOriginAtOnce() throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "in the way");
    for (Spool.Disk disk :
        List.of(
            disk(1 << 20, 100_000),
            disk(100_000, 1 << 20),
            new Spool.Disk(file.resolve("spool"), 1 << 20, 1 << 20, threads))) {
      String whole = letters(240_000);
      CompletableFuture<Void> asked = new CompletableFuture<>();
      CompletableFuture<String> got = new CompletableFuture<>();
      Script reads =
          with -> {
            with.readHead();
            asked.complete(null);
            StringBuilder all = new StringBuilder();
            while (all.length() < whole.length()) {
              int length = Integer.parseInt(with.readUntil("\r\n").strip(), 16);
              all.append(with.read(length));
              with.readUntil("\r\n");
            }
            got.complete(all.toString());
            with.send(OK);
          };
      try (var origin = ScriptedOrigin.open(reads);
          var fixture = new UpstreamFixture(settings(), disk, origin)) {
        var content = new ScriptedContent(fixture.loop(), RequestContent.UNKNOWN_LENGTH);
        RecordingReply reply = fixture.send(post(), content);
        for (int at = 0; at < 240_000; at += 24_000) {
          content.write(whole.substring(at, at + 24_000));
        }
        await(asked);
        content.end(null);
        assertThat(await(got)).isEqualTo(whole);
        assertThat(await(reply.ended()).content()).isEqualTo("ok");
        isFree(fixture);
        assertThat(fixture.metric(Spool.FULL)).isOne();
      }
    }
  }

  @Test
  void aClientThatGoesAwayLeavesNoFile() throws Exception {
    try (var origin = ScriptedOrigin.open();
        var fixture = new UpstreamFixture(settings(), disk(1 << 20, 1 << 20), origin)) {
      var content = new ScriptedContent(fixture.loop(), RequestContent.UNKNOWN_LENGTH);
      fixture.send(post(), content);
      content.write(letters(400_000));
      content.abort(Failure.of(ErrorType.CLIENT_GONE, "it went"));
      await(content.fed());
      isFree(fixture);
    }
  }

  @Test
  void contentKeepsItsOrderHoweverItIsTaken() throws Exception {
    long seed = System.nanoTime();
    var random = new Random(seed);
    var spool = new Spool(50_000, disk(2 << 20, 1 << 20), new MetricRegistry());
    try (var fixture = new UpstreamFixture(settings(), 1)) {
      for (int round = 0; round < 30; round++) {
        var taker = new Taker(random, spool, fixture.loop());
        StringBuilder sent = new StringBuilder();
        for (int i = 0; i < 40; i++) {
          String part = letters(random.nextInt(40_000));
          sent.append(part);
          fixture.onLoop(
              () -> {
                taker.held.write(Unpooled.copiedBuffer(part, StandardCharsets.US_ASCII));
                taker.read();
                return null;
              });
        }
        taker.isSlow = false;
        Await.until(
            () -> {
              fixture.loop().execute(taker::read);
              return taker.isDone;
            },
            "all is taken");
        assertThat(taker.taken.toString()).as("seed " + seed).isEqualTo(sent.toString());
      }
      Await.until(() -> spool.heldBytes() == 0 && spool.bytesInFile() == 0, "the room is free");
    }
  }

  @Test
  void whatComesWhileABlockIsReadFollowsIt() {
    var disk = new Spool.Disk(directory.resolve("spool"), 1 << 20, 1 << 20, Runnable::run);
    var spool = new Spool(0, disk, new MetricRegistry());
    var channel = new EmbeddedChannel();
    var held = new QueuePieces(ContentSource.NONE, channel.eventLoop(), 0, 1 << 20, spool);
    String first = letters(1024);
    held.write(Unpooled.copiedBuffer(first, StandardCharsets.US_ASCII));
    channel.runPendingTasks();
    assertThat(next(held)).as("the block, which is in the file").isNull();
    held.write(Unpooled.copiedBuffer("second", StandardCharsets.US_ASCII));
    channel.runPendingTasks();
    assertThat(next(held)).isEqualTo(first);
    assertThat(next(held)).isEqualTo("second");
    held.close(null);
    channel.finishAndReleaseAll();
  }

  private static @Nullable String next(QueuePieces from) {
    var window = new ArrayDeque<ReferenceCounted>();
    from.next(window);
    if (window.isEmpty()) {
      return null;
    }
    ByteBuf chunk = (ByteBuf) window.remove();
    String text = chunk.toString(StandardCharsets.US_ASCII);
    chunk.release();
    return text;
  }

  /** Takes content now and then. */
  private static final class Taker implements ContentSink {

    private final Random random;
    private final StringBuilder taken = new StringBuilder();
    private final QueuePieces held;
    private volatile boolean isSlow = true;
    private volatile boolean isDone;

    Taker(Random random, Spool spool, EventLoop loop) {
      this.random = new Random(random.nextLong());
      held = new QueuePieces(ContentSource.NONE, loop, 40_000, 300_000, spool);
      held.giveTo(this);
    }

    void read() {
      if (!isSlow || random.nextInt(3) == 0) {
        held.resume();
      }
      isDone = !isSlow && held.isEmpty();
    }

    @Override
    public void write(ByteBuf chunk) {
      taken.append(chunk.toString(StandardCharsets.US_ASCII));
      chunk.release();
      if (isSlow && random.nextInt(3) != 0) {
        held.pause();
      }
    }

    @Override
    public void end(@Nullable Fields trailers) {}

    @Override
    public void abort(Failure why) {
      throw new AssertionError(why.reason());
    }
  }

  private static void isFree(UpstreamFixture fixture) {
    Await.until(
        () -> fixture.uploads.heldBytes() == 0 && fixture.uploads.bytesInFile() == 0,
        "the room is free");
  }

  private Spool.Disk disk(long mostBytes, long fileBytes) {
    return new Spool.Disk(directory.resolve("spool"), mostBytes, fileBytes, threads);
  }

  private static Script reads(CompletableFuture<String> got, int length) {
    return with -> {
      with.readHead();
      got.complete(with.read(length));
      with.send(OK);
    };
  }

  private static RequestHead post() {
    return RequestHead.of("POST", "http://example.org/");
  }

  private static String letters(int count) {
    StringBuilder text = new StringBuilder(count);
    for (int i = 0; i < count; i++) {
      text.append((char) ('a' + (i + i / 26) % 26));
    }
    return text.toString();
  }

  private static UpstreamSettings settings() {
    return Sections.copy(
            Sections.of(UpstreamSettings.SECTION, "{max-connections: 4, idle-timeout: 1m}"))
        .with("pool.uploadBufferBytes", MEMORY_BYTES)
        .record();
  }
}
