package io.kamille.launcher.cli;

import io.kamille.core.Await;
import io.kamille.core.tls.Certificates;
import io.kamille.core.tls.ServerCertificate;
import io.kamille.launcher.appliance.TrustingAll;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.util.ArrayList;
import java.util.Locale;
import java.util.List;
import java.util.Map;
import org.shredzone.acme4j.Certificate;
import org.shredzone.acme4j.Session;
import org.shredzone.acme4j.connector.NetworkSettings;
import org.shredzone.acme4j.exception.AcmeException;
import org.shredzone.acme4j.provider.GenericAcmeProvider;

/**
 * Let's Encrypt's small authority for tests with its name server, in processes of their own. All
 * names lead to 127.0.0.1.
 */
final class Pebble implements AutoCloseable {

  private static final Path BINARIES = Path.of("target", "pebble").toAbsolutePath();

  /** Without waits, unless a test says otherwise. */
  static final Map<String, String> QUICK =
      Map.of("PEBBLE_VA_NOSLEEP", "1", "PEBBLE_WFE_NONCEREJECT", "0", "PEBBLE_AUTHZREUSE", "0");

  private final Path directory;
  private final List<Integer> ports;
  private final List<Process> processes = new ArrayList<>();

  private Pebble(Path directory, List<Integer> ports) {
    this.directory = directory;
    this.ports = ports;
  }

  /**
   * Starts both.
   *
   * @param settings more of its configuration, as members of an object
   */
  static Pebble start(Path directory, Map<String, String> environment, String settings)
      throws IOException, GeneralSecurityException {
    Pebble pebble = new Pebble(directory, freePorts(6));
    var signer = new Certificates("signer of Pebble");
    Certificates.write(signer.ecdsa("localhost", "127.0.0.1"), directory, "pebble");
    Certificates.writeAuthority(signer, pebble.authority());
    Path file = directory.resolve("pebble.json");
    Files.writeString(
        file,
        String.format(Locale.ROOT, """
        {"pebble":{"listenAddress":"127.0.0.1:%d","managementListenAddress":"127.0.0.1:%d",
        "certificate":"%s/pebble.pem","privateKey":"%s/pebble.key","httpPort":%d,"tlsPort":%d,
        "ocspResponderURL":"","profiles":{
        "default":{"description":"for all","validityPeriod":7776000},
        "shortlived":{"description":"for addresses","validityPeriod":518400}}%s}}
        """, 
                pebble.ports.get(0),
                pebble.ports.get(1),
                directory,
                directory,
                pebble.httpPort(),
                pebble.tlsPort(),
                settings));
    String names = "127.0.0.1:" + pebble.ports.get(4);
    try {
      pebble.run(
          Map.of(),
          List.of(
              BINARIES.resolve("pebble-challtestsrv").toString(),
              "-defaultIPv6=",
              "-http01=",
              "-https01=",
              "-tlsalpn01=",
              "-doh=",
              "-dnsserver=" + names,
              "-management=127.0.0.1:" + pebble.namesPort()));
      pebble.run(
          environment,
          List.of(
              BINARIES.resolve("pebble").toString(),
              "-strict",
              "-config=" + file,
              "-dnsserver=" + names));
      for (int port : List.of(0, 1, 4, 5)) {
        Await.until(() -> listens(pebble.ports.get(port)), "Pebble listens: " + pebble.log());
      }
      return pebble;
    } catch (IOException | RuntimeException | Error failed) {
      pebble.close();
      throw failed;
    }
  }

  private static List<Integer> freePorts(int count) throws IOException {
    List<ServerSocket> sockets = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        sockets.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
      }
      return sockets.stream().map(ServerSocket::getLocalPort).toList();
    } finally {
      for (ServerSocket socket : sockets) {
        socket.close();
      }
    }
  }

  private static boolean listens(int port) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (IOException refused) {
      return false;
    }
  }

  private void run(Map<String, String> environment, List<String> command) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(environment);
    builder.redirectOutput(directory.resolve("log" + processes.size()).toFile());
    processes.add(builder.start());
  }

  String url() {
    return "https://127.0.0.1:" + ports.get(0) + "/dir";
  }

  /** What it keeps below the store. */
  String host() {
    return "127.0.0.1_" + ports.get(0);
  }

  /** Who signs its own certificate. */
  Path authority() {
    return directory.resolve("authority.pem");
  }

  /** Where it asks for proofs by HTTP. */
  int httpPort() {
    return ports.get(2);
  }

  /** Where it asks for proofs by TLS. */
  int tlsPort() {
    return ports.get(3);
  }

  /** Where TXT records are set. */
  int namesPort() {
    return ports.get(5);
  }

  /** What Pebble has printed. */
  String log() {
    try {
      return Files.readString(directory.resolve("log1"));
    } catch (IOException none) {
      return "";
    }
  }

  /** Has it suggest that time for the renewal of a certificate. */
  void suggest(ServerCertificate certificate, String start, String end) throws Exception {
    String pem =
        Certificates.pem(certificate.chain().getFirst()).replace("\n", "\\n");
    String window =
        String.format(Locale.ROOT, "{\\\"suggestedWindow\\\":{\\\"start\\\":\\\"%s\\\",\\\"end\\\":\\\"%s\\\"}}", start, end);
    URI uri = URI.create("https://127.0.0.1:" + ports.get(1) + "/set-renewal-info/");
    String content = "{\"certificate\":\"" + pem + "\",\"ariResponse\":\"" + window + "\"}";
    try (HttpClient client = HttpClient.newBuilder().sslContext(TrustingAll.context()).build()) {
      int status =
          client
              .send(
                  HttpRequest.newBuilder(uri).POST(BodyPublishers.ofString(content)).build(),
                  BodyHandlers.discarding())
              .statusCode();
      if (status != 200) {
        throw new IOException("Pebble answers " + status);
      }
    }
  }

  /** Takes a certificate back. */
  void revoke(ServerCertificate certificate) throws AcmeException {
    var session = new Session(URI.create(url()), new Trusting());
    var leaf = certificate.chain().getFirst();
    Certificate.revoke(session, new KeyPair(leaf.getPublicKey(), certificate.key()), leaf, null);
  }

  private static final class Trusting extends GenericAcmeProvider {
    @Override
    public HttpClient createHttpClient(NetworkSettings settings) {
      return HttpClient.newBuilder().sslContext(TrustingAll.context()).build();
    }
  }

  @Override
  public void close() {
    processes.forEach(process -> process.destroyForcibly().onExit().join());
  }
}
