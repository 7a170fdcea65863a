package io.kamille.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.admin.api.Answer;
import io.kamille.admin.api.Operation;
import io.kamille.admin.auth.Scope;
import io.kamille.core.setting.Sections;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Those who keep connections without using them leave room for others. */
class StreamLimitsIT {

  private static final int STREAMS = 32;
  private static final long MOST_OF_SOCKETS = 4 << 20;
  private static final int LARGE = 32 << 20;

  @TempDir private Path directory;
  private final List<Wire> wires = new ArrayList<>();
  private SmallAppliance appliance;
  private AdminServer server;
  private String token;

  @BeforeEach
  void open() throws IOException {
    appliance = new SmallAppliance();
    open(SmallAppliance.settings(SmallAppliance.ANY_PORT, directory.resolve("token")));
  }

  private void open(AdminSettings settings, Operation... more) throws IOException {
    server = appliance.open(settings, more);
    token = "Authorization: Bearer " + Files.readString(directory.resolve("token")).strip();
  }

  @AfterEach
  void close() throws IOException {
    for (Wire wire : wires) {
      wire.close();
    }
    server.close();
    appliance.close();
  }

  private Wire wire() throws IOException {
    Wire wire = new Wire(server.address());
    wires.add(wire);
    return wire;
  }

  private String get(String path) {
    return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + token + "\r\n\r\n";
  }

  private static String with(String field, String request) {
    return request.replace("\r\n\r\n", "\r\n" + field + "\r\n\r\n");
  }

  /** Nobody reads any of the streams. */
  @Test
  void ofAThousandStreamsAFewAreOpenedAndOthersAreStillAnswered() throws IOException {
    int opened = 0;
    for (int i = 0; i < 1_000; i++) {
      String head = wire().send(get("/v1/live")).head();
      if (head.startsWith("HTTP/1.1 200 ")) {
        opened++;
      } else {
        assertThat(head).startsWith("HTTP/1.1 503 ").contains("connection: close");
        wires.removeLast().close();
      }
    }
    assertThat(opened).isEqualTo(STREAMS);
    assertThat(wire().send(get("/v1/status")).response()).startsWith("HTTP/1.1 200 ");
  }

  @Test
  void aStreamThatEndsLeavesItsPlace() throws IOException {
    for (int i = 0; i < STREAMS; i++) {
      assertThat(wire().send(get("/v1/live")).head()).startsWith("HTTP/1.1 200 ");
    }
    wires.removeFirst().close();
    String head;
    do {
      try (Wire next = new Wire(server.address())) {
        head = next.send(get("/v1/live")).head();
      }
    } while (head.startsWith("HTTP/1.1 503 "));
    assertThat(head).startsWith("HTTP/1.1 200 ");
  }

  /** Neither requests nor answers pile up: what the sockets hold is all. */
  @Test
  void fromClientsThatDoNotReadNothingIsRead() throws IOException {
    ByteBuffer requests =
        ByteBuffer.wrap(
            "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
                .repeat(1_000)
                .getBytes(StandardCharsets.US_ASCII));
    List<SocketChannel> clients = new ArrayList<>();
    try {
      for (int i = 0; i < 20; i++) {
        SocketChannel client = SocketChannel.open();
        clients.add(client);
        client.setOption(StandardSocketOptions.SO_SNDBUF, 64 << 10);
        client.connect(server.address());
        client.configureBlocking(false);
      }
      long sent = 0;
      int idleRounds = 0;
      while (idleRounds < 20) {
        long before = sent;
        for (SocketChannel client : clients) {
          sent += client.write(requests);
          if (!requests.hasRemaining()) {
            requests.rewind();
          }
        }
        assertThat(sent).isLessThan(20L * MOST_OF_SOCKETS);
        idleRounds = sent == before ? idleRounds + 1 : 0;
        assertThat(wire().send(get("/v1/status")).response()).startsWith("HTTP/1.1 200 ");
        wires.removeLast().close();
      }
    } finally {
      for (SocketChannel client : clients) {
        client.close();
      }
    }
  }

