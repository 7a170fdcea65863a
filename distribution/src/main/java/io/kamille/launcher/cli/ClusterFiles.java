package io.kamille.launcher.cli;

import io.kamille.cluster.settings.ClusterSettings;
import io.kamille.core.setting.ConfigNode;
import io.kamille.core.setting.ConfigReader;
import io.kamille.core.setting.ConfigTree;
import io.kamille.core.setting.DurableFile;
import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Subsection;
import io.kamille.core.tls.ClusterAuthority;
import io.kamille.core.tls.PemFile;
import io.kamille.core.tls.ServerCertificate;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import tools.jackson.databind.json.JsonMapper;

/**
 * A directory with what the nodes of a cluster need: certificates of an authority for this cluster
 * alone, a secret, and the part of each configuration that is about the cluster.
 *
 * @param directory absolute
 * @param cluster its name
 */
record ClusterFiles(Path directory, String cluster) {

  private static final int SECRET_OCTETS = 32;
  private static final JsonMapper JSON = JsonMapper.builder().build();

  /**
   * A node to be.
   *
   * @param address of its control plane
   * @param peers where other nodes ask it for responses
   */
  record Node(String name, HostPort address, HostPort peers) {}

  /** The part of a configuration that is written here. */
  private record Part(ClusterSettings cluster) {

    static final Subsection<ClusterSettings> CLUSTER =
        ClusterSettings.SECTION.one("cluster", "As in the whole file.");
    static final Section<Part> SECTION = Section.of(Part.class, CLUSTER);
  }

  /**
   * Writes the files of these nodes, and those of the cluster if they are the first ones.
   *
   * @return who decides in the cluster
   * @throws IOException with a sentence; nothing is overwritten
   */
  List<String> write(List<Node> nodes, Instant now) throws IOException {
    Path authorityFile = file("ca.pem");
    Path authorityKey = file("authority.key");
    boolean isFirst = Files.notExists(authorityFile) && Files.notExists(authorityKey);
    List<Path> files = new ArrayList<>();
    for (Node node : nodes) {
      Stream.of(".pem", ".key", ".yaml").map(end -> file(node.name + end)).forEach(files::add);
    }
    if (isFirst) {
      files.addAll(List.of(authorityFile, authorityKey, file("cluster.secret")));
    }
    for (Path file : files) {
      if (Files.exists(file)) {
        throw new FileAlreadyExistsException(file + " is there already");
      }
    }
    if (new HashSet<>(files).size() < files.size()) {
      throw new IOException(
          "two nodes have one name, or a name is ca or authority (expected: other names)");
    }
    List<String> voters = nodes.stream().map(Node::name).limit((nodes.size() - 1) | 1).toList();
    Set<String> hosts = new LinkedHashSet<>();
    ServerCertificate authority;
    if (isFirst) {
      authority = ClusterAuthority.create(cluster, now);
      write(authorityKey, PemFile.text(List.of(authority.key())));
      write(authorityFile, PemFile.text(authority.chain()));
      byte[] secret = new byte[SECRET_OCTETS];
      new SecureRandom().nextBytes(secret);
      DurableFile.replace(file("cluster.secret"), secret);
    } else {
      authority = ServerCertificate.read(authorityFile, authorityKey);
      ClusterSettings before = before();
      voters = before.voters();
      hosts.addAll(before.discovery().hosts());
    }
    nodes.forEach(node -> hosts.add(node.address.toString()));
    for (Node node : nodes) {
      ServerCertificate own = ClusterAuthority.sign(authority, node.name, node.address.host(), now);
      write(file(node.name + ".key"), PemFile.text(List.of(own.key())));
      write(file(node.name + ".pem"), PemFile.text(own.chain()));
      write(file(node.name + ".yaml"), part(node, voters, hosts));
    }
    return voters;
  }

  /** What an earlier node has. */
  private ClusterSettings before() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".yaml")).sorted().toList()) {
        Problems problems = new Problems(file.toString());
        ConfigNode root = ConfigTree.parse(Files.readAllBytes(file), problems);
        if (root != null) {
          Part part = Part.SECTION.record(ConfigReader.read(root, Part.SECTION, problems));
          if (problems.isEmpty() && cluster.equals(part.cluster.name())) {
            return part.cluster;
          }
        }
      }
    }
    throw new IOException(directory + " has no NODE.yaml of a cluster " + cluster);
  }

  private String part(Node node, List<String> voters, Set<String> hosts) {
    return String.format(
        Locale.ROOT,
        """
        cluster:
          name: %s
          node: %s
          voters: %s
          address: %s
          discovery:
            hosts: %s
          tls:
            certificate: %s
            key: %s
            ca: %s
          secret-file: %s
          peers:
            address: %s
        """,
        Stream.of(
                cluster,
                node.name,
                voters,
                node.address.toString(),
                hosts,
                file(node.name + ".pem").toString(),
                file(node.name + ".key").toString(),
                file("ca.pem").toString(),
                file("cluster.secret").toString(),
                node.peers.toString())
            .map(JSON::writeValueAsString)
            .toArray());
  }

  /** A file in the directory. */
  Path file(String name) {
    return directory.resolve(name);
  }

  private static void write(Path file, String text) throws IOException {
    DurableFile.replace(file, text.getBytes(StandardCharsets.UTF_8));
  }
}
