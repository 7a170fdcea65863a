package io.kamille.launcher.cli;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.sun.net.httpserver.HttpServer;
import io.kamille.core.Await;
import io.kamille.core.setting.HostPort;
import io.kamille.launcher.demo.DemoFile;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three processes, each in a network namespace of its own, whose network falls into two parts:
 * {@code ./dev test --cluster}. Skipped where this user may not make namespaces.
 */
@SuppressWarnings("NullAway.Init") // each test starts all
class ClusterPartitionIT {

  /*
   *   namespaces   a ── b ── c   10.N.0.1 to 10.N.0.3, by a bridge
   *   here         the origin    10.N.0.254, the bridge
   */
  private static final List<String> NAMES = List.of("a", "b", "c");
  private static final int NETWORKS = 200;

  @TempDir private Path directory;

  private final long process = ProcessHandle.current().pid() % 100_000;
  private final String network = "10." + (1 + process % NETWORKS) + ".0.";
  private final String bridge = "kmb" + process;
  private final Map<String, KamilleProcess> nodes = new TreeMap<>();
  private final AtomicLong made = new AtomicLong();
  private HttpServer origin;

  private static String run(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), US_ASCII);
    assertThat(process.waitFor()).as("%s: %s", String.join(" ", command), output).isZero();
    return output;
  }

  private static boolean canRun(String... command) throws InterruptedException {
    try {
      return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor() == 0;
    } catch (IOException none) {
      return false;
    }
  }

  private String space(String node) {
    return "km" + process + node;
  }

  private String wire(String node) {
    return "kmv" + process + node;
  }

  @BeforeEach
  void start() throws Exception {
    assumeThat(canRun("ip", "link", "add", bridge, "type", "bridge"))
        .as("whether this user may make networks")
        .isTrue();
    run("ip", "addr", "add", network + "254/24", "dev", bridge);
    run("ip", "link", "set", bridge, "up");
    List<ClusterFiles.Node> members = new ArrayList<>();
    for (int i = 0; i < NAMES.size(); i++) {
      String name = NAMES.get(i);
      String address = network + (i + 1);
      String space = space(name);
      run("ip", "netns", "add", space);
      run("ip", "link", "add", wire(name), "type", "veth", "peer", "name", "eth0", "netns", space);
      run("ip", "link", "set", wire(name), "master", bridge, "up");
      run("ip", "-n", space, "addr", "add", address + "/24", "dev", "eth0");
      run("ip", "-n", space, "link", "set", "eth0", "up");
      run("ip", "-n", space, "link", "set", "lo", "up");
      members.add(
          new ClusterFiles.Node(
              name, new HostPort(address, 7_800), new HostPort(address, 7_801)));
    }
    origin = HttpServer.create(new InetSocketAddress(network + "254", 0), 100);
    origin.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    origin.createContext(
        "/",
        exchange -> {
          byte[] number = Long.toString(made.incrementAndGet()).getBytes(US_ASCII);
          exchange.getResponseHeaders().add("Cache-Control", "max-age=3600");
          exchange.sendResponseHeaders(200, number.length);
          exchange.getResponseBody().write(number);
          exchange.close();
        });
    origin.start();
    ClusterFiles files = new ClusterFiles(directory, "shop");
    files.write(members, Instant.now());
    for (String name : NAMES) {
      Path state = Files.createDirectories(state(name));
      DemoFile.write(
          state,
          "127.0.0.1:8080",
          null,
          "http://" + network + "254:" + origin.getAddress().getPort(),
          "127.0.0.1:9090",
          Files.readString(files.file(name + ".yaml")) + "  lease: 5s\n");
      nodes.put(
          name,
          KamilleProcess.within(
              space(name),
              List.of("-Djdk.serialFilter=!*"),
              state,
              "run",
              "--config",
              state.resolve("kamille.yaml").toString()));
    }
    Await.until(() -> NAMES.stream().allMatch(this::isWhole), "all are current");
  }

  @AfterEach
  void stop() throws Exception {
    nodes.values().forEach(KamilleProcess::close);
    if (origin != null) {
      origin.stop(0);
    }
    for (String name : NAMES) {
      canRun("ip", "netns", "del", space(name));
      canRun("ip", "link", "del", wire(name));
    }
    canRun("ip", "link", "del", bridge);
  }

  private Path state(String node) {
    return directory.resolve("state-" + node);
  }

  /** What a client at that node gets, and its status in the last line; empty if nothing. */
  private String ask(String node, String... request) {
    try {
      List<String> command =
          new ArrayList<>(List.of("ip", "netns", "exec", space(node), "curl", "-s", "-m", "12"));
      command.addAll(List.of("-w", "\n%{http_code}"));
      command.addAll(List.of(request));
      Process process = new ProcessBuilder(command).start();
      return new String(process.getInputStream().readAllBytes(), US_ASCII);
    } catch (IOException gone) {
      return "";
    }
  }

  /** The number of the response; 0 if there is none. */
  private long page(String node) {
    String answer = ask(node, "-H", "Host: a.test", "http://127.0.0.1:8080/page");
    return answer.endsWith("\n200") ? Long.parseLong(answer.lines().findFirst().orElseThrow()) : 0;
  }

  private String admin(String node, String path, String... more) {
    try {
      String token = Files.readString(state(node).resolve("admin-token")).strip();
      List<String> request = new ArrayList<>(List.of("-H", "Authorization: Bearer " + token));
      request.add("http://127.0.0.1:9090" + path);
      request.addAll(List.of(more));
      return ask(node, request.toArray(String[]::new));
    } catch (IOException notYet) {
      return "";
    }
  }

  private String purge(String node) {
    return admin(
        node,
        "/v1/cache/purges",
        "-H",
        "Content-Type: application/json",
        "-d",
        "{\"url\":\"http://a.test/page\"}");
  }

  private boolean isCurrent(String node) {
    return admin(node, "/v1/cluster").contains("\"current\":true,\"applied\"");
  }

  private boolean isWhole(String node) {
    String answer = admin(node, "/v1/cluster");
    return isCurrent(node) && answer.contains("\"quorum\":true") && !answer.contains("away");
  }

  @Test
  void thePartWithoutAMajorityServesNothingThatWasPurged() throws Exception {
    NAMES.forEach(name -> assertThat(page(name)).isPositive());
    long first = made.get();
    assertThat(purge("b")).endsWith("\n200");
    NAMES.forEach(name -> assertThat(page(name)).isGreaterThan(first));

    long second = made.get();
    run("ip", "link", "set", wire("c"), "down");
    Await.until(() -> purge("a").endsWith("\n202"), "the larger part has a purge in its log");
    Await.until(() -> !isCurrent("c"), "c is cut off");
    assertThat(page("c")).as("no origin is there").isZero();
    assertThat(page("a")).isGreaterThan(second);
    assertThat(page("b")).isGreaterThan(second);
    long third = made.get();
    assertThat(purge("c")).endsWith("\n503");
    assertThat(isCurrent("a")).isTrue();

    run("ip", "link", "set", wire("c"), "up");
    Await.until(() -> NAMES.stream().allMatch(this::isWhole), "all are current");
    Await.until(
        () -> NAMES.stream().allMatch(name -> page(name) > third),
        "what c could not is done at all");
  }
}
