package io.kamille.launcher.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.tls.ServerCertificate;
import io.kamille.launcher.appliance.TrustingAll;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Orders of a whole Kamille at Pebble: {@code ./dev test --acme}. */
@SuppressWarnings("NullAway.Init") // each test starts both as it needs them
class PebbleIT {

  private static final Duration LIMIT = Duration.ofSeconds(10);

  @TempDir private Path directory;
  private Path state;
  private Pebble pebble;
  private KamilleProcess kamille;

  @BeforeEach
  void prepare() throws IOException {
    state = Files.createDirectory(directory.resolve("state"));
  }

  @AfterEach
  void close() {
    if (kamille != null) {
      kamille.close();
    }
    if (pebble != null) {
      pebble.close();
    }
  }

  private void authority(Map<String, String> environment, String settings) throws Exception {
    Map<String, String> all = new HashMap<>(Pebble.QUICK);
    all.putAll(environment);
    pebble = Pebble.start(directory, all, settings);
  }

  private Path configure(String names, String acme) throws IOException {
    return configure(pebble.tlsPort(), names, acme);
  }

  private Path configure(int tlsPort, String names, String acme) throws IOException {
    return Files.writeString(
        directory.resolve("kamille.yaml"),
        String.format(
            Locale.ROOT,
            """
            listeners:
              - {address: '127.0.0.1:%d'}
              - {address: '127.0.0.1:%d', tls: {source: acme, names: [%s]}}
            acme: {terms-agreed: on, directory: '%s', authority: '%s'%s}
            admin: {address: '127.0.0.1:0'}
            routes: [{respond: {status: 200, body: hello}}]
            """,
            pebble.httpPort(),
            tlsPort,
            names,
            pebble.url(),
            pebble.authority(),
            acme));
  }

  /** Starts Kamille with the file as it is. */
  private void run() throws IOException {
    kamille = KamilleProcess.start(state, "run", "--config", directory + "/kamille.yaml");
  }

  private void awaitIssued(String... names) {
    for (String name : names) {
      kamille.awaitLine(name + ": issued until");
      Await.until(() -> isIssued(name), name + " is served");
    }
  }

  private boolean isIssued(String name) {
    try {
      X509Certificate shown = shown(name);
      return shown.getIssuerX500Principal().getName().contains("Pebble")
          && ServerCertificate.of(List.of(shown), live(name).key(), "").names().contains(name);
    } catch (IOException unread) {
      throw new AssertionError(unread);
    }
  }

