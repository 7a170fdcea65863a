package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.tls.SelfSigned;
import io.kamille.core.tls.ServerCertificate;
import io.kamille.launcher.UserHome;
import io.kamille.launcher.acme.StubAuthority;
import io.kamille.launcher.acme.StubAuthority.Answer;
import java.io.IOException;
import java.math.BigInteger;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A whole Kamille gets certificates, serves them, and says so. */
class AcmeIT {

  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final KeyPair OWN = SelfSigned.freshKeys();
  private static final SSLContext TRUSTING = TrustingAll.context();

  @RegisterExtension private final Journey journey = new Journey();

  /** Where the listeners are reached; an authority may ask before the start is over. */
  private final CompletableFuture<List<String>> listening = new CompletableFuture<>();

  private StubAuthority stub;
  private HttpClient client;

  private UserHome home;

  @BeforeEach
  void open() throws Exception {
    home = new UserHome(journey.file("home").toString());
    stub = new StubAuthority().knowingAllNames();
    client = HttpClient.newBuilder().sslContext(TRUSTING).build();
    stub.authority(journey.file("stub.pem"));
    journey.origin().on("/", ok("hello"));
    configure("a.test, b.test");
  }

  @AfterEach
  void close() {
    client.close();
    stub.close();
    home.close();
  }

  private void configure(String names) {
    journey.with(
        "listeners: [{address: '127.0.0.1:0'},"
            + String.format(
                Locale.ROOT,
                " {address: '127.0.0.1:0', tls: {source: acme, names: [%s], hsts: 1h}}]",
                names),
        String.format(
            Locale.ROOT,
            "acme: {terms-agreed: on, directory: '%s', authority: '%s'}",
            stub.directory(),
            journey.file("stub.pem")));
  }

  private void start() {
    listening.complete(journey.appliance().listening());
  }

  private boolean proves(String type, String name, String token, String authorization)
      throws Exception {
    int listener = type.equals("http-01") ? 0 : 1;
    return StubAuthority.asks(
        Journey.address(listening.get().get(listener)), type, name, token, authorization);
  }

  private SSLSocket connect(SSLContext context, String name) throws IOException {
    var socket = (SSLSocket) context.getSocketFactory().createSocket();
    SSLParameters parameters = socket.getSSLParameters();
    parameters.setServerNames(List.of(new SNIHostName(name)));
    socket.setSSLParameters(parameters);
    socket.connect(Journey.address(listening.join().get(1)));
    socket.startHandshake();
    return socket;
  }

  /** What a handshake for that name shows; in no session that was begun for another. */
  private X509Certificate shown(String name) {
    try (SSLSocket socket = connect(TrustingAll.context(), name)) {
      return (X509Certificate) socket.getSession().getPeerCertificates()[0];
    } catch (IOException failed) {
      throw new AssertionError(failed);
    }
  }

  /** A handshake for a name without a certificate shows that of another. */
  private boolean isIssued(String name) {
    X509Certificate shown = shown(name);
    return shown.getIssuerX500Principal().getName().equals("CN=Stub Issuer")
        && ServerCertificate.of(List.of(shown), OWN.getPrivate(), "").isFor(name);
  }

  private void awaitIssued(String name) {
    Await.until(() -> isIssued(name), name + " has a certificate");
  }

  private HttpResponse<String> get() throws IOException, InterruptedException {
    int port = Journey.address(listening.join().get(1)).getPort();
    URI uri = URI.create("https://127.0.0.1:" + port + "/");
    try (HttpClient fresh = HttpClient.newBuilder().sslContext(TRUSTING).build()) {
      return fresh.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
    }
  }

  private JsonNode view(String name) {
    try {
      for (JsonNode each :
          JSON.readTree(journey.admin("/v1/certificates").body()).path("certificates")) {
        if (each.path("name").stringValue("").equals(name)) {
          return each;
        }
      }
    } catch (IOException | InterruptedException failed) {
      throw new AssertionError(failed);
    }
    throw new AssertionError(name + " is not shown");
  }

  private int post(String path) throws IOException, InterruptedException {
    HttpRequest request =
        journey.adminRequest("/v1/certificates/" + path).POST(BodyPublishers.noBody()).build();
    return journey.send(request).statusCode();
  }

  private String explained() throws IOException, InterruptedException {
    return journey.admin("/v1/explain?url=https://a.test/").body();
  }

