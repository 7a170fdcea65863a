package io.kamille.core.client.h1;

import static io.kamille.core.client.h1.TestServer.octets;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.client.h1.TestServer.Ended;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.ResponseHead;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.FileRegion;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Regions of files toward the client: they count, press back, time out and end like octets. */
class RegionIT {

  private static final int MIB = 1 << 20;

  /** More than any kernel buffer. */
  private static final int LARGE = 64 * MIB;

  @TempDir private Path directory;

  private final TestServer server = new TestServer();
  private final TestSource source = new TestSource();
  private final List<FileRegion> regions = new CopyOnWriteArrayList<>();
  private final AtomicReference<@Nullable Exchange> current = new AtomicReference<>();
  private Path file = Path.of("");

  @BeforeEach
  void sparseFile() throws IOException {
    file = directory.resolve("sparse");
    try (var sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(LARGE);
    }
  }

  @AfterEach
  void everyRegionIsReleased() {
    server.close();
    assertThat(regions).allMatch(region -> region.refCnt() == 0);
  }

  @Test
  void octetsAndRegionsArriveInOrder() throws IOException {
    Path text = directory.resolve("text");
    Files.writeString(text, "0123456789", StandardCharsets.US_ASCII);
    server.on(
        "/",
        exchange -> {
          Reply reply = exchange.reply();
          begin(reply, 14);
          assertThat(reply.takesRegions()).isTrue();
          reply.write(octets("<"));
          reply.write(region(text, 2, 5));
          reply.write(octets("|"));
          reply.write(region(text, 0, 6));
          reply.write(octets(">"));
          reply.end(null);
        });
    TestClient client = server.connect();
    assertThat(client.get("/").answer().content()).isEqualTo("<23456|012345>");
    assertThat(client.get("/other").answer().content()).isEqualTo("/other");
    assertThat(server.ended()).contains(new Ended("/", 200, 14));
  }

  @Test
  void theSourceIsPausedUntilTheRegionHasLeft() {
    server.on("/", this::large);
    TestClient client = server.connect(4_096);
    client.get("/");
    arrived();
    server.settle();
    assertThat(source.paused).isTrue();
    client.readUntil("\r\n\r\n");
    client.octets(LARGE / 2);
    server.settle();
    assertThat(source.resumes.get()).isZero();
    client.octets(LARGE / 2);
    Await.until(() -> !source.paused, "the resumption");
    assertThat(server.ended()).isEmpty();
    Exchange exchange = arrived();
    exchange.loop().execute(() -> exchange.reply().end(null));
    assertThat(client.get("/other").answer().content()).isEqualTo("/other");
    assertThat(server.ended().getFirst()).isEqualTo(new Ended("/", 200, LARGE));
  }

  @Test
  void aSourceThatOpensBehindARegionIsPausedUntilItHasLeft() {
    server.on(
        "/",
        exchange -> {
          begin(exchange.reply(), LARGE);
          exchange.reply().write(region(file, 0, LARGE));
          exchange.reply().open(source);
          current.set(exchange);
        });
    TestClient client = server.connect(4_096);
    client.get("/");
    arrived();
    assertThat(source.pauses.get()).isEqualTo(1);
    client.readUntil("\r\n\r\n");
    client.octets(LARGE);
    Await.until(() -> source.resumes.get() == 1, "the resumption");
  }