  @Test
  void theLocalSocketHasPlacesOfItsOwn() throws IOException {
    for (int i = 0; i < 128; i++) {
      assertThat(wire().send(get("/healthz")).head()).startsWith("HTTP/1.1 200 ");
    }
    try (SocketChannel local =
        SocketChannel.open(UnixDomainSocketAddress.of(directory.resolve("admin.sock")))) {
      local.write(
          ByteBuffer.wrap("GET /v1/status HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
      ByteBuffer answer = ByteBuffer.allocate(15);
      while (answer.hasRemaining() && local.read(answer) >= 0) {
        // The whole status line.
      }
      assertThat(new String(answer.array(), StandardCharsets.US_ASCII))
          .isEqualTo("HTTP/1.1 200 OK");
    }
  }

  /** Such as one that waits for a disk. */
  @Test
  @Timeout(60)
  void anOperationThatHangsDoesNotHoldUpTheEnd() throws IOException, InterruptedException {
    server.close();
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    open(
        SmallAppliance.settings(SmallAppliance.ANY_PORT, directory.resolve("token")),
        Operation.get("/v1/hanging", Scope.READ, "Hangs.")
            .by(
                () -> {
                  asked.countDown();
                  try {
                    end.await();
                  } catch (InterruptedException hurried) {
                    Thread.currentThread().interrupt();
                  }
                  return Answer.nothing();
                }));
    wire().send(get("/v1/hanging"));
    asked.await();
    server.close();
    end.countDown();
  }

  /** Last those of which an answer waits, and never those that are worked for. */
  @Test
  @Timeout(60)
  void onAFullPortTheConnectionWithTheLeastToLoseYields() throws IOException {
    server.close();
    CountDownLatch end = new CountDownLatch(1);
    Answer large = Answer.text(200, "x".repeat(LARGE));
    open(
        SmallAppliance.settings(SmallAppliance.ANY_PORT, directory.resolve("token")),
        Operation.get("/v1/large", Scope.READ, "More than sockets hold.").by(() -> large),
        Operation.get("/v1/hanging", Scope.READ, "Hangs.")
            .by(
                () -> {
                  try {
                    end.await();
                  } catch (InterruptedException hurried) {
                    Thread.currentThread().interrupt();
                  }
                  return Answer.nothing();
                }));
    Wire untaken = wire().send(get("/v1/large"));
    untaken.head();
    Wire ended = wire().send(with("Connection: close", get("/v1/large")));
    ended.head();
    Wire uploading =
        wire()
            .send(
                with(
                    "Expect: 100-continue\r\nContent-Length: 9",
                    get("/v1/cache/purges").replace("GET", "POST")));
    uploading.head();
    Wire busier = wire().send(get("/healthz"));
    busier.response();
    Wire idle = wire().send(get("/healthz"));
    idle.response();
    busier.send(get("/healthz")).response();
    List<Wire> hanging = new ArrayList<>();
    while (hanging.size() < 123) {
      hanging.add(hanging());
    }
    hanging.add(hanging());
    assertThat(idle.rest()).isEmpty();
    hanging.add(hanging());
    assertThat(busier.rest()).isEmpty();
    hanging.add(hanging());
    assertThat(uploading.rest()).isEmpty();
    hanging.add(hanging());
    assertThat(ended.rest().length()).isLessThan(LARGE);
    hanging.add(hanging());
    assertThat(untaken.rest().length()).isLessThan(LARGE);
    try (Wire late = new Wire(server.address())) {
      assertThat(late.rest()).isEmpty();
    }
    end.countDown();
    for (Wire each : hanging) {
      assertThat(each.head()).startsWith("HTTP/1.1 204 ");
    }
  }

  /** It is worked for when this returns. */
  private Wire hanging() throws IOException {
    Wire wire = wire().send(with("Expect: 100-continue", get("/v1/hanging")));
    assertThat(wire.head()).startsWith("HTTP/1.1 100 ");
    return wire;
  }

  /** 128 connections at most; each ends when its next request does not come in time. */
  @Test
  void whoHoldsAllConnectionsLosesThem() throws IOException {
    server.close();
    open(
        Sections.copy(SmallAppliance.settings(SmallAppliance.ANY_PORT, directory.resolve("token")))
            .with("requestSamples", 0)
            .with("answerLimit", Duration.ofMillis(300))
            .record());
    for (int i = 0; i < 128; i++) {
      wire().send("GET /v1/sta");
    }
    String answer = "";
    while (answer.isEmpty()) {
      try (Wire late = new Wire(server.address())) {
        answer = late.send(get("/v1/status")).head();
      } catch (IOException refused) {
        // Until the others are closed.
      }
    }
    assertThat(answer).startsWith("HTTP/1.1 200 ");
  }
}
