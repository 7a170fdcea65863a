package io.kamille.core.auth;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.kamille.core.Await;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jose4j.jwk.EcJwkGenerator;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jwk.JsonWebKeySet;
import org.jose4j.keys.EllipticCurves;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class JwksUrlTest {

  private final AtomicInteger asked = new AtomicInteger();
  private HttpServer server;
  // Volatile: set by the test, read by the server.
  private volatile byte[] answer;
  private JwksUrl keys;

  @BeforeEach
  void open() throws Exception {
    answer =
        new JsonWebKeySet(EcJwkGenerator.generateJwk(EllipticCurves.P256))
            .toJson(JsonWebKey.OutputControlLevel.PUBLIC_ONLY)
            .getBytes(StandardCharsets.UTF_8);
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        visit -> {
          asked.incrementAndGet();
          visit.sendResponseHeaders(200, answer.length);
          visit.getResponseBody().write(answer);
          visit.close();
        });
    server.start();
    keys = new JwksUrl("http://127.0.0.1:" + server.getAddress().getPort() + "/");
  }

  @AfterEach
  void close() {
    server.stop(0);
  }

  @Test
  void doubtsFetchOnceInAWhileAndTroubleKeepsTheKeys() {
    keys.look(0);
    Await.until(() -> keys.known() != null && !keys.isFetching(), "the keys are here");
    var first = keys.known();
    for (int i = 0; i < 1_000; i++) {
      keys.doubt();
      keys.look(JwksUrl.DOUBT_NANOS - 1);
    }
    assertThat(asked).hasValue(1);
    keys.look(JwksUrl.DOUBT_NANOS);
    Await.until(
        () -> !Objects.equals(keys.known(), first) && !keys.isFetching(), "the keys come again");
    var second = keys.known();
    keys.look(2 * JwksUrl.DOUBT_NANOS);
    assertThat(asked).hasValue(2);
    answer = new byte[AuthSource.LIMIT_BYTES + 1];
    keys.look(JwksUrl.DOUBT_NANOS + JwksUrl.FETCH_NANOS);
    Await.until(() -> asked.get() == 3 && !keys.isFetching(), "too much has come");
    assertThat(keys.known()).isSameAs(second);
  }
}
