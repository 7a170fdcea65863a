package io.kamille.core.auth;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.kamille.core.Await;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jose4j.jwk.EcJwkGenerator;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jwk.JsonWebKeySet;
import org.jose4j.keys.EllipticCurves;
import org.jspecify.annotations.Nullable;
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
    keys = new JwksUrl("http://127.0.0.1:" + server.getAddress().getPort() + "/", JwtCheck::keys);
  }

  @AfterEach
  void close() {
    server.stop(0);
  }

  @Test
  void doubtsFetchOnceInAWhileAndTroubleKeepsTheKeys() {
    keys.poll();
    awaitOtherThan(null);
    var first = keys.known();
    int fetches = 1;
    for (int wait : new int[] {1, 2, 4, 8, 16, 30, 30}) {
      for (int i = 1; i < wait; i++) {
        keys.doubt();
        keys.poll();
      }
      assertThat(asked).hasValue(fetches);
      keys.doubt();
      keys.poll();
      awaitAsked(++fetches);
      assertThat(keys.known()).as("the same content").isSameAs(first);
    }
    poll(JwksUrl.FETCH_SECONDS - 1);
    assertThat(asked).hasValue(fetches);
    byte[] right = answer;
    answer = new byte[AuthSource.LIMIT_BYTES + 1];
    keys.poll();
    Await.until(() -> keys.isDoubtful, "too much has come");
    assertThat(keys.known()).isSameAs(first);
    answer = (new String(right, StandardCharsets.UTF_8) + " ").getBytes(StandardCharsets.UTF_8);
    keys.poll();
    awaitOtherThan(first);
    // Or more: the client asks again if its connection ends, as that of the answer cut off does.
    assertThat(asked.get()).isGreaterThanOrEqualTo(fetches + 2);
  }

  private void awaitAsked(int times) {
    Await.until(() -> asked.get() == times, "a fetch");
  }

  @Test
  void troubleIsToldInWords() {
    assertThat(JwksUrl.words(new CompletionException(new ConnectException())))
        .isEqualTo("no connection");
    assertThat(JwksUrl.words(new TimeoutException())).isEqualTo("no answer in 10 s");
  }

  private void poll(int times) {
    for (int i = 0; i < times; i++) {
      keys.poll();
    }
  }

  private void awaitOtherThan(@Nullable Object known) {
    Await.until(() -> !Objects.equals(keys.known(), known), "keys come");
  }
}