  @Test
  void noRequestIsLookedAtWhileARegionIsLeft() {
    AtomicInteger handled = new AtomicInteger();
    server.on(
        "/",
        exchange -> {
          handled.incrementAndGet();
          large(exchange);
          exchange.reply().end(null);
        });
    TestClient client = server.connect(4_096);
    client.get("/").get("/");
    arrived();
    server.settle();
    for (int answers = 1; answers <= 2; answers++) {
      client.readUntil("\r\n\r\n");
      client.octets(LARGE / 2);
      server.settle();
      assertThat(handled.get()).isEqualTo(answers);
      client.octets(LARGE / 2);
    }
    assertThat(client.get("/other").answer().content()).isEqualTo("/other");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aClientThatTakesNothingIsClosed(boolean ended) {
    server.on("/", exchange -> large(exchange, ended));
    TestClient slow = server.connect(4_096);
    slow.get("/");
    arrived();
    server.settle();
    for (int i = 0; i < 5 && server.connections() > 0; i++) {
      server.pass(Duration.ofSeconds(31));
    }
    Await.until(() -> server.connections() == 0, "its end");
    assertThatThrownBy(slow::answer).hasRootCauseInstanceOf(IOException.class);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aSlowClientThatTakesSomethingIsKept(boolean ended) {
    server.on("/", exchange -> large(exchange, ended));
    TestClient slow = server.connect(4_096);
    slow.get("/", ended ? "Connection: close" : "X: y");
    slow.readUntil("\r\n\r\n");
    for (int i = 0; i < 6; i++) {
      slow.octets(8 * MIB);
      server.pass(Duration.ofSeconds(29));
    }
    slow.octets(16 * MIB);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aClientThatTakesARegionTooSlowlyIsReset(boolean ended) {
    try (TestServer strict = new TestServer(TestServer.withDownloadRate(), 1)) {
      strict.on("/", exchange -> large(exchange, ended));
      TestClient slow = strict.connect(4_096);
      slow.get("/").readUntil("\r\n\r\n");
      strict.settle();
      for (int i = 0; i < 10 && strict.connections() > 0; i++) {
        slow.octets(10);
        strict.pass(Duration.ofSeconds(10));
        strict.settle();
      }
      assertThat(strict.connections()).isZero();
      assertThat(strict.loops().getFirst().connections().tooSlow()).isEqualTo(1);
    }
  }

  @Test
  void aClientGoneWithinARegionIsCountedByWhatItMayHaveGot() {
    server.on("/", this::large);
    TestClient client = server.connect(4_096);
    client.get("/");
    client.octets(MIB);
    client.reset();
    Await.until(() -> !server.ended().isEmpty(), "the end");
    server.settle();
    assertThat(source.cancelled).hasSize(1);
    assertThat(server.ended().getFirst().contentBytes()).isBetween(MIB - 1_000L, LARGE - 1L);
  }

  @Test
  void afterTheClientHasGoneARegionIsOnlyReleased() {
    server.on(
        "/",
        exchange -> {
          begin(exchange.reply(), LARGE);
          current.set(exchange);
        });
    TestClient client = server.connect();
    client.get("/");
    Exchange exchange = arrived();
    client.reset();
    Await.until(() -> server.connections() == 0, "the end");
    exchange
        .loop()
        .execute(
            () -> {
              exchange.reply().write(region(file, 0, LARGE));
              exchange.reply().write(region(file, 0, LARGE));
            });
    server.settle();
    assertThat(regions).hasSize(2);
  }

  @Test
  void moreThanTheLengthSaysBreaksOff() {
    server.on(
        "/",
        exchange -> {
          begin(exchange.reply(), MIB);
          exchange.reply().write(region(file, 0, MIB + 1));
        });
    TestClient client = server.connect();
    client.get("/");
    client.readUntil("\r\n\r\n");
    assertThat(client.rest()).isEmpty();
  }

  @Test
  void chunkedContentTakesNoRegions() {
    server.on(
        "/",
        exchange -> {
          Reply reply = exchange.reply();
          reply.head(ResponseHead.of(200), Reply.UNKNOWN_LENGTH);
          assertThat(reply.takesRegions()).isFalse();
          assertThatIllegalStateException().isThrownBy(() -> reply.write(region(file, 0, 10)));
          reply.write(octets("abc"));
          reply.end(null);
        });
    Answer answer = server.connect().get("/").answer();
    assertThat(answer.content()).isEqualTo("abc");
  }

  private void large(Exchange exchange) {
    Reply reply = exchange.reply();
    reply.open(source);
    begin(reply, LARGE);
    reply.write(region(file, 0, LARGE));
    current.set(exchange);
  }

  private void large(Exchange exchange, boolean ended) {
    large(exchange);
    if (ended) {
      exchange.reply().end(null);
    }
  }

  private Exchange arrived() {
    Await.until(() -> current.get() != null, "the request");
    return Objects.requireNonNull(current.get());
  }

  private FileRegion region(Path of, long position, long count) {
    FileRegion region = new DefaultFileRegion(of.toFile(), position, count);
    regions.add(region);
    return region;
  }

  private static void begin(Reply reply, long length) {
    byte[] own = ("Content-Length: " + length + "\r\n").getBytes(StandardCharsets.US_ASCII);
    reply.storedHead(200, own, own.length, octets("\r\n"), length);
  }
}
