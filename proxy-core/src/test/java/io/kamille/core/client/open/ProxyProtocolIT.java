package io.kamille.core.client.open;

import static io.kamille.core.client.open.ProxyHeaders.binary;
import static io.kamille.core.client.open.ProxyHeaders.joined;
import static io.kamille.core.client.open.ProxyHeaders.line;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.ClientSettings;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestServer;
import io.kamille.core.gate.AccessList;
import io.kamille.core.gate.AddressRanges;
import io.kamille.core.gate.ClientLimits;
import io.kamille.core.setting.Sections;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A listener behind a load balancer that speaks the PROXY protocol. */
class ProxyProtocolIT {

  private static final InetSocketAddress CLIENT = new InetSocketAddress("192.0.2.7", 56324);
  private static final InetSocketAddress OTHER = new InetSocketAddress("192.0.2.8", 1);
  private static final InetSocketAddress LOCAL = new InetSocketAddress("198.51.100.1", 443);
  private static final ProxyProtocolSettings FROM_US = from("127.0.0.0/8");

  private final TestServer server =
      new TestServer(ClientSettings.DEFAULT, 1, Protocols.BOTH, FROM_US);

  private static ProxyProtocolSettings from(String range) {
    return Sections.of(ProxyProtocolSettings.SECTION, "from: ['%s']", range);
  }

  private void access(String denied, ProxyProtocolSettings proxied) {
    AccessList access = new AccessList(AddressRanges.NONE, AddressRanges.parse(List.of(denied)));
    server.listener().settings(TestServer.settings(Protocols.BOTH, access, proxied));
  }

  private TestClient connect(byte[] header) {
    return server.connect().send(header);
  }

  @AfterEach
  void close() {
    server.close();
  }

  @Test
  void theStationsSeeTheClientThatTheHeaderNames() {
    server.on(
        "/who",
        exchange ->
            TestServer.stored(exchange, exchange.client() + " to " + exchange.local().getPort()));
    for (byte[] header :
        List.of(line("PROXY TCP4 192.0.2.7 198.51.100.1 56324 443"), binary(CLIENT, LOCAL))) {
      TestClient client = connect(header);
      assertThat(client.get("/who").answer().content()).isEqualTo("/192.0.2.7:56324 to 443");
      assertThat(client.get("/who").answer().content()).isEqualTo("/192.0.2.7:56324 to 443");
    }
    assertThat(connect(line("PROXY UNKNOWN")).get("/who").answer().content())
        .startsWith("/127.0.0.1:");
  }

  @Test
  void aHeaderMayComeOctetByOctetAndTogetherWithTheRequest() {
    byte[] request = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    TestClient client = server.connect();
    for (byte octet : binary(CLIENT, LOCAL)) {
      client.send(new byte[] {octet});
      server.settle();
    }
    assertThat(client.send(request).answer().content()).isEqualTo("/a");
    assertThat(connect(joined(binary(CLIENT, LOCAL), request)).answer().content()).isEqualTo("/a");
  }

  @Test
  void withoutAValidHeaderTheConnectionIsClosedAndCounted() {
    assertThat(connect(line("GET /a HTTP/1.1")).isAtEnd()).isTrue();
    assertThat(connect(line("PROXY TCP4 192.0.2.7 1 1 1")).isAtEnd()).isTrue();
    assertThat(connect(binary(0x21, 0x12, new byte[12])).isAtEnd()).isTrue();
    assertThat(server.admitted().refusedProxyHeaders()).isEqualTo(3);
    Await.until(() -> server.limiter().open() == 0, "the places of all");
  }

  @Test
  void aHeaderThatDoesNotComeIsAwaitedForAsLongAsAHead() {
    connect("PROXY TCP4 ".getBytes(StandardCharsets.US_ASCII));
    Await.until(() -> server.connections() == 1, "the connection");
    server.settle();
    server.pass(ClientSettings.DEFAULT.headTimeout().minus(Duration.ofSeconds(1)));
    assertThat(server.connections()).isEqualTo(1);
    server.pass(Duration.ofSeconds(2));
    // Not the client's view: if the loop has not read what it sent by then, the end is a reset.
    Await.until(() -> server.connections() == 0, "its end");
  }

  @Test
  void aReloadDecidesWhetherNewConnectionsBeginWithAHeader() {
    server.on("/who", exchange -> TestServer.stored(exchange, exchange.client().toString()));
    TestClient before = connect(line("PROXY TCP4 192.0.2.7 198.51.100.1 56324 443"));
    assertThat(before.get("/who").answer().content()).isEqualTo("/192.0.2.7:56324");
    access("203.0.113.0/24", ProxyProtocolSettings.OFF);
    assertThat(server.connect().get("/who").answer().content()).startsWith("/127.0.0.1:");
    assertThat(before.get("/who").answer().content()).isEqualTo("/192.0.2.7:56324");
    access("203.0.113.0/24", FROM_US);
    assertThat(server.connect().get("/who").isAtEnd()).isTrue();
    assertThat(connect(line("PROXY TCP4 192.0.2.8 198.51.100.1 1 443")).get("/who").answer())
        .satisfies(answer -> assertThat(answer.content()).isEqualTo("/192.0.2.8:1"));
  }

  @Test
  void onlyLoadBalancersMayConnect() {
    server
        .listener()
        .settings(TestServer.settings(Protocols.BOTH, AccessList.ALL, from("203.0.113.0/24")));
    assertThat(server.connect().isAtEnd()).isTrue();
    assertThat(server.admitted().denied()).isEqualTo(1);
  }

  @Test
  void accessListsGoByTheAddressInTheHeader() {
    access("192.0.2.7", FROM_US);
    assertThat(connect(binary(CLIENT, LOCAL)).isAtEnd()).isTrue();
    assertThat(server.admitted().denied()).isEqualTo(1);
    assertThat(connect(binary(OTHER, LOCAL)).get("/a").answer().content()).isEqualTo("/a");
  }

  @Test
  void limitsCountForTheAddressInTheHeader() {
    server.admitted().limits(new ClientLimits(1, ClientLimits.NO_LIMIT, AddressRanges.NONE));
    TestClient first = connect(binary(CLIENT, LOCAL));
    assertThat(first.get("/a").answer().content()).isEqualTo("/a");
    assertThat(connect(binary(CLIENT, LOCAL)).isAtEnd()).isTrue();
    assertThat(connect(binary(OTHER, LOCAL)).get("/b").answer().content()).isEqualTo("/b");
    first.close();
    Await.until(() -> server.admitted().clients() == 1, "the place of the first");
    assertThat(connect(binary(CLIENT, LOCAL)).get("/c").answer().content()).isEqualTo("/c");
  }

  @Test
  void http2FollowsAHeader() {
    TestClient client =
        connect(
            joined(
                binary(CLIENT, LOCAL),
                line("PRI * HTTP/2.0\r\n\r\nSM\r\n"),
                new byte[] {0, 0, 0, 4, 0, 0, 0, 0, 0}));
    // The server's preface is a SETTINGS frame: its type stands behind three octets of length.
    assertThat(client.octets(4)[3]).isEqualTo((byte) 4);
  }
}