  /** What a handshake for that name shows; an address is not named there. */
  private X509Certificate shown(String name) {
    try (var socket = (SSLSocket) TrustingAll.context().getSocketFactory().createSocket()) {
      SSLParameters parameters = socket.getSSLParameters();
      if (!name.matches("[0-9.]+")) {
        parameters.setServerNames(List.of(new SNIHostName(name.replace("*", "any"))));
      }
      socket.setSSLParameters(parameters);
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), pebble.tlsPort()));
      return (X509Certificate) socket.getSession().getPeerCertificates()[0];
    } catch (IOException failed) {
      throw new AssertionError(failed);
    }
  }

  private Path kept(String name) {
    return state
        .resolve("acme")
        .resolve(pebble.host())
        .resolve("certificates")
        .resolve(name.replace('*', '_'));
  }

  @Test
  void twoNamesAreServedSoon() throws Exception {
    authority(Map.of(), "");
    configure("a.shop.example, b.shop.example", "");
    long begin = System.nanoTime();
    run();
    awaitIssued("a.shop.example", "b.shop.example");
    Duration taken = Duration.ofNanos(System.nanoTime() - begin);
    System.out.println("acme: two names in " + taken.toMillis() + " ms");
    assertThat(taken).isLessThan(LIMIT);
    kamille.awaitLine("proving the name by tls-alpn-01");
  }

  /** Where the authority asks, nobody listens by TLS. */
  @ParameterizedTest
  @ValueSource(strings = {"a.shop.example", "127.0.0.1"})
  void whatTlsDoesNotProveHttpDoes(String name) throws Exception {
    authority(Map.of(), "");
    configure(0, name, "");
    run();
    kamille.awaitLine(name + ": not issued:");
    renew(name);
    kamille.awaitLine(name + ": proving the name by http-01");
    kamille.awaitLine(name + ": issued until");
  }

  @Test
  void halfOfAllNoncesMayBeRefused() throws Exception {
    authority(Map.of("PEBBLE_WFE_NONCEREJECT", "50", "PEBBLE_AUTHZREUSE", "50"), "");
    configure("a.shop.example, b.shop.example", "");
    run();
    awaitIssued("a.shop.example", "b.shop.example");
    assertThat(pebble.log()).contains("Configured to reject 50% of good nonces");
  }

  @Test
  void anAddressGetsACertificate() throws Exception {
    authority(Map.of(), "");
    configure("127.0.0.1", "");
    run();
    awaitIssued("127.0.0.1");
  }

  @Test
  void aWildcardIsProvedByAHook() throws Exception {
    authority(Map.of(), "");
    Path hook = directory.resolve("hook");
    Files.writeString(
        hook,
        String.format(
            Locale.ROOT,
            """
            #!/bin/sh
            case $1 in present) path=set-txt ;; *) path=clear-txt ;; esac
            exec curl --silent --fail --data "{\\"host\\":\\"$2.\\",\\"value\\":\\"$3\\"}" \\
              http://127.0.0.1:%d/$path
            """,
            pebble.namesPort()));
    Files.setPosixFilePermissions(hook, PosixFilePermissions.fromString("rwx------"));
    configure("'*.shop.example', shop.example", ", dns-hook: ['" + hook + "']");
    run();
    awaitIssued("*.shop.example", "shop.example");
  }

  private ServerCertificate live(String name) throws IOException {
    Path live = kept(name).resolve("live");
    return ServerCertificate.read(live.resolve("chain.pem"), live.resolve("key.pem"));
  }

  @Test
  void anAccountThatMustBeBoundIsBoundAfterAReload() throws Exception {
    String mac = "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W";
    authority(
        Map.of(),
        ",\"externalAccountBindingRequired\":true,\"externalAccountMACKeys\":{\"kid-1\":\""
            + mac
            + "\"}");
    configure("a.shop.example", "");
    run();
    assertThat(kamille.awaitLine("a.shop.example: not issued:"))
        .contains("set acme.account-binding");
    Path file = Files.writeString(directory.resolve("mac"), mac + "\n");
    configure("a.shop.example", ", account-binding: {id: kid-1, key-file: '" + file + "'}");
    kamille.signal("HUP");
    kamille.awaitLine("configuration reloaded");
    renew("a.shop.example");
    awaitIssued("a.shop.example");
  }

  private void renew(String name) throws IOException, InterruptedException {
    URI uri =
        URI.create(
            "http://" + kamille.awaitLine("admin on ") + "/v1/certificates/" + name + "/renew");
    String token = Files.readString(state.resolve("admin-token")).strip();
    try (HttpClient client = HttpClient.newHttpClient()) {
      assertThat(
              client
                  .send(
                      HttpRequest.newBuilder(uri)
                          .header("Authorization", "Bearer " + token)
                          .POST(BodyPublishers.noBody())
                          .build(),
                      BodyHandlers.discarding())
                  .statusCode())
          .isEqualTo(204);
    }
  }

  /** As twelve hours later: Kamille asks when to renew, and does so. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatTheAuthorityWantsBackIsReplaced(boolean isRevoked) throws Exception {
    authority(Map.of(), "");
    configure("a.shop.example", "");
    run();
    awaitIssued("a.shop.example");
    X509Certificate first = shown("a.shop.example");
    if (isRevoked) {
      pebble.revoke(live("a.shop.example"));
    } else {
      pebble.suggest(live("a.shop.example"), "2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z");
    }
    kamille.signal("TERM");
    assertThat(kamille.exitCode()).isZero();
    Path renewal = kept("a.shop.example").resolve("renewal");
    String early = "\"askAgain\":\"2020-01-01T00:00:00Z\"";
    Files.writeString(
        renewal,
        Files.readString(renewal).replaceFirst("\"askAgain\":(\"[^\"]*\"|[0-9.E]+)", early));
    run();
    kamille.awaitLine("a.shop.example: a certificate is due, because the authority suggests");
    awaitIssued("a.shop.example");
    Await.until(
        () -> !shown("a.shop.example").getSerialNumber().equals(first.getSerialNumber()),
        "another is served");
    assertThat(pebble.log()).contains("is a replacement of");
  }

  @Test
  void anOperatorTriesANameStepByStep() throws Exception {
    authority(Map.of(), "");
    configure("a.shop.example", "");
    run();
    awaitIssued("a.shop.example");
    X509Certificate first = shown("a.shop.example");
    try (KamilleProcess tries = KamilleProcess.start(state, "acme", "try", "a.shop.example")) {
      assertThat(tries.exitCode()).as("%s", tries.lines()).isZero();
      assertThat(tries.lines())
          .contains(
              "ordered from 127.0.0.1",
              "proving the name by tls-alpn-01",
              "proved; waiting for the certificate",
              "done: a certificate was issued and thrown away");
    }
    try (KamilleProcess tries = KamilleProcess.start(state, "acme", "try", "b.shop.example")) {
      assertThat(tries.exitCode()).isNotZero();
    }
    assertThat(shown("a.shop.example")).isEqualTo(first);
  }
}
