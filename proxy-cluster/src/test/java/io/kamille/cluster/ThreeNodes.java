package io.kamille.cluster;

import io.kamille.cluster.settings.ClusterSettings;
import io.kamille.cluster.settings.ClusterSettings.Discovery;
import io.kamille.core.setting.Sections;
import io.kamille.core.tls.Certificates;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Settings of three nodes on loopback, with their certificates. */
public final class ThreeNodes {

  private final Path directory;
  private final Certificates authority;
  private final Map<String, Integer> ports = new LinkedHashMap<>();

  public ThreeNodes(Path directory) throws IOException, GeneralSecurityException {
    this.directory = directory;
    authority = new Certificates("cluster");
    Certificates.writeAuthority(authority, directory.resolve("ca.pem"));
    java.nio.file.Files.writeString(directory.resolve("secret"), "s".repeat(32));
    for (String node : List.of("a", "b", "c")) {
      Certificates.write(authority.ecdsa(node), directory, node);
      try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        ports.put(node, free.getLocalPort());
      }
    }
  }

  public int port(String node) {
    return ports.getOrDefault(node, 0);
  }

  public Certificates authority() {
    return authority;
  }

  public Path stateOf(String node) {
    return directory.resolve("state-" + node);
  }

  public ClusterSettings settings(String node) {
    return settings(node, node, directory.resolve("ca.pem"));
  }

  /** As that node, at another port, with other discovery. */
  public ClusterSettings settings(String node, int port, Discovery discovery) {
    return settings(node, node, directory.resolve("ca.pem"), port, discovery);
  }

  /** As that node, with another certificate. */
  public ClusterSettings settings(String node, String certificate, Path authority) {
    return settings(node, certificate, authority, port(node), hosts());
  }

  public Discovery hosts() {
    return new Discovery(ports.values().stream().map(port -> "127.0.0.1:" + port).toList(), null);
  }

  private ClusterSettings settings(
      String node, String certificate, Path authority, int port, Discovery discovery) {
    return Sections.copy(
            Sections.of(
                ClusterSettings.SECTION,
                """
                name: shop
                node: %1$s
                voters: [a, b, c]
                address: 127.0.0.1:%2$d
                tls: {certificate: %3$s/%4$s.pem, key: %3$s/%4$s.key, ca: %5$s}
                secret-file: %3$s/secret
                lease: 5s
                """,
                node,
                port,
                directory,
                certificate,
                authority))
        .with("discovery", discovery)
        .with("startWait", Duration.ofSeconds(3))
        .record();
  }
}
