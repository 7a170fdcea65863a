package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.client.h2.TestH2Client;
import io.kamille.launcher.appliance.StubOrigin.Request;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Whose requests come through proxies that are trusted, or through others. */
class TrustedProxiesIT {

  private static final String BELIEVED =
      "{address: '127.0.0.1:0', protocols: [h2c, http/1.1],"
          + " trusted-proxies: {from: [127.0.0.0/8, 10.0.0.0/8]}, redirect-to-https: 8443}";
  private static final String NOT_BELIEVED =
      "{address: '127.0.0.1:0', trusted-proxies: {from: [10.0.0.0/8], field: forwarded}}";
  private static final String BY_TLS = "X-Forwarded-Proto: https";

  @RegisterExtension private final Journey journey = new Journey();

  private void start(String... lines) {
    journey
        .with(
            "listeners: ["
                + BELIEVED
                + ", "
                + NOT_BELIEVED
                + ", {address: '127.0.0.1:0', proxy-protocol: {from: [127.0.0.1]},"
                + " trusted-proxies: {from: [10.0.0.0/8]}}]",
            "routes: [{upstream: site, cache: off},"
                + " {upstream: site, path: /for, access: {allow: [192.0.2.0/24]}},"
                + " {upstream: site, path: /rate, rate-limit: {rate: 1/h}}]")
        .with(lines)
        .origin()
        .on("/a", ok("a"))
        .on("/for", ok("for", "Cache-Control: max-age=60"))
        .on("/rate", ok("rate", "Cache-Control: max-age=60"));
  }

  /** A client of another listener than the first. */
  private TestClient connect(int listener) {
    return TestClient.connect(Journey.address(journey.appliance().listening().get(listener)));
  }

  @Test
  void theClientCountsWhereverAnAddressDoes() throws Exception {
    start("cache: {purge-from: [192.0.2.7]}");
    // The route's access list, on a hit, too; toward the origin; in the log; by its rate.
    assertThat(journey.get("/for", BY_TLS, "X-Forwarded-For: 192.0.2.7").status()).isEqualTo(200);
    assertThat(journey.get("/for", BY_TLS, "X-Forwarded-For: 192.0.2.7").field("Cache-Status"))
        .contains("hit");
    String[] refused = {
      "X-Forwarded-For: 192.0.2.7, 203.0.113.6",
      "X-Forwarded-For: 192.0.2.7, unknown",
      "X-Forwarded-For: 192.0.2.7, 10.0.0.1x, 10.0.0.1",
      "X-A: 1",
      "Forwarded: for=192.0.2.7",
    };
    for (String line : refused) {
      assertThat(journey.get("/for", BY_TLS, line).status()).as(line).isEqualTo(403);
    }
    Request asked = journey.origin().request("/for");
    assertThat(asked.values("X-Forwarded-For")).containsExactly("192.0.2.7");
    assertThat(asked.values("X-Forwarded-Proto")).containsExactly("https");
    assertThat(journey.accessLog(3)).anyMatch(line -> line.startsWith("203.0.113.6 "));
    try (TestClient proxy = journey.client()) {
      for (String client : List.of("192.0.2.1", "192.0.2.2", "2001:db8:1:1::1")) {
        String line = "X-Forwarded-For: " + client;
        assertThat(proxy.get("/rate", BY_TLS, line).answer().status()).isEqualTo(200);
        assertThat(proxy.get("/rate", BY_TLS, line).answer().status()).isEqualTo(429);
      }
    }
    assertThat(journey.ask("PURGE", "/for", BY_TLS).status()).isEqualTo(403);
    assertThat(journey.ask("PURGE", "/for", BY_TLS, "X-Forwarded-For: 192.0.2.7").status())
        .isEqualTo(200);
    assertThat(explain("127.0.0.1", "X-Forwarded-For: 6.6.6.6, 192.0.2.7", BY_TLS))
        .contains("127.0.0.1 is a trusted proxy of listener ", "X-Forwarded-For: 6.6.6.6, 192")
        .contains("the client is 192.0.2.7, and asks for https://h")
        .contains("the route is for this client");
    assertThat(explain("203.0.113.6", "X-Forwarded-For: 192.0.2.7"))
        .contains("203.0.113.6 is no trusted proxy", "\"decision\":\"refuse\"");
  }

  private String explain(String client, String... fields) throws Exception {
    StringBuilder query = new StringBuilder("/v1/explain?url=http://h/for&client=" + client);
    for (String field : fields) {
      query.append("&field=").append(URLEncoder.encode(field, StandardCharsets.UTF_8));
    }
    return journey.admin(query.toString()).body();
  }

