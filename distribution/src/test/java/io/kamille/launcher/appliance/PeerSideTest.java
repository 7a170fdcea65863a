package io.kamille.launcher.appliance;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestServer;
import io.kamille.core.client.open.Protocols;
import io.kamille.core.client.open.ProxyProtocolSettings;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.gate.AccessList;
import io.kamille.core.http.ResponseHead;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How many connections other nodes may have, in clear text here. */
class PeerSideTest {

  private static final int MOST = 4_096;

  private final TestServer clients = new TestServer();
  private final List<Exchange> held = new CopyOnWriteArrayList<>();
  private final List<SocketChannel> silent = new ArrayList<>();
  private PeerSide peers;

  @BeforeEach
  void open() throws IOException {
    peers =
        PeerSide.open(
            TestServer.settings(Protocols.H1, AccessList.ALL, ProxyProtocolSettings.OFF),
            clients.loops(),
            TestServer.SETTINGS,
            this::handle,
            null,
            null,
            List.of());
  }

  @AfterEach
  void close() throws IOException {
    for (SocketChannel one : silent) {
      one.close();
    }
    peers.closeAll();
    peers.listener().close();
    clients.close();
  }

  private void handle(Exchange exchange) {
    if (exchange.request().path().equals("/held")) {
      held.add(exchange);
    } else {
      answer(exchange);
    }
  }

  private static void answer(Exchange exchange) {
    exchange.reply().head(ResponseHead.of(204), 0);
    exchange.reply().end(null);
  }

  private TestClient connect() {
    return TestClient.connect(peers.listener().address());
  }

  private void connectSilent(int count) throws IOException {
    for (int i = 0; i < count; i++) {
      silent.add(SocketChannel.open(peers.listener().address()));
    }
  }

  /** A connection that is silent for a second counts as idle. */
  private long refusedOrDisplaced() {
    return peers.limit().refused() + peers.shards().getFirst().connections().displaced();
  }

  @Test
  void atTheLimitTheConnectionThatIsIdleLongestMakesRoomAndThoseInUseStay() throws IOException {
    try (TestClient used = connect();
        TestClient idle = connect()) {
      used.get("/held");
      assertThat(idle.get("/").answer().status()).isEqualTo(204);
      connectSilent(MOST - 2);
      Await.until(() -> peers.limit().open() == MOST, "all are open");
      try (TestClient next = connect()) {
        assertThat(next.get("/held2").answer().status()).isEqualTo(204);
        assertThat(idle.isAtEnd()).isTrue();
        next.get("/held");
        Await.until(() -> held.size() == 2, "both are in use");
        connectSilent(100);
        Await.until(() -> refusedOrDisplaced() == 101, "others are refused, or yield");
        Await.until(() -> peers.limit().open() == MOST, "they are closed");
        held.forEach(exchange -> exchange.loop().execute(() -> answer(exchange)));
        assertThat(used.answer().status()).isEqualTo(204);
        assertThat(next.answer().status()).isEqualTo(204);
      }
    }
  }
}
