package io.kamille.perf.lab;

import io.kamille.launcher.service.Upgrade;
import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Child;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.peer.ControlPlane;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Three nodes on this machine, each a process of its own, and what they are asked and told. The
 * bench ends them. One thread.
 *
 * @param peerPort where nodes answer one another, each on a loopback address of its own
 */
record ClusterNodes(Workbench bench, List<Node> nodes, int peerPort) {

  /*
   * Sites and admin ports are on 127.0.0.1. The nodes reach one another at 127.0.0.1 to 127.0.0.3,
   * so that the files of `kamille cluster init` serve as they are.
   */
  private static final List<String> NAMES = List.of("a", "b", "c");
  private static final int CONNECTIONS = 1000;
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Duration LOOK = Duration.ofMillis(20);
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final String CACHE =
      """
        memory:
          capacity: 256MiB
        purge-from: ['127.0.0.1']
      """;

  /** A Kamille. */
  static final class Node {

    private final String name;
    private final int port;
    private final ControlPlane control;
    private final Core core;
    private final List<String> command;
    private Child process;

    // Volatile: callers' threads read it, and at worst several of them read the file.
    private volatile String token = "";

    private int starts;

    private Node(
        String name,
        int port,
        ControlPlane control,
        Core core,
        List<String> command,
        Child process) {
      this.name = name;
      this.port = port;
      this.control = control;
      this.core = core;
      this.command = command;
      this.process = process;
    }

    String name() {
      return name;
    }

    /** Where clients come. */
    int port() {
      return port;
    }

    ControlPlane control() {
      return control;
    }

    Child process() {
      return process;
    }

    String token() throws IOException {
      if (token.isEmpty()) {
        token = Files.readString(control.directory().resolve("token")).strip();
      }
      return token;
    }

    /** What it knows of its cluster. */
    JsonNode view() throws IOException {
      return JSON.readTree(control.get("/v1/cluster"));
    }

    /** Whether it has missed no purge up to that one, and says that all of them are members. */
    private boolean isWhole(int nodes, long applied) {
      try {
        JsonNode view = view();
        long members = view.path("members").valueStream().filter(Node::isMember).count();
        return members == nodes
            && !leader(view).isEmpty()
            && view.path("current").booleanValue(false)
            && view.path("applied").longValue(0) >= applied;
      } catch (IOException notYet) {
        return false;
      }
    }

    private static boolean isMember(JsonNode member) {
      return member.path("state").stringValue("").equals("member");
    }
  }

  private static String leader(JsonNode view) {
    return view.path("leader").stringValue("");
  }

  /**
   * Starts them before that origin, and waits until they are a cluster.
   *
   * @param core of the nodes
   * @param peers the last lines of the section {@code cluster.peers}
   */
  static ClusterNodes start(Workbench bench, String name, Core core, int originPort, String peers)
      throws IOException, InterruptedException {
    Path files = bench.directory(name);
    int peerPort = Workbench.freePort();
    List<String> init =
        new ArrayList<>(
            List.of(
                Checkout.find().kamille().toString(),
                "cluster",
                "init",
                "--name=lab",
                "--directory=" + files,
                "--port=" + Workbench.freePort(),
                "--peer-port=" + peerPort));
    IntStream.range(0, NAMES.size()).forEach(i -> init.add(NAMES.get(i) + "=" + host(i)));
    bench.run(Core.OTHERS, init);
    List<Node> nodes = new ArrayList<>();
    for (String node : NAMES) {
      String part =
          Files.readString(files.resolve(node + ".yaml"))
              .replace("  peers:\n", "  config: local\n  peers:\n");
      Path directory = files.resolve("node-" + node);
      nodes.add(start(bench, directory, core, originPort, node, part + peers));
    }
    var cluster = new ClusterNodes(bench, nodes, peerPort);
    cluster.awaitWhole();
    return cluster;
  }

  private static String host(int node) {
    return "127.0.0." + (node + 1);
  }

  /** A Kamille that is in no cluster, before that origin. */
  static Node single(Workbench bench, Core core, int originPort) throws IOException {
    Node single = start(bench, bench.directory("single"), core, originPort, "single", "");
    single.process.awaitListening(single.port, LIMIT);
    return single;
  }

  private static Node start(
      Workbench bench, Path directory, Core core, int originPort, String name, String cluster)
      throws IOException {
    Files.createDirectories(directory);
    int port = Workbench.freePort();
    var control = new ControlPlane(Workbench.freePort(), directory, Duration.ofSeconds(10));
    List<String> command = new ArrayList<>(List.of("env", "RUNTIME_DIRECTORY=" + directory));
    command.addAll(
        Kamille.of(Checkout.find())
            .withCache(CACHE)
            .withMetrics(control.port())
            .with(cluster)
            .prepare(directory, new Place(Job.MIX, port, originPort, CONNECTIONS)));
    String log = "node-" + name + "-" + port;
    return new Node(name, port, control, core, command, bench.start(log, core, command));
  }

  List<Integer> ports() {
    return nodes.stream().map(Node::port).toList();
  }

  /** Waits until all are members of one cluster. */
  void awaitWhole() throws IOException {
    for (Node node : nodes) {
      await(node, 0);
    }
  }

  /** Waits until a node sees all as members, and has applied the purges up to that one. */
  void await(Node node, long applied) throws IOException {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    while (!node.isWhole(nodes.size(), applied)) {
      if (System.nanoTime() - deadline > 0) {
        throw new IOException("node " + node.name + " is in no whole cluster after " + LIMIT);
      }
      LockSupport.parkNanos(LOOK.toNanos());
    }
  }

  Node leader() throws IOException {
    String leader = leader(nodes.getFirst().view());
    return nodes.stream()
        .filter(node -> node.name.equals(leader))
        .findFirst()
        .orElseThrow(() -> new IOException("the cluster has no leader"));
  }

  List<Node> without(Node node) {
    return nodes.stream().filter(each -> each != node).toList();
  }

  /** Whether nodes answer one another at their peer ports. */
  boolean hasPeers() {
    return IntStream.range(0, nodes.size())
        .allMatch(i -> Child.isListening(new InetSocketAddress(host(i), peerPort)));
  }

  /** Sends a signal, such as KILL. */
  void signal(Node node, String signal) throws IOException, InterruptedException {
    bench.run(Core.OTHERS, List.of("sh", "-c", "kill -" + signal + " " + node.process.pid()));
  }

  /** Starts a node again that has ended, with all that it has kept. */
  void restart(Node node) throws IOException {
    String log = node.name + "-again-" + ++node.starts;
    node.process = bench.start(log, node.core, node.command);
  }

  /** Replaces the process of a node as {@code kamille upgrade} does. Its process is lost here. */
  void upgrade(Node node) throws IOException {
    long next = Upgrade.order(node.control.directory().resolve("control"));
    bench.undo(() -> ProcessHandle.of(next).ifPresent(ProcessHandle::destroy));
  }
}
