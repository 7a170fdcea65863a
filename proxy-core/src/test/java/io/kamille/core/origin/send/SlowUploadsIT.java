package io.kamille.core.origin.send;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestServer;
import io.kamille.core.client.h2.TestH2Client;
import io.kamille.core.client.open.Protocols;
import io.kamille.core.content.Spool;
import io.kamille.core.loop.LoopGroup;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.UpstreamMetrics;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.names.DnsLookup;
import io.kamille.core.origin.names.OriginNames;
import io.kamille.core.origin.send.ScriptedOrigin.Script;
import io.kamille.core.setting.OriginUrl;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Five hundred slow uploads, over real sockets, leave the origin to others. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SlowUploadsIT {

  private static final int UPLOADS = 500;
  private static final int MOST_CONNECTIONS = 4;
  private static final String LENGTH = "1000000";
  private static final String REST = "x".repeat(999_999);

  private final TestServer server = new TestServer(TestServer.SETTINGS, 1, Protocols.BOTH);
  private final MetricRegistry registry = new MetricRegistry();
  private final OriginNames names = OriginNames.open(DnsLookup::new, registry);
  @TempDir private Path directory;
  private final ExecutorService threads = Executors.newFixedThreadPool(2);
  private Spool uploads;
  private ScriptedOrigin origin;
  private UpstreamHandler handler;

  @BeforeEach
  void open() throws IOException {
    var disk = new Spool.Disk(directory, 64 << 20, 4 << 20, threads);
    uploads = new Spool(8 << 20, disk, registry);
    Script answers =
        with -> {
          while (true) {
            String head = with.readHead();
            boolean isChunked = head.contains("chunked");
            while (isChunked) {
              int chunk = Integer.parseInt(with.readUntil("\r\n").strip(), 16);
              isChunked = chunk > 0;
              for (int rest = chunk; rest > 0; ) {
                rest -= with.skip(rest);
              }
              with.readUntil("\r\n");
            }
            int left = contentLength(head);
            while (left > 0) {
              left -= with.skip(left);
            }
            with.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
          }
        };
    origin = ScriptedOrigin.open(Collections.nCopies(UPLOADS, answers).toArray(Script[]::new));
    List<Origin> origins =
        List.of(
            UpstreamSettings.DEFAULTS.origin(new OriginUrl(false, "127.0.0.1", origin.port()), 1));
    names.watch(origins);
    handler =
        new UpstreamHandler(
            UpstreamSettings.DEFAULTS,
            origins,
            null,
            LoopGroup.sockets(),
            WallClock.system(),
            uploads,
            new UpstreamMetrics(registry, "test", origins));
    server.on("/", handler);
  }

  @AfterEach
  void close() throws IOException {
    handler.close();
    server.close();
    names.close();
    origin.close();
    threads.shutdown();
  }

  @Test
  void inHttp1() {
    List<TestClient> clients = new ArrayList<>();
    for (int i = 0; i < UPLOADS; i++) {
      String expect = i % 2 == 0 ? "Expect: 100-continue" : "X: y";
      clients.add(server.connect().request("POST", "/", "Content-Length: " + LENGTH, expect));
    }
    for (int i = 0; i < UPLOADS; i += 2) {
      assertThat(clients.get(i).answer().status()).isEqualTo(100);
    }
    clients.forEach(client -> client.send("x"));
    othersAreServed();
    for (TestClient client : clients.subList(0, 40)) {
      assertThat(client.send(REST).answer().content()).isEqualTo("ok");
    }
    assertThat(origin.connections()).isLessThanOrEqualTo(MOST_CONNECTIONS);
    clients.forEach(TestClient::reset);
    nothingIsLeft();
  }

  @Test
  void inHttp2() {
    List<TestH2Client> clients = new ArrayList<>();
    for (int i = 0; i < UPLOADS / 100; i++) {
      TestH2Client client = TestH2Client.connect(server.address());
      clients.add(client);
      for (int stream = 1; stream < 200; stream += 2) {
        client.request(stream, "POST", "/", false, "content-length", LENGTH);
        client.data(stream, "x", false);
      }
      client.settle();
    }
    othersAreServed();
    clients.forEach(TestH2Client::close);
    nothingIsLeft();
  }

  @Test
  void ofUnknownLength() {
    List<TestClient> clients = new ArrayList<>();
    String part = "4000\r\n" + "x".repeat(0x4000) + "\r\n";
    for (int i = 0; i < 60; i++) {
      clients.add(server.connect().request("POST", "/", "Transfer-Encoding: chunked"));
    }
    for (int i = 0; i < 12; i++) {
      clients.forEach(client -> client.send(part));
    }
    othersAreServed();
    assertThat(uploads.bytesInFile()).isPositive();
    for (TestClient client : clients.subList(0, 5)) {
      assertThat(client.send("0\r\n\r\n").answer().content()).isEqualTo("ok");
    }
    assertThat(origin.connections()).isLessThanOrEqualTo(MOST_CONNECTIONS);
    clients.forEach(TestClient::reset);
    nothingIsLeft();
  }

  private static int contentLength(String head) {
    int at = head.indexOf("Content-Length: ");
    return at < 0 ? 0 : Integer.parseInt(head.substring(at + 16, head.indexOf("\r\n", at)));
  }

  private void othersAreServed() {
    assertThat(server.connect().get("/").answer().content()).isEqualTo("ok");
    assertThat(uploads.heldBytes()).isPositive();
    assertThat(origin.connections()).isLessThanOrEqualTo(MOST_CONNECTIONS);
    assertThat(origin.heads()).allMatch(head -> head.startsWith("GET"));
  }

  private void nothingIsLeft() {
    Await.until(() -> uploads.heldBytes() == 0 && uploads.bytesInFile() == 0, "the room is free");
  }
}
