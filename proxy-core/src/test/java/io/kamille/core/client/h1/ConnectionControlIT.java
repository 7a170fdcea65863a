package io.kamille.core.client.h1;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.ServerShard;
import io.kamille.core.client.open.IdleTimeoutGovernor;
import io.kamille.core.exchange.Exchange;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Which idle connections go when there are many or too many: the longest idle first, and none with
 * an exchange (RFC 9112 §9.5).
 */
class ConnectionControlIT {

  private static final int BACKLOG = 100;
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  private final TestServer server = new TestServer();
  private final ServerShard loop = server.loops().getFirst();
  private final AtomicReference<@Nullable Exchange> held = new AtomicReference<>();

  ConnectionControlIT() {
    server.on("/held", held::set);
  }

  @AfterEach
  void close() {
    server.close();
  }

  // Near the threshold

  @Test
  void ofThousandsOfIdleConnectionsThoseBeyondTheThresholdGo() throws IOException {
    int count = Math.min(3_000, (descriptors() - 600) / 2);
    int limit = count * 10 / 8;
    IdleTimeoutGovernor governor = new IdleTimeoutGovernor(0.7);
    server.limiter().limit(limit, governor);
    TestClient active = server.connect().get("/held");
    awaitHeld();
    List<TestClient> clients = connect(count);
    assertThat(loop.connections().endedEarly()).isZero();

    int staying = count + 1;
    while (governor.idleTimeoutNanos(staying, limit, 60 * SECOND) <= 2 * SECOND) {
      staying--;
    }
    int ended = count + 1 - staying;
    server.pass(Duration.ofSeconds(2));
    Await.until(() -> loop.connections().endedEarly() >= ended, "what is too much to go");
    server.settle();
    assertThat(loop.connections().endedEarly()).isEqualTo(ended);
    for (TestClient client : clients.subList(0, ended)) {
      assertThat(client.isAtEnd()).isTrue();
      client.close();
    }
    Await.until(() -> server.limiter().open() == count + 1 - ended, "the count");
    assertThat(server.limiter().open()).isBetween(limit * 7 / 20, limit * 7 / 10);
    assertThat(clients.get(ended).get("/next").answer().content()).isEqualTo("/next");
    finishHeld();
    assertThat(active.answer().content()).isEqualTo("at last");
  }

  @Test
  void whoeverAskedLastStaysLongest() {
    server.limiter().limit(4, new IdleTimeoutGovernor(1));
    List<TestClient> clients = connect(4);
    clients.forEach(client -> client.get("/").answer());
    clients.get(0).get("/").answer();
    server.pass(Duration.ofSeconds(1));
    assertThat(clients.get(1).isAtEnd()).isTrue();
    server.settle();
    assertThat(loop.connections().endedEarly()).isEqualTo(1);
    assertThat(clients.get(0).get("/a").answer().content()).isEqualTo("/a");
    assertThat(clients.get(2).get("/c").answer().content()).isEqualTo("/c");
  }

  @Test
  void theTimeoutOfFewConnectionsIsTheConfiguredOne() {
    server.limiter().limit(100, new IdleTimeoutGovernor(0.7));
    TestClient client = server.connect();
    client.get("/").answer();
    server.pass(Duration.ofSeconds(59));
    assertThat(client.get("/a").answer().content()).isEqualTo("/a");
    server.pass(Duration.ofSeconds(61));
    assertThat(client.isAtEnd()).isTrue();
    assertThat(loop.connections().endedEarly()).isZero();
  }

  @Test
  void anExchangeOrAHeadUnderWayIsNeverClosedForTheirNumber() {
    server.limiter().limit(2, new IdleTimeoutGovernor(0.1));
    TestClient active = server.connect().get("/held");
    awaitHeld();
    TestClient begun = server.connect();
    begun.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\n");
    begun.answer();
    server.settle();
    server.pass(Duration.ofSeconds(9));
    begun.send("Host: a\r\n\r\n");
    assertThat(begun.answer().content()).isEqualTo("/b");
    server.pass(Duration.ofHours(1));
    finishHeld();
    assertThat(active.answer().content()).isEqualTo("at last");
  }

  // At the limit

