package io.kamille.cluster.engine;

import io.kamille.cluster.ClusterSettings;
import io.kamille.cluster.ClusterSettings.ConfigChoice;
import io.kamille.cluster.ClusterSettings.Discovery;
import io.kamille.cluster.ClusterSettings.Files;
import io.kamille.cluster.ClusterSettings.WhenCutOff;
import io.kamille.cluster.PeerSettings;
import io.kamille.cluster.PeerSettings.Copies;
import io.kamille.core.setting.HostPort;
import io.kamille.core.tls.Certificates;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
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
  private final Map<String, Integer> ports = new LinkedHashMap<>();

  public ThreeNodes(Path directory) throws IOException, GeneralSecurityException {
    this.directory = directory;
    Certificates authority = new Certificates("cluster");
    Certificates.writeAuthority(authority, directory.resolve("ca.pem"));
    for (String node : List.of("a", "b", "c")) {
      Certificates.write(authority.ecdsa(node), directory, node);
      try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        ports.put(node, free.getLocalPort());
      }
    }
  }

  public List<InetSocketAddress> hosts() {
    return ports.values().stream()
        .map(port -> new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
        .toList();
  }

  public Path stateOf(String node) {
    return directory.resolve("state-" + node);
  }

  public ClusterSettings settings(String node) {
    return settings(node, node, directory.resolve("ca.pem"));
  }

  /** As that node, with another certificate. */
  public ClusterSettings settings(String node, String certificate, Path authority) {
    return new ClusterSettings(
        "shop",
        node,
        List.of("a", "b", "c"),
        new HostPort("127.0.0.1", ports.getOrDefault(node, 0)),
        new Discovery(List.of(), null, null),
        new Files(
            directory.resolve(certificate + ".pem"),
            directory.resolve(certificate + ".key"),
            authority),
        null,
        ConfigChoice.SHARED,
        Duration.ofSeconds(5),
        WhenCutOff.REVALIDATE,
        Duration.ofSeconds(10),
        Duration.ofSeconds(2),
        new PeerSettings(null, Copies.HOT, Duration.ofMinutes(5), Duration.ofMillis(100)));
  }
}
