package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** HTTPS as a client of somebody else's sees it, by HTTP/1.1 and HTTP/2. */
class TlsIT {

  private static final String LISTENER =
      "listeners: [{address: '127.0.0.1:0', tls: self-signed%s}]";

  @RegisterExtension private final Journey journey = new Journey();

  private static HttpClient client(Version version) {
    return HttpClient.newBuilder().version(version).sslContext(TrustingAll.context()).build();
  }

  /** The listener with further settings. */
  private static String listener(String more) {
    return LISTENER.replace("%s", more);
  }

  private HttpRequest.Builder request(String target) {
    return HttpRequest.newBuilder(
        URI.create("https://127.0.0.1:" + journey.address().getPort() + target));
  }

  private HttpResponse<String> get(HttpClient client, String target)
      throws IOException, InterruptedException {
    return client.send(request(target).build(), BodyHandlers.ofString());
  }

  @Test
  void bothVersionsAreAnsweredFromOneStore() throws Exception {
    journey.with(listener(""));
    journey.origin().on("/a", ok("hello", "Cache-Control: max-age=600"));
    try (HttpClient h1 = client(Version.HTTP_1_1);
        HttpClient h2 = client(Version.HTTP_2)) {
      HttpResponse<String> miss = get(h1, "/a");
      assertThat(miss.version()).isEqualTo(Version.HTTP_1_1);
      assertThat(miss.headers().firstValue("cache-status").orElse("")).contains("uri-miss");
      HttpResponse<String> hit = get(h1, "/a");
      assertThat(hit.headers().firstValue("cache-status").orElse("")).contains("; hit;");
      HttpResponse<String> second = get(h2, "/a");
      assertThat(second.version()).isEqualTo(Version.HTTP_2);
      assertThat(second.headers().firstValue("cache-status").orElse("")).contains("; hit;");
      assertThat(second.body()).isEqualTo("hello");
    }
    assertThat(journey.origin().requests("/a")).hasSize(1);
    assertThat(journey.accessLog(3)).anySatisfy(line -> assertThat(line).contains("HTTP/2.0"));
  }

  @Test
  void withoutH2InItsListAListenerSpeaksHttp11() throws Exception {
    journey.with(listener(", protocols: [http/1.1]"));
    journey.origin().on("/a", ok("hello"));
    try (HttpClient client = client(Version.HTTP_2)) {
      assertThat(get(client, "/a").version()).isEqualTo(Version.HTTP_1_1);
    }
  }

  @Test
  void theOriginIsToldTheSchemeAndTheVersion() throws Exception {
    journey.with(listener(""));
    journey.origin().on("/a", ok("hello"));
    try (HttpClient client = client(Version.HTTP_2)) {
      get(client, "/a?b=c");
      get(client, "/a");
    }
    StubOrigin.Request asked = journey.origin().requests("/a").getLast();
    assertThat(asked.line()).isEqualTo("GET /a HTTP/1.1");
    assertThat(asked.field("X-Forwarded-Proto")).isEqualTo("https");
    assertThat(asked.field("Via")).startsWith("2.0 ");
    assertThat(asked.values("Host")).hasSize(1);
  }

  @Test
  void largeContentGoesBothWays() throws Exception {
    journey.with(listener(""));
    String content = "0123456789abcdef".repeat(1 << 16);
    journey.origin().on("/large", ok(content, "Cache-Control: max-age=600"));
    journey
        .origin()
        .on(
            "/echo",
            visit ->
                visit.send(
                    StubOrigin.message("200 OK", Integer.toString(visit.content().length()))));
    for (Version version : Version.values()) {
      if (!version.name().contains("3")) {
        try (HttpClient client = client(version)) {
          assertThat(get(client, "/large").body().equals(content)).isTrue();
          assertThat(get(client, "/large").body().equals(content)).isTrue();
          HttpRequest upload =
              request("/echo").POST(BodyPublishers.ofString(content.substring(0, 300_000))).build();
          assertThat(client.send(upload, BodyHandlers.ofString()).body()).isEqualTo("300000");
        }
      }
    }
    assertThat(journey.origin().requests("/large")).hasSize(1);
  }

  @Test
  void manyStreamsAtATimeAreAllAnswered() throws Exception {
    journey.with(listener(""));
    journey.origin().on("/a", ok("hello", "Cache-Control: max-age=600"));
    try (HttpClient client = client(Version.HTTP_2)) {
      get(client, "/a");
      var answers =
          IntStream.range(0, 100)
              .mapToObj(_ -> client.sendAsync(request("/a").build(), BodyHandlers.ofString()))
              .toList();
      CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new)).get();
      assertThat(answers).allSatisfy(a -> assertThat(a.get().body()).isEqualTo("hello"));
    }
  }

  @Test
  void handshakesAreCounted() throws Exception {
    journey.with(listener(""));
    journey.origin().on("/a", ok("hello"));
    try (HttpClient client = client(Version.HTTP_1_1)) {
      get(client, "/a");
    }
    try (HttpClient distrustful = HttpClient.newHttpClient()) {
      assertThatThrownBy(() -> get(distrustful, "/a")).isInstanceOf(IOException.class);
    }
    Await.until(
        () -> metrics().contains("kamille_tls_handshakes_total{") && failures(),
        "both are counted");
    assertThat(metrics()).containsPattern("kamille_tls_handshakes_total\\{[^}]*TLSv1.3[^}]*} 1");
  }

  private boolean failures() {
    return metrics()
        .lines()
        .anyMatch(line -> line.matches("kamille_tls_handshakes.*failed.* 1(.0)?"));
  }

  private String metrics() {
    try {
      return journey.admin("/metrics").body();
    } catch (IOException | InterruptedException failed) {
      throw new AssertionError(failed);
    }
  }
}
