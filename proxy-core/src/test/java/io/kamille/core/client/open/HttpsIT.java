package io.kamille.core.client.open;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestServer;
import io.kamille.core.client.h2.TestH2Client;
import io.kamille.core.gate.AccessList;
import io.kamille.core.setting.Sections;
import io.kamille.core.tls.Certificates;
import io.kamille.core.tls.Challenges;
import io.kamille.core.tls.ClientCertificates;
import io.kamille.core.tls.ClientHellos;
import io.kamille.core.tls.SelfSigned;
import io.kamille.core.tls.ServerCertificate;
import io.kamille.core.tls.ServerTls;
import io.kamille.core.tls.TlsPolicy;
import io.kamille.core.tls.TlsProfile;
import io.kamille.core.tls.TlsSettings;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which certificate a handshake shows, what authorities are shown, and when HSTS is sent. */
class HttpsIT {

  private static final String ACME_IDENTIFIER = "1.3.6.1.5.5.7.1.31";
  private static final TlsPolicy POLICY =
      new TlsPolicy(TlsProfile.INTERMEDIATE, ClientCertificates.NONE, List.of("h2", "http/1.1"));

  /** A record of an alert that is fatal: no_application_protocol (RFC 7301 §3.2). */
  private static final byte[] NO_APPLICATION_PROTOCOL = {21, 3, 3, 0, 2, 2, 120};

  private static final int MOST_HELLO_OCTETS = 16 << 10;

  private final Challenges challenges = new Challenges();
  private final byte[] hash = new byte[32];
  private Certificates authority;
  private ServerTls tls;
  private TestServer server;

  @BeforeEach
  void open() throws GeneralSecurityException, IOException {
    Arrays.fill(hash, (byte) 7);
    authority = new Certificates("authority");
    tls =
        ServerTls.open(
            POLICY,
            List.of(
                authority.ecdsa("a.test"),
                authority.ecdsa("127.0.0.2"),
                authority.ecdsa("127.0.0.1"),
                SelfSigned.of(Instant.now(), List.of("waiting.test"))),
            Runnable::run);
    TlsSettings settings = Sections.of(TlsSettings.SECTION, "{source: acme, hsts: 365d}");
    server =
        new TestServer(
            TestServer.SETTINGS,
            1,
            Sections.copy(
                    TestServer.settings(Protocols.BOTH, AccessList.ALL, ProxyProtocolSettings.OFF))
                .with("tls", settings)
                .record(),
            tls,
            challenges);
  }

  @AfterEach
  void close() throws IOException {
    server.close();
    tls.close();
    challenges.replace(Map.of(), Map.of());
  }

