package io.kamille.launcher.cli;

import io.kamille.core.setting.HostPort;
import io.kamille.launcher.demo.DemoFile;
import io.netty.util.NetUtil;
import java.io.File;
import java.io.IOException;
import java.net.BindException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The nodes of a cluster on this machine, each a process of its own. One thread. */
final class ClusterDemo implements AutoCloseable {

  // Of the first node; each next one has the next.
  private static final int SITE_PORT = 8081;
  private static final int ADMIN_PORT = 9091;
  private static final int CONTROL_PORT = 7801;
  private static final int PEER_PORT = 7811;

  private static final int POLL_MILLIS = 200;
  private static final int ANSWER_MILLIS = 1_000;
  private static final int ANSWER_BYTES = 1 << 20;
  private static final int END_SECONDS = 10;
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final Path kamille;
  private final Path directory;
  private final Consumer<String> lines;
  private final List<Node> nodes = new ArrayList<>();
  private final Set<String> ended = new HashSet<>();

  /**
   * A node that was started.
   *
   * @param site where clients come
   * @param state its state directory
   */
  record Node(String name, HostPort site, HostPort admin, Path state, Process process) {}

  /**
   * Starts nothing yet.
   *
   * @param kamille starts a node
   * @param directory of all files; it is deleted at the end, unless a node has ended before
   * @param lines what is told
   */
  ClusterDemo(Path kamille, Path directory, Consumer<String> lines) {
    this.kamille = kamille;
    this.directory = directory.toAbsolutePath();
    this.lines = lines;
  }

  List<Node> nodes() {
    return nodes;
  }

  /** Starts so many nodes before an origin. */
  void start(int count, String origin) throws IOException {
    List<HostPort> sites = new ArrayList<>();
    List<HostPort> admins = new ArrayList<>();
    List<ClusterFiles.Node> members = new ArrayList<>();
    List<ServerSocket> held = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        sites.add(claim(SITE_PORT + i, held));
        admins.add(claim(ADMIN_PORT + i, held));
        members.add(
            new ClusterFiles.Node(
                Character.toString('a' + i),
                claim(CONTROL_PORT + i, held),
                claim(PEER_PORT + i, held)));
      }
    } finally {
      for (ServerSocket socket : held) {
        socket.close();
      }
    }
    ClusterFiles files = new ClusterFiles(directory, "shop");
    files.write(members, Instant.now());
    for (int i = 0; i < count; i++) {
      String name = members.get(i).name();
      Path state = directory.resolve(name);
      String cluster = Files.readString(files.file(name + ".yaml"));
      Path file =
          DemoFile.write(
              state, sites.get(i).toString(), null, origin, admins.get(i).toString(), cluster);
      ProcessBuilder builder =
          new ProcessBuilder(kamille.toString(), "run", "--config", file.toString())
              .redirectErrorStream(true)
              .redirectOutput(log(state));
      builder.environment().put("STATE_DIRECTORY", state.toString());
      builder.environment().put("RUNTIME_DIRECTORY", state.toString());
      nodes.add(new Node(name, sites.get(i), admins.get(i), state, builder.start()));
    }
  }

  /** The usual port, or a free one if that is taken. */
  private static HostPort claim(int port, List<ServerSocket> held) throws IOException {
    InetAddress loopback = InetAddress.getLoopbackAddress();
    ServerSocket socket;
    try {
      socket = new ServerSocket(port, 1, loopback);
    } catch (BindException taken) {
      socket = new ServerSocket(0, 1, loopback);
    }
    held.add(socket);
    return new HostPort(NetUtil.toAddressString(loopback), socket.getLocalPort());
  }

  private static File log(Path state) {
    return state.resolve("log").toFile();
  }

  /**
   * Tells where the nodes are once they are a cluster, and which of them end, until told to stop.
   *
   * @throws CommandFailure if one ends before
   */
  void watch(CountDownLatch toldToStop) throws CommandFailure, InterruptedException {
    boolean isWhole = false;
    while (!toldToStop.await(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
      for (Node node : nodes) {
        if (!node.process.isAlive() && ended.add(node.name)) {
          lines.accept(
              "node "
                  + node.name
                  + " ended with status "
                  + node.process.exitValue()
                  + "; see "
                  + log(node.state));
        }
      }
      if (isWhole) {
        continue;
      }
      if (!ended.isEmpty()) {
        throw new CommandFailure(ExitCode.UNAVAILABLE, "a node ended before there was a cluster");
      }
      isWhole = nodes.stream().allMatch(this::seesAll);
      if (isWhole) {
        nodes.forEach(node -> lines.accept(line(node)));
      }
    }
  }

  private static String line(Node node) {
    return "node "
        + node.name
        + "  site http://"
        + node.site
        + "/  admin http://"
        + node.admin
        + "/  state "
        + node.state;
  }

  /** Whether all are members with a leader, as this node sees it. */
  private boolean seesAll(Node node) {
    try {
      var connection =
          (HttpURLConnection)
              URI.create("http://" + node.admin + "/v1/cluster").toURL().openConnection();
      connection.setConnectTimeout(ANSWER_MILLIS);
      connection.setReadTimeout(ANSWER_MILLIS);
      String token = Files.readString(node.state.resolve("admin-token")).strip();
      connection.setRequestProperty("Authorization", "Bearer " + token);
      try (var in = connection.getInputStream()) {
        JsonNode cluster = JSON.readTree(in.readNBytes(ANSWER_BYTES));
        Set<String> members = new HashSet<>();
        for (JsonNode member : cluster.path("members").values()) {
          if (member.path("state").stringValue("").equals("member")) {
            members.add(member.path("node").stringValue(""));
          }
        }
        return !cluster.path("leader").stringValue("").isEmpty()
            && nodes.stream().allMatch(each -> members.contains(each.name));
      }
    } catch (IOException | JacksonException notYet) {
      return false;
    }
  }

  /** Ends all nodes. */
  @Override
  public void close() throws IOException {
    nodes.forEach(node -> node.process.destroy());
    for (Node node : nodes) {
      Process process = node.process;
      process.onExit().completeOnTimeout(process, END_SECONDS, TimeUnit.SECONDS).join();
      process.destroyForcibly().onExit().join();
    }
    if (ended.isEmpty()) {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }
}
