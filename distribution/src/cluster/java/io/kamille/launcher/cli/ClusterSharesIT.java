package io.kamille.launcher.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.setting.HostPort;
import io.kamille.launcher.acme.StubAuthority;
import io.kamille.launcher.appliance.TrustingAll;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three processes with a store each get one certificate: {@code ./dev test --cluster}. */
class ClusterSharesIT {

  private static final List<String> NAMES = List.of("a", "b", "c");
  private static final int PORTS = 5;

  @TempDir private Path directory;

  @Test
  void oneNodeOrdersAndEachAnswersTheAuthorityAndHasTheCertificate() throws Exception {
    List<KamilleProcess> processes = new ArrayList<>();
    List<HostPort> ports = freePorts(NAMES.size() * PORTS);
    try (StubAuthority stub = new StubAuthority()) {
      stub.validatingBy(
          (type, name, token, authorization) -> {
            for (int node = 0; node < NAMES.size(); node++) {
              int listener = PORTS * node + (type.equals("http-01") ? 2 : 3);
              if (!StubAuthority.asks(
                  address(ports.get(listener)), type, name, token, authorization)) {
                return false;
              }
            }
            return true;
          });
      List<ClusterFiles.Node> members = new ArrayList<>();
      for (int i = 0; i < NAMES.size(); i++) {
        members.add(
            new ClusterFiles.Node(NAMES.get(i), ports.get(PORTS * i), ports.get(PORTS * i + 1)));
      }
      ClusterFiles files = new ClusterFiles(directory, "shop");
      files.write(members, Instant.now());
      Path authority = stub.authority(directory.resolve("stub.pem"));
      for (int i = 0; i < NAMES.size(); i++) {
        Path state = Files.createDirectories(directory.resolve("state-" + NAMES.get(i)));
        Path file =
            Files.writeString(
                state.resolve("kamille.yaml"),
                "listeners: ['"
                    + ports.get(PORTS * i + 2)
                    + "', {address: '"
                    + ports.get(PORTS * i + 3)
                    + "', tls: {source: acme, names: [a.test]}}]\n"
                    + "upstreams: {site: {origins: ['http://127.0.0.1:9']}}\n"
                    + "routes: [{upstream: site}]\n"
                    + "admin: {address: '"
                    + ports.get(PORTS * i + 4)
                    + "'}\n"
                    + "acme: {terms-agreed: on, directory: '"
                    + stub.directory()
                    + "', authority: '"
                    + authority
                    + "'}\n"
                    + Files.readString(files.file(NAMES.get(i) + ".yaml"))
                    + "  config: local\n");
        processes.add(
            KamilleProcess.start(
                List.of("-Djdk.serialFilter=!*"), state, "run", "--config", file.toString()));
      }
      for (int i = 0; i < NAMES.size(); i++) {
        HostPort tls = ports.get(PORTS * i + 3);
        Await.until(() -> isIssued(tls), "node " + i + " has the certificate");
      }
      assertThat(stub.orders("a.test")).hasSize(1);
      assertThat(stub.proved()).containsExactly("tls-alpn-01 a.test");
    } finally {
      processes.forEach(KamilleProcess::close);
    }
  }

  private static InetSocketAddress address(HostPort port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port.port());
  }

  private static boolean isIssued(HostPort at) {
    try (var socket = (SSLSocket) TrustingAll.context().getSocketFactory().createSocket()) {
      SSLParameters parameters = socket.getSSLParameters();
      parameters.setServerNames(List.of(new SNIHostName("a.test")));
      socket.setSSLParameters(parameters);
      socket.connect(address(at));
      socket.startHandshake();
      X509Certificate shown = (X509Certificate) socket.getSession().getPeerCertificates()[0];
      return shown.getIssuerX500Principal().getName().equals("CN=Stub Issuer");
    } catch (IOException notYet) {
      return false;
    }
  }

  private static List<HostPort> freePorts(int count) throws IOException {
    List<ServerSocket> held = new ArrayList<>();
    List<HostPort> ports = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      held.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
      ports.add(new HostPort("127.0.0.1", held.getLast().getLocalPort()));
    }
    for (ServerSocket socket : held) {
      socket.close();
    }
    return ports;
  }
}