  /** RFC 9110 §15.5.1: who forgot the scheme reads what is wrong, be it in one octet at a time. */
  @Test
  void clearTextIsAnsweredInClearText() {
    TestClient plain = server.connect().get("/");
    TestClient.Answer answer = plain.answer();
    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.content()).contains("HTTPS");
    assertThat(plain.isAtEnd()).isTrue();
    TestClient slow = server.connect().send("P");
    assertThat(slow.answer().status()).isEqualTo(400);
    slow.send("OST / HTTP/1.1\r\n");
    server.settle();
    server.pass(Duration.ofSeconds(10));
    Await.until(() -> server.connections() == 0, "the end");
    assertThat(tls.counters().failures()).isEqualTo(2);
    assertThat(server.limiter().open()).isZero();
  }

  private void awaitAuthorityFor(String... names) throws IOException {
    var all = new HashMap<String, ServerCertificate>();
    for (String name : names) {
      all.put(name, SelfSigned.proving(Instant.now(), name, hash));
    }
    challenges.replace(Map.of("token", "token.print"), all);
  }

  private SSLSocket connect(String version, @Nullable String name, String... protocols)
      throws GeneralSecurityException, IOException {
    return ClientHellos.connect(server.address(), version, name, protocols);
  }

  private static X509Certificate shownTo(SSLSocket socket) throws SSLException {
    return (X509Certificate) socket.getSession().getPeerCertificates()[0];
  }

  /** What the server says to a request; nothing if the connection ends. */
  private static String answer(SSLSocket socket) throws IOException {
    try {
      socket
          .getOutputStream()
          .write("GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n".getBytes(US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), US_ASCII);
    } catch (IOException ended) {
      return "";
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  void anAuthorityIsShownItsCertificateAndNothingElseIsSpoken(String version) throws Exception {
    awaitAuthorityFor("a.test", "1.0.0.127.in-addr.arpa");
    for (String name : List.of("a.test", "A.Test", "1.0.0.127.in-addr.arpa")) {
      try (SSLSocket socket = connect(version, name, "acme-tls/1")) {
        assertThat(socket.getApplicationProtocol()).isEqualTo("acme-tls/1");
        X509Certificate shown = shownTo(socket);
        assertThat(shown.getCriticalExtensionOIDs()).contains(ACME_IDENTIFIER);
        // An OCTET STRING within that of the extension (RFC 8737 §3).
        assertThat(shown.getExtensionValue(ACME_IDENTIFIER))
            .startsWith(4, 34, 4, 32)
            .endsWith(hash);
        assertThat(shown.getSubjectAlternativeNames())
            .singleElement()
            .satisfies(one -> assertThat((Object) one.get(1)).isEqualTo(lower(name)));
        assertThat(answer(socket)).isEmpty();
      }
    }
    Await.until(() -> server.connections() == 0, "the connections are closed");
    assertThat(server.ended()).isEmpty();
  }

  private static String lower(String name) {
    return name.toLowerCase(Locale.ROOT);
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  void meanwhileOthersAreShownTheOrdinaryCertificate(String version) throws Exception {
    awaitAuthorityFor("a.test");
    String[][] ordinary = {{}, {"h2"}, {"http/1.1"}, {"h2", "acme-tls/1"}, {"acme-tls/1", "h2"}};
    for (String[] protocols : ordinary) {
      try (SSLSocket socket = connect(version, "a.test", protocols)) {
        assertThat(shownTo(socket).getIssuerX500Principal().getName()).isEqualTo("CN=authority");
        assertThat(shownTo(socket).getExtensionValue(ACME_IDENTIFIER)).isNull();
        assertThat(socket.getApplicationProtocol()).isNotEqualTo("acme-tls/1");
      }
    }
    try (SSLSocket socket = connect(version, "a.test", "http/1.1")) {
      assertThat(answer(socket)).startsWith("HTTP/1.1 200 ");
    }
  }

  @Test
  void whatNobodyAwaitsEndsByAnAlert() throws Exception {
    endsByAnAlert("a.test");
    awaitAuthorityFor("a.test");
    for (String name : new String[] {"b.test", "x.a.test", "test", "127.0.0.1.test", null}) {
      endsByAnAlert(name);
    }
    challenges.replace(Map.of("token", "token.print"), Map.of());
    endsByAnAlert("a.test");
    assertThatThrownBy(() -> connect("TLSv1.3", "a.test", "acme-tls/1"))
        .isInstanceOf(SSLException.class)
        .hasMessageContaining("no_application_protocol");
    Await.until(() -> server.connections() == 0, "the connections are closed");
  }

  /** RFC 7301 §3.2. */
  @Test
  void aClientThatOffersOnlyOtherProtocolsGetsAnAlert() throws Exception {
    endsByAnAlert("a.test", "h3");
    endsByAnAlert(null, "spdy/3", "http/1.0");
    Await.until(() -> tls.counters().failures() == 2, "both count");
    try (SSLSocket socket = connect("TLSv1.3", "a.test", "h3", "http/1.1")) {
      assertThat(socket.getApplicationProtocol()).isEqualTo("http/1.1");
    }
  }

  private void endsByAnAlert(@Nullable String name) throws Exception {
    endsByAnAlert(name, "acme-tls/1");
  }

  private void endsByAnAlert(@Nullable String name, String... protocols) throws Exception {
    try (TestClient client = server.connect()) {
      client.send(ClientHellos.record(name, protocols));
      assertThat(client.octets(NO_APPLICATION_PROTOCOL.length))
          .as("%s", name)
          .isEqualTo(NO_APPLICATION_PROTOCOL);
      assertThat(client.isAtEnd()).isTrue();
    }
  }

  @Test
  void aQuestionInManySegmentsIsUnderstood() throws Exception {
    try (TestClient client = server.connect()) {
      for (byte octet : ClientHellos.record("a.test", "acme-tls/1")) {
        client.send(new byte[] {octet});
      }
      assertThat(client.octets(NO_APPLICATION_PROTOCOL.length)).isEqualTo(NO_APPLICATION_PROTOCOL);
      assertThat(client.isAtEnd()).isTrue();
    }
  }

  @Test
  void aClientHelloOfMoreThan16KibibytesEndsTheConnection() throws Exception {
    byte[] hello = ClientHellos.record("a.test", "acme-tls/1");
    try (TestClient client = server.connect()) {
      client.send(ClientHellos.padded(hello, MOST_HELLO_OCTETS));
      assertThat(client.octets(NO_APPLICATION_PROTOCOL.length)).isEqualTo(NO_APPLICATION_PROTOCOL);
      assertThat(client.isAtEnd()).isTrue();
    }
    Await.until(() -> server.connections() == 0, "the end");
    assertThat(tls.counters().failures()).isEqualTo(1);
    try (TestClient client = server.connect()) {
      client.send(ClientHellos.padded(hello, MOST_HELLO_OCTETS + 1));
      assertThat(client.isAtEnd()).as("without an alert").isTrue();
    }
    Await.until(() -> server.connections() == 0, "the end");
    assertThat(tls.counters().failures()).isEqualTo(2);
    try (SSLSocket socket = connect("TLSv1.3", "a.test", "http/1.1")) {
      assertThat(answer(socket)).startsWith("HTTP/1.1 200 ");
    }
  }

  /** Netty alone reads records to their end, and such a one to 64 KiB. */
  @Test
  void aRecordThatSaysItIsLongerIsNotReadToItsEnd() {
    byte[] record = new byte[MOST_HELLO_OCTETS];
    System.arraycopy(new byte[] {22, 3, 1, -1, -1, 1, 0, 16}, 0, record, 0, 8);
    try (TestClient client = server.connect()) {
      client.send(record);
      Await.until(() -> server.connections() == 1, "the connection");
      server.settle();
      assertThat(tls.counters().failures()).isZero();
      client.send(new byte[1]);
      Await.until(() -> server.connections() == 0, "the end");
      assertThat(tls.counters().failures()).isEqualTo(1);
      assertThat(client.isAtEnd()).isTrue();
    }
  }

  /** Nine octets that announce a ClientHello of 16 MiB, for which no room is made. */
  @Test
  void aClientHelloThatSaysItIsLongerIsNotAwaited() {
    try (TestClient client = server.connect()) {
      client.send(new byte[] {22, 3, 1, 0, 4, 1, -1, -1, -4});
      assertThat(client.isAtEnd()).as("with its record whole").isTrue();
    }
    Await.until(() -> server.connections() == 0, "the end");
    try (TestClient client = server.connect()) {
      client.send(new byte[] {22, 3, 1, 0x40, 0, 1, -1, -1, -4});
      Await.until(() -> server.connections() == 1, "the connection");
      server.settle();
      server.pass(TestServer.SETTINGS.headTimeout().plusSeconds(1));
      Await.until(() -> server.connections() == 0, "the time for a head is over");
      assertThat(client.isAtEnd()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  void aClientThatNamesNoServerIsShownTheCertificateOfTheAddress(String version) throws Exception {
    try (SSLSocket socket = connect(version, null)) {
      assertThat(shownTo(socket).getSubjectX500Principal().getName()).isEqualTo("CN=127.0.0.1");
    }
    tls.update(POLICY, List.of(authority.ecdsa("a.test"), authority.ecdsa("127.0.0.2")));
    try (SSLSocket socket = connect(version, null)) {
      assertThat(shownTo(socket).getSubjectX500Principal().getName()).isEqualTo("CN=a.test");
    }
  }

  @Test
  void hstsIsSentOnceACertificateIsThereThatClientsTrust() throws Exception {
    String line = "max-age=31536000";
    assertThat(hstsOf("a.test")).containsExactly(line, line);
    assertThat(hstsOf("waiting.test")).containsExactly(null, null);
    tls.update(POLICY, List.of(authority.ecdsa("a.test"), authority.ecdsa("waiting.test")));
    assertThat(hstsOf("waiting.test")).containsExactly(line, line);
  }

  /** What is sent over HTTP/1.1 and over HTTP/2. */
  private List<@Nullable String> hstsOf(String name) throws Exception {
    String h1;
    try (SSLSocket socket = connect("TLSv1.3", name, "http/1.1")) {
      h1 = answer(socket);
    }
    assertThat(h1).startsWith("HTTP/1.1 200 ");
    TestH2Client.Answer h2;
    try (TestH2Client client = TestH2Client.over(connect("TLSv1.3", name, "h2"))) {
      client.headers(
          1, true, ":method", "GET", ":scheme", "https", ":path", "/", ":authority", name);
      h2 = client.answer(1);
    }
    assertThat(h2.status()).isEqualTo(200);
    return Arrays.asList(
        h1.lines()
            .filter(field -> lower(field).startsWith("strict-transport-security:"))
            .map(field -> field.substring(field.indexOf(':') + 1).strip())
            .findFirst()
            .orElse(null),
        h2.fields().get("strict-transport-security"));
  }
}