  @Test
  void twoNamesGetCertificatesAndAnotherByAReload() throws Exception {
    stub.validatingBy(this::proves);
    var gate = new CountDownLatch(1);
    stub.holding(gate);
    start();
    assertThat(shown("a.test").getIssuerX500Principal())
        .isEqualTo(shown("a.test").getSubjectX500Principal());
    assertThat(get().body()).isEqualTo("hello");
    assertThat(get().headers().firstValue("Strict-Transport-Security")).isEmpty();
    HttpResponse<String> ready = journey.admin("/readyz");
    assertThat(ready.statusCode()).isEqualTo(200);
    assertThat(ready.body()).contains("certificates: waiting for 2");
    assertThat(explained()).contains("none was issued yet, so no client trusts this");
    assertThat(view("a.test").path("notAfter").stringValue("?")).isEmpty();
    assertThat(view("a.test").path("why").stringValue("")).isNotEmpty();

    gate.countDown();
    awaitIssued("a.test");
    awaitIssued("b.test");
    assertThat(stub.proved()).containsExactly("tls-alpn-01 a.test", "tls-alpn-01 b.test");
    assertThat(get().headers().firstValue("Strict-Transport-Security")).hasValue("max-age=3600");
    Await.until(() -> view("b.test").path("failures").intValue(-1) == 0, "the order is over");
    assertThat(journey.admin("/readyz").body()).doesNotContain("waiting");
    assertThat(explained()).contains("\"rule\":\"certificate\"", "it is for this host");
    JsonNode view = view("a.test");
    assertThat(view.path("issuer").stringValue("")).isEqualTo("CN=Stub Issuer");
    assertThat(view.path("lifetimeLeft").doubleValue(0)).isBetween(0.99, 1.0);
    assertThat(view.path("error").stringValue("?")).isEmpty();
    assertThat(view.path("next").stringValue("")).isNotEmpty();
    assertThat(view.path("steps").size()).isPositive();
    assertThat(journey.admin("/metrics").body())
        .containsPattern("kamille_acme_orders_total\\{outcome=\"issued\"} 2");

    stub.validatingBy(
        (type, name, token, authorization) ->
            type.equals("http-01") && proves(type, name, token, authorization));
    configure("a.test, b.test, c.test");
    journey.appliance().reload(journey.configuration());
    Await.until(() -> view("c.test").path("failures").intValue(-1) == 1, "nothing leads to TLS");
    assertThat(post("c.test/renew")).isEqualTo(204);
    awaitIssued("c.test");
    assertThat(stub.proved()).last().isEqualTo("http-01 c.test");
    assertThat(stub.orders("a.test")).hasSize(1);
  }

  @Test
  void anOperatorRenewsAndTriesByTheApi() throws Exception {
    stub.knowingAllNames();
    start();
    awaitIssued("a.test");
    awaitIssued("b.test");
    BigInteger first = shown("a.test").getSerialNumber();

    assertThat(post("a.test/renew")).isEqualTo(204);
    Await.until(() -> !shown("a.test").getSerialNumber().equals(first), "it is renewed");
    BigInteger second = shown("a.test").getSerialNumber();
    assertThat(stub.orders("a.test")).hasSize(2);

    assertThat(post("a.test/try")).isEqualTo(204);
    Await.until(() -> !view("a.test").path("isRehearsed").booleanValue(true), "it was tried");
    assertThat(stub.orders("a.test")).hasSize(3);
    assertThat(view("a.test").path("steps").toString()).contains("issued and thrown away");
    assertThat(shown("a.test").getSerialNumber()).isEqualTo(second);

    assertThat(post("elsewhere.test/renew")).isEqualTo(404);
    assertThat(post("elsewhere.test/try")).isEqualTo(404);
  }

  @Test
  void anAuthorityThatErrsLeavesTheCertificate() throws Exception {
    start();
    awaitIssued("a.test");
    awaitIssued("b.test");
    BigInteger first = shown("a.test").getSerialNumber();
    stub.issuingFor("evil.test");
    fails("is for [evil.test] and not for a.test");
    stub.behave();
    stub.always("/certificate", Answer.of(200, "application/pem-certificate-chain", ""));
    fails("certificate");
    stub.behave();
    stub.always("/order", Answer.problem(500, "serverInternal", "not today"));
    fails("not today");
    assertThat(shown("a.test").getSerialNumber()).isEqualTo(first);
    stub.behave();
    post("a.test/renew");
    Await.until(() -> !shown("a.test").getSerialNumber().equals(first), "it is renewed");
    assertThat(view("a.test").path("error").stringValue("?")).isEmpty();
  }

  private void fails(String why) throws IOException, InterruptedException {
    int before = view("a.test").path("failures").intValue(0);
    post("a.test/renew");
    Await.until(
        () ->
            view("a.test").path("failures").intValue(0) == before + 1
                && view("a.test").path("error").stringValue("").contains(why),
        "it failed, because " + why);
  }

  @Test
  void noNameOfAClientIsEverOrdered() throws Exception {
    start();
    awaitIssued("a.test");
    awaitIssued("b.test");
    long asked = Await.still(() -> stub.requests("/"));
    List<SSLSocket> sockets = new ArrayList<>();
    for (String name : IntStream.range(0, 1_000).mapToObj(i -> "n" + i + ".a.test").toList()) {
      sockets.add(connect(TRUSTING, name));
      if (sockets.size() == 100) {
        for (SSLSocket socket : sockets) {
          socket.close();
        }
        sockets.clear();
      }
    }
    assertThat(Await.still(() -> stub.requests("/"))).isEqualTo(asked);
    assertThat(journey.admin("/v1/certificates").body()).doesNotContain("n1.a.test");
  }
}
