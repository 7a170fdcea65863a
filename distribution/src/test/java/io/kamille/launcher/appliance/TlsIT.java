package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.client.h2.TestH2Client;
import io.kamille.core.tls.Certificates;
import io.kamille.core.tls.ServerCertificate;
import io.kamille.launcher.client.LocalApi;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
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
    journey.with(
        listener(""),
        "log: {level: error, access: {output: '"
            + journey.file("access.log")
            + "', fields: {add: [tls-version, 'response-field:X-Shop']}}}");
    journey.origin().on("/a", ok("hello", "Cache-Control: max-age=600", "X-Shop: blue"));
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
    assertThat(journey.accessLog(3))
        .anySatisfy(line -> assertThat(line).contains("HTTP/2.0"))
        .allSatisfy(line -> assertThat(line).endsWith(" \"TLSv1.3\" \"blue\""));
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

  @Test
  void theOriginIsToldWhoseCertificateTheClientShowedAndNobodyCanForgeIt() throws Exception {
    var authority = new Certificates("clients");
    Path authorities = journey.file("clients.pem");
    Files.writeString(authorities, authority.pem());
    journey.with(
        "listeners: [{address: '127.0.0.1:0', tls: {source: self-signed, client-certificates:"
            + " optional, client-authorities: '"
            + authorities
            + "'}}]");
    journey.origin().on("/a", ok("hello", "Cache-Control: max-age=600"));
    SSLContext known = TrustingAll.context(authority.ecdsa("some.client"));
    String[] forged = {
      "Client-Cert",
      ":Zm9yZ2Vk:",
      "Client_Cert",
      ":Zm9yZ2Vk:",
      "Client-Cert-Chain",
      ":Zm9yZ2Vk:",
      "Client-Cert-Subject",
      "CN=root"
    };
    List<Long> begun = new ArrayList<>();
    for (Version version : List.of(Version.HTTP_1_1, Version.HTTP_2, Version.HTTP_2)) {
      try (HttpClient client = HttpClient.newBuilder().version(version).sslContext(known).build()) {
        HttpResponse<String> answer =
            client.send(request("/a").headers(forged).build(), BodyHandlers.ofString());
        begun.add(answer.sslSession().orElseThrow().getCreationTime());
      }
    }
    // A session that is resumed is as old as the one before.
    assertThat(begun.get(2)).isEqualTo(begun.get(1));
    try (HttpClient client = client(Version.HTTP_2)) {
      client.send(request("/a").headers(forged).build(), BodyHandlers.ofString());
    }
    // A response to one client is not stored for the others (RFC 9111 §3.5).
    List<StubOrigin.Request> asked = journey.origin().requests("/a");
    assertThat(asked).hasSize(4);
    for (StubOrigin.Request each : asked.subList(0, 3)) {
      assertThat(each.values("Client-Cert-Subject")).containsExactly("CN=some.client");
      assertThat(each.values("Client-Cert"))
          .singleElement(as(STRING))
          .matches(":[A-Za-z0-9+/]{100,}=*:");
    }
    for (StubOrigin.Request each : asked) {
      assertThat(each.values("Client_Cert")).isEmpty();
      assertThat(each.values("Client-Cert-Chain")).isEmpty();
    }
    assertThat(asked.getLast().values("Client-Cert")).isEmpty();
    assertThat(asked.getLast().values("Client-Cert-Subject")).isEmpty();
  }

  @Test
  void hstsIsInEveryResponseOfItsListenerOnce() throws Exception {
    journey.with(
        "listeners: [{address: '127.0.0.1:0', tls: {certificates: ["
            + files(new Certificates("authority").ecdsa("a.test"), "a.test")
            + "], hsts: 365d}}]");
    journey
        .origin()
        .on("/a", ok("x", "Cache-Control: no-cache", "Strict-Transport-Security: max-age=1"));
    journey.origin().on("/b", ok("x", "Cache-Control: max-age=600"));
    for (Version version : List.of(Version.HTTP_1_1, Version.HTTP_2)) {
      try (HttpClient client = client(version)) {
        for (String target : List.of("/a", "/b", "/b", "/missing")) {
          assertThat(get(client, target).headers().allValues("strict-transport-security"))
              .as("%s by %s", target, version)
              .containsExactly("max-age=31536000");
        }
      }
    }
  }

  @Test
  void hstsIsNotSentWhereNoClientTrustsTheCertificate() throws Exception {
    journey.with("listeners: [{address: '127.0.0.1:0', tls: {source: self-signed, hsts: 365d}}]");
    journey.origin().on("/a", ok("x"));
    for (Version version : List.of(Version.HTTP_1_1, Version.HTTP_2)) {
      try (HttpClient client = client(version)) {
        assertThat(get(client, "/a").headers().allValues("strict-transport-security"))
            .as("by %s", version)
            .isEmpty();
      }
    }
  }

  @Test
  void aRequestForANameOfAnotherCertificateIsMisdirected() throws Exception {
    var authority = new Certificates("authority");
    List<String> files = new ArrayList<>();
    for (String name : List.of("a.test", "b.test")) {
      ServerCertificate certificate =
          name.startsWith("a") ? authority.ecdsa(name, "*.a.test") : authority.ecdsa(name);
      files.add(files(certificate, name));
    }
    journey.with(
        "listeners: [{address: '127.0.0.1:0', tls: {certificates: ["
            + String.join(", ", files)
            + "]}}]");
    journey.origin().on("/", ok("x"));
    try (TestH2Client client = TestH2Client.over(secure("a.test"))) {
      int stream = -1;
      for (String host : List.of("a.test", "B.test", "c.a.test:8443", "b.test:8443", "c.test")) {
        stream += 2;
        client.headers(
            stream, true, ":method", "GET", ":scheme", "https", ":path", "/", ":authority", host);
        assertThat(client.answer(stream).status())
            .as(host)
            .isEqualTo(host.toLowerCase(Locale.ROOT).startsWith("b.test") ? 421 : 200);
      }
    }
  }

  /** The setting of a certificate, which it writes into two files. */
  private String files(ServerCertificate certificate, String name) throws Exception {
    Path file = journey.file(name);
    Certificates.write(certificate, requireNonNull(file.getParent()), name);
    return "{chain: '" + file + ".pem', key: '" + file + ".key'}";
  }

  /** A connection that names this server, and speaks HTTP/2. */
  private SSLSocket secure(String name) throws IOException {
    var socket = (SSLSocket) TrustingAll.context().getSocketFactory().createSocket();
    SSLParameters parameters = socket.getSSLParameters();
    parameters.setServerNames(List.of(new SNIHostName(name)));
    parameters.setApplicationProtocols(new String[] {"h2"});
    socket.setSSLParameters(parameters);
    socket.connect(journey.address());
    return socket;
  }

  @Test
  void aListenerMayRedirectToHttps() {
    journey.with("listeners: [{address: '127.0.0.1:0', redirect-to-https: 8443}]");
    journey.origin().on("/.well-known/acme-challenge/x", ok("token"));
    Answer redirect = journey.say("GET /a?b=c HTTP/1.1\r\nHost: Site.test:80\r\n\r\n");
    assertThat(redirect.status()).isEqualTo(308);
    assertThat(redirect.field("Location")).isEqualTo("https://site.test:8443/a?b=c");
    assertThat(redirect.field("Strict-Transport-Security")).isNull();
    assertThat(journey.say("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").status()).isEqualTo(400);
    assertThat(journey.get("/.well-known/acme-challenge/x").content()).isEqualTo("token");
    assertThat(journey.get("/.well-known/acme-challenge/../../a").status()).isEqualTo(308);
    assertThat(journey.get("/.well-known/acme-challenge/%2e%2e/%2e./a").status()).isEqualTo(308);
    assertThat(journey.origin().requests("/a")).isEmpty();
  }

  @Test
  void ofTooManyHandshakesTheOldestIsGivenUp() throws Exception {
    journey.with("loops: 1", "listeners: [{address: '127.0.0.1:0', tls: {source: self-signed}}]");
    journey.origin().on("/a", ok("hello"));
    for (int i = 0; i <= 2048; i++) {
      journey.client();
    }
    Await.until(
        () -> metrics().matches("(?s).*kamille_tls_handshakes_total[^\n]*displaced[^\n]* [1-2].*"),
        "one is given up");
    try (HttpClient client = client(Version.HTTP_2)) {
      assertThat(get(client, "/a").body()).isEqualTo("hello");
    }
  }

  @Test
  void theExpiryOfCertificatesIsAMetricAndInTheStatus() throws Exception {
    journey.with(listener(""));
    journey.appliance();
    assertThat(metrics())
        .containsPattern("kamille_tls_certificate_expiry_timestamp_seconds\\{[^}]*} [0-9.E]+");
    assertThat(journey.admin("/v1/status").body())
        .containsPattern("\"certificateExpires\":\\s*\"20[0-9-]+T");
  }

  @Test
  void aPageInClearTextChangesNothingOverTls() throws Exception {
    journey.with(
        "admin: {address: '127.0.0.1:0', token-file: '"
            + journey.file("token")
            + "', tls: {source: self-signed}}");
    String admin = journey.appliance().adminListening().orElseThrow();
    HttpRequest.Builder session =
        HttpRequest.newBuilder(URI.create("https://" + admin + "/v1/session"));
    try (HttpClient browser = client(Version.HTTP_1_1)) {
      HttpResponse<String> opened =
          browser.send(
              session
                  .header("Content-Type", "application/json")
                  .POST(BodyPublishers.ofString("{\"token\":\"" + journey.token() + "\"}"))
                  .build(),
              BodyHandlers.ofString());
      session
          .setHeader("Cookie", opened.headers().firstValue("Set-Cookie").orElseThrow())
          .setHeader(
              "X-Kamille-Key", opened.body().replaceAll("(?s).*\"key\":\"([^\"]+)\".*", "$1"))
          .DELETE();
      for (String scheme : List.of("http://", "https://")) {
        HttpRequest signOut = session.setHeader("Origin", scheme + admin).build();
        assertThat(browser.send(signOut, BodyHandlers.ofString()).statusCode())
            .isEqualTo(scheme.equals("https://") ? 200 : 403);
      }
    }
  }

  @Test
  void theControlPlaneSpeaksTlsAndAsksForCertificates() throws Exception {
    var authority = new Certificates("operators");
    Path authorities = journey.file("operators.pem");
    Files.writeString(authorities, authority.pem());
    journey.with(
        "admin: {address: '127.0.0.1:0', token-file: '"
            + journey.file("token")
            + "', tls: {source: self-signed, client-certificates: required, client-authorities: '"
            + authorities
            + "'}}");
    String admin = journey.appliance().adminListening().orElseThrow();
    HttpRequest status =
        HttpRequest.newBuilder(URI.create("https://" + admin + "/v1/status"))
            .header("Authorization", "Bearer " + journey.token())
            .build();
    SSLContext known = TrustingAll.context(authority.ecdsa("operator"));
    try (HttpClient client = HttpClient.newBuilder().sslContext(known).build()) {
      assertThat(client.send(status, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
    }
    try (HttpClient stranger = client(Version.HTTP_1_1)) {
      assertThatThrownBy(() -> stranger.send(status, BodyHandlers.ofString()))
          .isInstanceOf(IOException.class);
    }
    assertThat(journey.appliance().signInLink().orElseThrow()).startsWith("https://" + admin);
    // The command line needs neither certificate nor token.
    LocalApi local = new LocalApi(requireNonNull(authorities.getParent()));
    assertThat(local.ask("GET", "/v1/status", Map.of(), null).status()).isEqualTo(200);
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