  @Test
  void schemeAndHostOfTheClientCount() {
    start("forwarding: {x-forwarded: append, forwarded: append}");
    // A balancer that ends TLS: no loop of redirects.
    Answer redirected = journey.get("/a", "X-Forwarded-Host: shop.test", "X-Forwarded-Proto: http");
    assertThat(redirected.field("Location")).isEqualTo("https://shop.test:8443/a");
    assertThat(journey.get("/a", "X-Forwarded-For: 192.0.2.7").status()).isEqualTo(308);
    String[] named = {
      BY_TLS,
      "X-Forwarded-Host: Shop.test:443",
      "X-Forwarded-For: 6.6.6.6",
      "X-Forwarded-For: 6.6.6.6, 192.0.2.7, 10.0.0.2",
      "Forwarded: for=6.6.6.6",
    };
    assertThat(journey.get("/a", named).status()).isEqualTo(200);
    Request asked = journey.origin().request("/a");
    assertThat(asked.values("Host")).containsExactly("shop.test");
    assertThat(asked.values("X-Forwarded-Host")).containsExactly("shop.test");
    assertThat(asked.values("X-Forwarded-For")).containsExactly("192.0.2.7, 10.0.0.2, 127.0.0.1");
    assertThat(asked.values("Forwarded"))
        .containsExactly("for=127.0.0.1;host=\"shop.test\";proto=https");
    // With an absolute target, too.
    assertThat(journey.say("GET http://a/a HTTP/1.1\r\nHost: a\r\n" + BY_TLS + "\r\n\r\n").status())
        .isEqualTo(200);
  }

  @Test
  void whoIsNotTrustedSaysNothing() {
    start("forwarding: {x-forwarded: off}");
    try (TestClient stranger = connect(1)) {
      String[] forged = {
        BY_TLS,
        "Forwarded: for=192.0.2.7;proto=https;host=evil.test",
        "X-Forwarded-For: 192.0.2.7",
        "X_Forwarded_For: 192.0.2.7",
        "X-Forwarded-Host: evil.test"
      };
      assertThat(stranger.get("/for", forged).answer().status()).isEqualTo(403);
      assertThat(stranger.get("/a", forged).answer().status()).isEqualTo(200);
    }
    Request asked = journey.origin().request("/a");
    assertThat(asked.head()).doesNotContain("192.0.2.7", "evil", "https");
    // With PROXY protocol, who is in its header has to be trusted.
    for (String peer : List.of("10.0.0.5", "203.0.113.5")) {
      try (TestClient client = connect(2)) {
        client.send("PROXY TCP4 " + peer + " 198.51.100.1 56324 443\r\n");
        assertThat(client.get("/for", "X-Forwarded-For: 192.0.2.7").answer().status())
            .isEqualTo(peer.startsWith("10.") ? 200 : 403);
      }
    }
  }

  @Test
  void eachStreamHasItsClient() {
    start("limits: {client: {connections: 1, requests: 1}}");
    // Connections of a trusted proxy have no limit.
    try (TestH2Client other = TestH2Client.connect(journey.address());
        TestH2Client proxy = TestH2Client.connect(journey.address())) {
      other.get(1, "/a", "x-forwarded-proto", "https").flush();
      assertThat(other.answer(1).status()).isEqualTo(200);
      String[] clients = {"192.0.2.7", "203.0.113.6", "6.6.6.6, 192.0.2.8"};
      for (int i = 0; i < clients.length; i++) {
        proxy.get(2 * i + 1, "/for", "x-forwarded-for", clients[i], "x-forwarded-proto", "https");
      }
      proxy.flush();
      assertThat(proxy.answer(1).status()).isEqualTo(200);
      assertThat(proxy.answer(3).status()).isEqualTo(403);
      assertThat(proxy.answer(5).status()).isEqualTo(200);
      // It ends TLS and says so by the scheme alone (RFC 9113 §8.3.1).
      proxy
          .headers(7, true, ":method", "GET", ":scheme", "https", ":path", "/a", ":authority", "h")
          .flush();
      assertThat(proxy.answer(7).status()).isEqualTo(200);
      assertThat(journey.origin().requests("/a").getLast().field("X-Forwarded-Proto"))
          .isEqualTo("https");
    }
  }

  @Test
  void requestsUnderWayCountForTheirClient() {
    start("limits: {client: {requests: 1}}");
    CountDownLatch isOver = new CountDownLatch(1);
    journey
        .origin()
        .on(
            "/held",
            visit -> {
              Await.until(() -> isOver.getCount() == 0, "the end of its request");
              visit.send(ok("held"));
            });
    try (TestClient one = journey.client();
        TestClient two = journey.client()) {
      one.get("/held", BY_TLS, "X-Forwarded-For: 192.0.2.7");
      Await.until(() -> !journey.origin().requests("/held").isEmpty(), "it is under way");
      assertThat(status(two, "192.0.2.7")).isEqualTo(429);
      assertThat(status(two, "192.0.2.8")).isEqualTo(200);
      isOver.countDown();
      assertThat(one.answer().status()).isEqualTo(200);
      Await.until(() -> status(two, "192.0.2.7") == 200, "it is over");
    }
  }

  private static int status(TestClient proxy, String client) {
    return proxy.get("/a", BY_TLS, "X-Forwarded-For: " + client).answer().status();
  }
}
