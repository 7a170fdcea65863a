package io.kamille.core.client.open;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.ClientSettings;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.client.h1.TestServer;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.gate.AccessList;
import io.kamille.core.gate.AddressRanges;
import io.kamille.core.gate.ClientLimits;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What one client may have at a time, over sockets of one. */
class ClientLimitsIT {

  private final TestServer server = new TestServer(ClientSettings.DEFAULT, 2);

  @AfterEach
  void close() {
    server.close();
  }

  @Test
  void oneConnectionTooManyIsClosedAtOnceAndTheOthersStay() {
    server.admitted().limits(limits(2, ClientLimits.NO_LIMIT));
    TestClient first = server.connect();
    TestClient second = server.connect();
    assertThat(first.get("/a").answer().content()).isEqualTo("/a");
    assertThat(second.get("/b").answer().content()).isEqualTo("/b");
    assertThat(server.connect().isAtEnd()).isTrue();
    assertThat(server.admitted().refusedConnections()).isEqualTo(1);
    assertThat(server.limiter().open()).isEqualTo(2);
    assertThat(first.get("/c").answer().content()).isEqualTo("/c");
    second.close();
    Await.until(() -> server.limiter().open() == 1, "a free place");
    assertThat(server.connect().get("/d").answer().content()).isEqualTo("/d");
  }

  @Test
  void whoIsNotLetInIsClosedAtOnce() {
    server.access(
        new AccessList(AddressRanges.NONE, AddressRanges.parse(List.of("127.0.0.0/8", "::1"))));
    assertThat(server.connect().isAtEnd()).isTrue();
    assertThat(server.admitted().denied()).isEqualTo(1);
    assertThat(server.limiter().open()).isZero();
    server.access(AccessList.ALL);
    assertThat(server.connect().get("/a").answer().content()).isEqualTo("/a");
  }

  @Test
  void oneRequestTooManyIs429AndItsConnectionGoesOn() {
    server.admitted().limits(limits(10, 1));
    Queue<Exchange> waiting = new ConcurrentLinkedQueue<>();
    server.on("/slow", waiting::add);
    TestClient slow = server.connect().get("/slow");
    Await.until(() -> waiting.size() == 1, "the slow request");
    TestClient other = server.connect();
    server.settle();
    Answer refused = other.get("/a").answer();
    assertThat(refused.status()).isEqualTo(429);
    assertThat(refused.field("Retry-After")).isEqualTo("1");
    assertThat(refused.field("Proxy-Status"))
        .isEqualTo(
            "kamille; error=http_request_denied;"
                + " details=\"too many requests of this client are under way\"");
    assertThat(server.admitted().refusedRequests()).isEqualTo(1);

    Exchange exchange = waiting.remove();
    exchange.loop().execute(() -> TestServer.stored(exchange, "at last"));
    assertThat(slow.answer().content()).isEqualTo("at last");
    server.settle();
    assertThat(other.get("/a").answer().content()).isEqualTo("/a");
  }

  @Test
  void aRequestWhoseClientLeavesIsNoLongerUnderWay() {
    server.admitted().limits(limits(10, 1));
    Queue<Exchange> waiting = new ConcurrentLinkedQueue<>();
    server.on("/slow", waiting::add);
    TestClient slow = server.connect().get("/slow");
    Await.until(() -> waiting.size() == 1, "the slow request");
    slow.reset();
    Await.until(() -> server.limiter().open() == 0, "the end of its connection");
    assertThat(server.connect().get("/a").answer().content()).isEqualTo("/a");
  }

  private static ClientLimits limits(int connections, int requests) {
    return new ClientLimits(connections, requests, AddressRanges.NONE);
  }
}