  @Test
  void atTheLimitANewConnectionTakesThePlaceOfTheLongestIdle() {
    List<TestClient> clients = connect(3);
    clients.forEach(client -> client.get("/").answer());
    clients.get(0).get("/").answer();
    limit(3);
    assertThat(server.connect().get("/new").answer().content()).isEqualTo("/new");
    assertThat(clients.get(1).isAtEnd()).isTrue();
    assertThat(clients.get(0).get("/a").answer().content()).isEqualTo("/a");
    assertThat(clients.get(2).get("/c").answer().content()).isEqualTo("/c");
    assertThat(loop.connections().displaced()).isEqualTo(1);
    assertThat(server.limiter().refused()).isZero();
    assertThat(server.limiter().open()).isEqualTo(3);
  }

  @Test
  void atTheLimitWithNoneIdleTheNewConnectionIsRefused() {
    TestClient active = server.connect().get("/held");
    awaitHeld();
    TestClient begun = server.connect();
    begun.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\n");
    begun.answer();
    limit(2);
    assertThat(server.connect().isAtEnd()).isTrue();
    assertThat(server.limiter().refused()).isEqualTo(1);
    finishHeld();
    assertThat(active.answer().content()).isEqualTo("at last");
    server.settle();
    assertThat(server.connect().get("/new").answer().content()).isEqualTo("/new");
    assertThat(active.isAtEnd()).isTrue();
    assertThat(loop.connections().displaced()).isEqualTo(1);
  }

  @Test
  void whoSaysNothingYieldsItsPlaceAfterASecond() {
    List<TestClient> silent = connect(2);
    limit(2);
    assertThat(server.connect().isAtEnd()).isTrue();
    assertThat(server.limiter().refused()).isEqualTo(1);
    Await.until(() -> server.limiter().open() == 2, "the refused to be gone");
    server.pass(Duration.ofSeconds(1));
    assertThat(server.connect().get("/new").answer().content()).isEqualTo("/new");
    assertThat(silent.get(0).isAtEnd()).isTrue();
    assertThat(silent.get(1).get("/b").answer().content()).isEqualTo("/b");
  }

  @Test
  void whoStillTakesItsAnswerKeepsItsPlace() {
    String content = "x".repeat(16 << 20);
    server.on("/large", exchange -> TestServer.stored(exchange, content));
    TestClient slow = server.connect(4096).get("/large");
    slow.read(1);
    limit(1);
    assertThat(server.connect().isAtEnd()).isTrue();
    assertThat(server.limiter().refused()).isEqualTo(1);
    slow.readUntil("\r\n\r\n");
    slow.octets(content.length());
    server.settle();
    assertThat(server.connect().get("/new").answer().content()).isEqualTo("/new");
    assertThat(slow.isAtEnd()).isTrue();
  }

  @Test
  void aRequestThatIsThereBeforeTheNewConnectionKeepsItsPlace() throws InterruptedException {
    TestClient client = server.connect();
    client.get("/").answer();
    limit(1);
    CountDownLatch arrived = new CountDownLatch(1);
    var blocked =
        loop.loop()
            .submit(
                () -> {
                  arrived.await();
                  return true;
                });
    client.get("/held");
    TestClient refused = server.connect();
    arrived.countDown();
    blocked.await();
    assertThat(refused.isAtEnd()).isTrue();
    awaitHeld();
    finishHeld();
    assertThat(client.answer().content()).isEqualTo("at last");
    assertThat(loop.connections().displaced()).isZero();
  }

  private void limit(int connections) {
    server.settle();
    server.limiter().limit(connections, IdleTimeoutGovernor.OFF);
  }

  /** So many connections, in the order in which the server took them. */
  private List<TestClient> connect(int count) {
    List<TestClient> clients = new ArrayList<>();
    int before = server.connections();
    while (clients.size() < count) {
      clients.add(server.connect());
      if (clients.size() % BACKLOG == 0 || clients.size() == count) {
        int all = before + clients.size();
        Await.until(() -> server.connections() == all, "connections");
      }
    }
    return clients;
  }

  private void awaitHeld() {
    Await.until(() -> held.get() != null, "the request");
  }

  private void finishHeld() {
    Exchange exchange = Objects.requireNonNull(held.get());
    exchange.loop().execute(() -> TestServer.stored(exchange, "at last"));
  }

  /** How many this process may have. */
  private static int descriptors() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/limits"))) {
      if (line.startsWith("Max open files")) {
        String soft = line.substring("Max open files".length()).strip().split("\\s+", 2)[0];
        return soft.equals("unlimited") ? Integer.MAX_VALUE : Integer.parseInt(soft);
      }
    }
    return Integer.MAX_VALUE;
  }
}
