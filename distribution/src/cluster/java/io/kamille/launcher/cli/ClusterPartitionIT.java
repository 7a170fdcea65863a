package io.kamille.launcher.cli;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

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

  private static final List<String> NAMES = List.of("a", "b", "c");

  @TempDir private Path directory;

  private final Map<String, KamilleProcess> nodes = new TreeMap<>();
  private final AtomicLong made = new AtomicLong();
  private ClusterNetwork network;
  private HttpServer origin;

  @BeforeEach
  void start() throws Exception {
    network = new ClusterNetwork(NAMES, 1);
    List<ClusterFiles.Node> members = new ArrayList<>();
    for (String name : NAMES) {
      String address = network.address(name, 0);
      members.add(
          new ClusterFiles.Node(name, new HostPort(address, 7_800), new HostPort(address, 7_801)));
    }
    origin = HttpServer.create(new InetSocketAddress(network.here(), 0), 100);
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
          "http://" + network.here() + ":" + origin.getAddress().getPort(),
          "127.0.0.1:9090",
          Files.readString(files.file(name + ".yaml")) + "  lease: 5s\n");
      nodes.put(
          name,
          KamilleProcess.within(
              network.space(name),
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
    network.close();
  }

  private Path state(String node) {
    return directory.resolve("state-" + node);
  }

  /** What a client at that node gets, and its status in the last line; empty if nothing. */
  private String ask(String node, String... request) {
    try {
      List<String> command =
          new ArrayList<>(
              List.of("ip", "netns", "exec", network.space(node), "curl", "-s", "-m", "12"));
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
    network.cut("c", 0, true);
    Await.until(() -> purge("a").endsWith("\n202"), "the larger part has a purge in its log");
    Await.until(() -> !isCurrent("c"), "c is cut off");
    assertThat(page("c")).as("no origin is there").isZero();
    assertThat(page("a")).isGreaterThan(second);
    assertThat(page("b")).isGreaterThan(second);
    long third = made.get();
    assertThat(purge("c")).endsWith("\n503");
    assertThat(isCurrent("a")).isTrue();

    network.cut("c", 0, false);
    Await.until(() -> NAMES.stream().allMatch(this::isWhole), "all are current");
    Await.until(
        () -> NAMES.stream().allMatch(name -> page(name) > third),
        "what c could not is done at all");
  }
}
