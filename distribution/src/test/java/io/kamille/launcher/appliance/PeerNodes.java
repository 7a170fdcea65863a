package io.kamille.launcher.appliance;

import static java.util.Objects.requireNonNull;

import io.kamille.cluster.peer.PeerNode;
import io.kamille.cluster.peer.PeerView;
import io.kamille.cluster.peer.Peers;
import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.http.RequestHead;
import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Sections;
import io.kamille.core.tls.Certificates;
import io.kamille.launcher.configuration.Configuration;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Appliances that are the nodes {@code a}, {@code b} and so on of one cluster, before one origin.
 * What the engine would say of members and purges is written by the test.
 */
final class PeerNodes implements BeforeEachCallback, AfterEachCallback {

  private static final long LONG_AGO = Duration.ofDays(1).toNanos();

  /** One node. */
  static final class Node implements PeerView {

    final String name;
    final Appliance appliance;
    volatile LongSupplier applied = () -> 0;
    volatile LongSupplier begun = () -> applied();
    volatile boolean isCurrent = true;

    private Node(String name, Appliance appliance) {
      this.name = name;
      this.appliance = appliance;
      peers().follow(this);
    }

    Peers peers() {
      return appliance.peers().orElseThrow();
    }

    InetSocketAddress peerAddress() {
      return Journey.address(appliance.peersListening().orElseThrow());
    }

    TestClient client() {
      return TestClient.connect(Journey.address(appliance.listening().getFirst()));
    }

    Answer get(String target, String... lines) {
      try (TestClient client = client()) {
        return client.get(target, lines).answer();
      }
    }

    /** The member of {@code Cache-Status} that this node wrote, of a response to that request. */
    String status(String target, String... lines) {
      String members = joined(get(target, lines), "Cache-Status");
      return Arrays.stream(members.split(", ", -1))
          .filter(member -> member.startsWith("kamille-" + name + ";"))
          .findFirst()
          .orElseThrow(() -> new AssertionError(members));
    }

    /** As the cluster's purge does it: first the table, then the number. */
    void purge(String target, long number) {
      appliance.routes().cache().purge("http://a" + target);
      applied = () -> number;
    }

    /** As a member that is here, for so long already. */
    PeerNode member(long sinceNanos, boolean isDraining) {
      InetSocketAddress address = peerAddress();
      HostPort port = new HostPort(address.getHostString(), address.getPort());
      return new PeerNode(name, port, sinceNanos, isDraining);
    }

    PeerNode member() {
      return member(System.nanoTime() - LONG_AGO, false);
    }

    @Override
    public long applied() {
      return applied.getAsLong();
    }

    @Override
    public long begun() {
      return begun.getAsLong();
    }

    @Override
    public boolean isCurrent() {
      return isCurrent;
    }
  }

  final List<Node> nodes = new ArrayList<>();
  private @Nullable Path directory;
  private @Nullable StubOrigin origin;
  private @Nullable Certificates authority;
  private String[] sections = {};
  private Duration patience = Duration.ofSeconds(10);

  @Override
  public void beforeEach(ExtensionContext context) throws Exception {
    origin = StubOrigin.open();
    directory = Files.createTempDirectory("kamille-peers");
    authority = new Certificates("cluster");
    Certificates.writeAuthority(authority, file("ca.pem"));
    Files.writeString(file("secret"), "0123456789abcdef0123456789abcdef");
  }

  StubOrigin origin() {
    return requireNonNull(origin);
  }

  Certificates authority() {
    return requireNonNull(authority);
  }

  Path file(String name) {
    return requireNonNull(directory).resolve(name);
  }

  /** More of the configuration of each node. */
  PeerNodes with(String... lines) {
    sections = lines;
    return this;
  }

  /** How long each waits for a connection to another one. */
  PeerNodes waiting(Duration patience) {
    this.patience = patience;
    return this;
  }

  /** Starts so many nodes, which know one another. */
  PeerNodes start(int count, String peers) throws Exception {
    Machine here = Machine.HERE;
    Machine machine =
        new Machine(here.disk(), here.names(), here.shedding(), here.network(), false);
    for (int i = 0; i < count; i++) {
      String name = String.valueOf((char) ('a' + i));
      Certificates.write(authority().ecdsa(name), requireNonNull(directory), name);
      Map<String, String> lines = new LinkedHashMap<>();
      put(
          lines,
          "listeners: ['127.0.0.1:0']",
          "loops: 2",
          "upstreams: {site: {origins: ['" + origin().url() + "']}}",
          "routes: [{upstream: site}]",
          "cache: {memory: {capacity: 64MiB}}",
          "log: {level: error}",
          "admin: {address: '127.0.0.1:0', token-file: '"
              + file(name + "-state").resolve("token")
              + "'}",
          cluster(name, peers));
      put(lines, sections);
      Configuration configuration =
          Sections.copy(Journey.configuration(lines.values()))
              .with("cluster.peers.connectTimeout", patience)
              .record();
      nodes.add(new Node(name, Journey.start(configuration, machine)));
    }
    know(nodes.stream().map(Node::member).toList());
    return this;
  }

  private static void put(Map<String, String> lines, String... more) {
    for (String line : more) {
      lines.put(line.substring(0, line.indexOf(':')), line);
    }
  }

  private String cluster(String name, String peers) {
    return "cluster: {config: local, name: shop, node: "
        + name
        + ", voters: [a], address: '127.0.0.1:7800', discovery: {hosts: ['127.0.0.1:7800']},"
        + " secret-file: '"
        + file("secret")
        + "', tls: {certificate: '"
        + file(name + ".pem")
        + "', key: '"
        + file(name + ".key")
        + "', ca: '"
        + file("ca.pem")
        + "'}, peers: {address: '127.0.0.1:0'"
        + peers
        + "}}";
  }

  /** All nodes are told that these are the members. */
  void know(List<PeerNode> members) throws IOException {
    for (Node node : nodes) {
      node.peers().nodes(members);
    }
  }

  Node node(String name) {
    return nodes.get(name.charAt(0) - 'a');
  }

  /** A path that this node owns, of those that begin like that. */
  String ownedBy(String name, String begin) {
    Peers peers = nodes.getFirst().peers();
    return IntStream.range(0, 1_000)
        .mapToObj(i -> begin + i)
        .filter(path -> owner(peers, path).equals(name))
        .findFirst()
        .orElseThrow();
  }

  static String joined(Answer answer, String name) {
    String begin = name.toLowerCase(Locale.ROOT) + ": ";
    return answer.lines().stream()
        .filter(line -> line.toLowerCase(Locale.ROOT).startsWith(begin))
        .map(line -> line.substring(begin.length()))
        .collect(Collectors.joining(", "));
  }

  static String owner(Peers peers, String path) {
    return requireNonNull(peers.ownership(RequestHead.of("GET", "http://a" + path))).owner();
  }

  @Override
  public void afterEach(ExtensionContext context) throws IOException {
    for (Node node : nodes) {
      Await.until(() -> node.appliance.totals().connections() == 0, "clients have gone");
    }
    origin().close();
    for (Node node : nodes) {
      var cache = node.appliance.routes().cache();
      Await.until(
          () -> {
            cache.purges().clear();
            return cache.usedBytes() == 0 && cache.inFlight() == 0;
          },
          "no lease is left on the cache's memory");
      node.appliance.close();
    }
    try (Stream<Path> files = Files.walk(requireNonNull(directory))) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
