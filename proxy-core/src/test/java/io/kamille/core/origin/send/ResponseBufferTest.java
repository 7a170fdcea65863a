package io.kamille.core.origin.send;

import static io.kamille.core.origin.send.UpstreamFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.content.Spool;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.RequestHead;
import io.kamille.core.origin.UpstreamMetrics;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.send.ScriptedOrigin.Script;
import io.kamille.core.setting.Sections;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A client that reads slowly keeps no connection to an origin busy. */
class ResponseBufferTest {

  private static final String CONTENT = "0123456789".repeat(30_000);
  private static final String HEAD = "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n";

  @TempDir private Path directory;
  private final ExecutorService threads = Executors.newSingleThreadExecutor();

  @AfterEach
  void close() {
    threads.shutdown();
  }

  @Test
  void twentySlowReadersHoldOneConnection() throws Exception {
    Script answers =
        with -> {
          for (int i = 0; i < 20; i++) {
            with.readHead();
            with.send(HEAD + "\r\n" + CONTENT);
          }
        };
    var disk = new Spool.Disk(directory, 8 << 20, 1 << 20, threads);
    try (var origin = ScriptedOrigin.open(answers);
        var fixture = new UpstreamFixture(settings(1 << 20), disk, origin)) {
      List<RecordingReply> readers = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        readers.add(new RecordingReply().pausedAtOnce());
        get(fixture, readers.getLast());
      }
      for (RecordingReply reader : readers) {
        await(reader.begun());
      }
      Await.until(() -> origin.heads().size() == 20, "the origin has seen all");
      assertThat(origin.connections()).isOne();
      for (RecordingReply reader : readers) {
        fixture.loop().execute(reader.source()::resume);
        assertThat(await(reader.ended()).content()).isEqualTo(CONTENT);
      }
      assertThat(fixture.uploads.heldBytes()).isZero();
      assertThat(fixture.uploads.bytesInFile()).isZero();
    }
  }

  @Test
  void noMoreThanTheBufferIsTaken() throws Exception {
    Script answers =
        with -> {
          with.readHead();
          with.send(HEAD + "\r\n" + CONTENT);
          with.readHead();
        };
    try (var origin = ScriptedOrigin.open(answers);
        var fixture = new UpstreamFixture(settings(100_000), origin)) {
      var reader = new RecordingReply().pausedAtOnce();
      get(fixture, reader);
      Await.until(() -> fixture.uploads.heldBytes() >= 100_000, "the buffer is full");
      assertThat(fixture.uploads.heldBytes()).isLessThan(250_000);
      fixture.loop().execute(reader.source()::resume);
      assertThat(await(reader.ended()).content()).isEqualTo(CONTENT);
      assertThat(fixture.uploads.heldBytes()).isZero();
    }
  }

  @Test
  void aClientThatLeavesWhileItsResponseIsHeldEndsOneRequest() throws Exception {
    Script answers =
        with -> {
          with.readHead();
          with.send(HEAD + "\r\n" + CONTENT);
          with.readHead();
        };
    try (var origin = ScriptedOrigin.open(answers);
        var fixture = new UpstreamFixture(settings(100_000), origin)) {
      var reader = new RecordingReply().pausedAtOnce();
      get(fixture, reader);
      Await.until(() -> fixture.uploads.heldBytes() >= 100_000, "the buffer is full");
      fixture.onLoop(
          () -> {
            reader.source().cancel(Failure.of(ErrorType.CLIENT_GONE, "it went"));
            return null;
          });
      assertThat(fixture.origins.getFirst().inFlight()).isZero();
      assertThat(fixture.uploads.heldBytes()).isZero();
    }
  }

  @Test
  void aClientThatStopsNowAndThenGetsAllWhateverRoomThereIs() throws Exception {
    String head = "HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n";
    Script answers =
        with -> {
          with.readHead();
          with.send(head + CONTENT.repeat(10));
          with.readHead();
        };
    for (Spool.Disk disk :
        List.of(
            new Spool.Disk(directory, 0, 0, threads),
            new Spool.Disk(directory, 8 << 20, 100_000, threads),
            new Spool.Disk(directory, 200_000, 1 << 20, threads))) {
      try (var origin = ScriptedOrigin.open(answers);
          var fixture = new UpstreamFixture(settings(400_000), disk, origin)) {
        fixture.uploads.take(UpstreamFixture.ROOM_BYTES - 150_000);
        var reader = new RecordingReply().pausedAtOnce();
        get(fixture, reader);
        await(reader.begun());
        for (int i = 0; !reader.isEnded(); i++) {
          boolean stops = i % 3 == 0;
          fixture.onLoop(
              () -> {
                reader.source().resume();
                reader.source().pause();
                if (!stops) {
                  reader.source().resume();
                }
                return null;
              });
        }
        assertThat(reader.content()).isEqualTo(CONTENT.repeat(10));
        fixture.uploads.giveBack(UpstreamFixture.ROOM_BYTES - 150_000);
        Await.until(() -> fixture.uploads.heldBytes() == 0, "the memory is free");
      }
    }
  }

  @Test
  void eventStreamsAreNotHeld() throws Exception {
    Script answers =
        with -> {
          with.readHead();
          with.send(HEAD + "Content-Type: text/event-stream\r\n\r\n" + CONTENT);
        };
    try (var origin = ScriptedOrigin.open(answers);
        var fixture = new UpstreamFixture(settings(1 << 20), origin)) {
      var reader = new RecordingReply().pausedAtOnce();
      get(fixture, reader);
      await(reader.begun());
      fixture.onLoop(() -> null);
      assertThat(fixture.uploads.heldBytes()).isZero();
      fixture.loop().execute(reader.source()::resume);
      assertThat(await(reader.ended()).content()).isEqualTo(CONTENT);
    }
  }

  @Test
  void aResponseThatIsCutStaysCutAndAClientThatGoesLeavesNothing() throws Exception {
    Script cuts =
        with -> {
          with.readHead();
          with.send(HEAD + "\r\n" + CONTENT.substring(1));
          with.close();
        };
    Script answers =
        with -> {
          with.readHead();
          with.send(HEAD + "\r\n" + CONTENT);
          with.readHead();
        };
    try (var origin = ScriptedOrigin.open(cuts, answers);
        var fixture = new UpstreamFixture(settings(1 << 20), origin)) {
      var cut = new RecordingReply().pausedAtOnce();
      get(fixture, cut);
      assertThat(await(cut.ended()).failure().kind()).isEqualTo(ErrorType.HTTP_RESPONSE_INCOMPLETE);
      var gone = new RecordingReply().pausedAtOnce();
      get(fixture, gone);
      Await.until(() -> fixture.uploads.heldBytes() > 200_000, "the buffer holds it");
      fixture.onLoop(
          () -> {
            gone.source().cancel(Failure.of(ErrorType.CLIENT_GONE, "it went"));
            return null;
          });
      assertThat(fixture.uploads.heldBytes()).isZero();
    }
  }

  @Test
  void ifTheFileCannotBeReadTheMessageIsCutAndTheOriginIsFree() throws Exception {
    Script sendsAPart =
        with -> {
          with.readHead();
          with.send("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n" + CONTENT);
          with.readToEnd();
        };
    var disk = new Spool.Disk(directory, 8 << 20, 1 << 20, threads);
    try (var origin = ScriptedOrigin.open(sendsAPart);
        var fixture = new UpstreamFixture(settings(1 << 20), disk, origin)) {
      fixture.uploads.take(UpstreamFixture.ROOM_BYTES);
      var reader = new RecordingReply().pausedAtOnce();
      get(fixture, reader);
      Await.until(() -> fixture.uploads.bytesInFile() > 200_000, "most is in the file");
      threads.shutdown();
      assertThat(threads.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
      fixture.loop().execute(reader.source()::resume);
      assertThat(await(reader.ended()).failure().kind()).isEqualTo(ErrorType.PROXY_INTERNAL_ERROR);
      assertThat(reader.content()).isEmpty();
      assertThat(fixture.metric(UpstreamMetrics.IN_FLIGHT)).isZero();
      fixture.uploads.giveBack(UpstreamFixture.ROOM_BYTES);
      assertThat(fixture.uploads.heldBytes() + fixture.uploads.bytesInFile()).isZero();
    }
  }

  private static void get(UpstreamFixture fixture, RecordingReply reply) {
    fixture.send(RequestHead.of("GET", "http://example.org/"), RequestContent.NONE, reply);
  }

  private static UpstreamSettings settings(long responseBufferBytes) {
    return Sections.copy(
            Sections.of(
                UpstreamSettings.SECTION,
                """
                retries: 0
                max-connections: 1
                idle-timeout: 1m
                """))
        .with("pool.maxWaiting", 20)
        .with("pool.uploadBufferBytes", 0)
        .with("pool.responseBufferBytes", responseBufferBytes)
        .record();
  }
}
