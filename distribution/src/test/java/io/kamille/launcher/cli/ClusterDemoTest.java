package io.kamille.launcher.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.kamille.core.Await;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code kamille demo --cluster} does with its nodes, which are scripts here. */
class ClusterDemoTest {

  private static final String WHOLE =
      """
      {"name":"shop","node":"a","leader":"b","quorum":true,"current":true,"members":[
       {"node":"a","state":"member","voter":true,"applied":0},
       {"node":"b","state":"member","voter":true,"applied":0},
       {"node":"c","state":"member","voter":true,"applied":0}]}
      """;

  @TempDir private Path temporary;
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final Map<String, String> answers = new ConcurrentHashMap<>();
  private final AtomicInteger asked = new AtomicInteger();
  private final List<HttpServer> servers = new ArrayList<>();
  private final CountDownLatch toldToStop = new CountDownLatch(1);

  @AfterEach
  void stopServers() {
    servers.forEach(server -> server.stop(0));
  }

  /** Three nodes, each of which runs a script. */
  private ClusterDemo start(String script) throws IOException {
    Path kamille = Files.writeString(temporary.resolve("kamille"), "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(kamille, PosixFilePermissions.fromString("rwx------"));
    Path directory = Files.createDirectory(temporary.resolve("cluster"));
    ClusterDemo demo = new ClusterDemo(kamille, directory, lines::add);
    demo.start(3, "http://127.0.0.1:9000");
    return demo;
  }

  private ClusterDemo startSleepers() throws IOException {
    return start(
        """
        echo "a-token-of-32-letters-or-more-of-$(basename "$STATE_DIRECTORY")" > "$STATE_DIRECTORY/admin-token"
        chmod 600 "$STATE_DIRECTORY/admin-token"
        echo "$@" > "$STATE_DIRECTORY/words"
        exec sleep 600\
        """);
  }

  private void answerFor(ClusterDemo.Node node) throws IOException {
    HttpServer server =
        HttpServer.create(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), node.admin().port()), 0);
    server.createContext("/v1/cluster", exchange -> answer(exchange, node.name()));
    server.start();
    servers.add(server);
  }

  private void answer(HttpExchange exchange, String node) throws IOException {
    asked.incrementAndGet();
    boolean isKnown =
        ("Bearer a-token-of-32-letters-or-more-of-" + node)
            .equals(exchange.getRequestHeaders().getFirst("Authorization"));
    byte[] content = answers.getOrDefault(node, "").getBytes(UTF_8);
    exchange.sendResponseHeaders(isKnown && content.length > 0 ? 200 : 404, content.length);
    exchange.getResponseBody().write(content);
    exchange.close();
  }

  private CompletableFuture<Void> watch(ClusterDemo demo) {
    return CompletableFuture.runAsync(
        () -> {
          try {
            demo.watch(toldToStop);
          } catch (CommandFailure | InterruptedException failed) {
            throw new IllegalStateException(failed);
          }
        });
  }

  private void awaitQuestions(int more) {
    int before = asked.get();
    Await.until(() -> asked.get() >= before + more, more + " more questions");
  }

  @Test
  void theLinesComeOnceEachNodeSeesAllAndALeader() throws Exception {
    try (ClusterDemo demo = startSleepers()) {
      for (ClusterDemo.Node node : demo.nodes()) {
        answerFor(node);
      }
      CompletableFuture<Void> watching = watch(demo);
      awaitQuestions(2);
      for (String notYet :
          List.of(
              "no JSON",
              "{}",
              WHOLE.replace("\"b\",\"quorum\"", "null,\"quorum\""),
              WHOLE.replace(
                  "\"node\":\"c\",\"state\":\"member\"", "\"node\":\"c\",\"state\":\"away\""),
              WHOLE.replace("\"node\":\"c\"", "\"node\":\"d\""))) {
        demo.nodes().forEach(node -> answers.put(node.name(), notYet));
        awaitQuestions(2);
      }
      answers.putAll(Map.of("a", WHOLE, "b", WHOLE));
      awaitQuestions(6);
      assertThat(lines).as("c does not see it").isEmpty();
      answers.put("c", WHOLE);
      Await.until(() -> lines.size() == 3, "three lines");
      ClusterDemo.Node first = demo.nodes().getFirst();
      assertThat(lines.getFirst())
          .isEqualTo(
              "node a  site http://127.0.0.1:"
                  + first.site().port()
                  + "/  admin http://127.0.0.1:"
                  + first.admin().port()
                  + "/  state "
                  + temporary.resolve("cluster/a"));
      assertThat(lines.get(2)).startsWith("node c  site ");
      toldToStop.countDown();
      watching.join();
    }
    assertThat(temporary.resolve("cluster")).as("nothing is left").doesNotExist();
  }

  @Test
  void eachNodeRunsItsOwnConfigurationForAnyHost() throws Exception {
    try (ClusterDemo demo = startSleepers()) {
      Set<Object> addresses = new HashSet<>();
      Set<String> texts = new HashSet<>();
      for (ClusterDemo.Node node : demo.nodes()) {
        Path words = node.state().resolve("words");
        Path file = node.state().resolve("kamille.yaml");
        String expected = "run --config " + file + "\n";
        Await.until(() -> words.toFile().length() == expected.length(), expected);
        assertThat(words).hasContent(expected);
        texts.add(Files.readString(file));
        var reading = ConfigurationFile.read(file);
        assertThat(reading).isInstanceOf(ConfigurationReading.Accepted.class);
        Configuration configuration = ((ConfigurationReading.Accepted) reading).configuration();
        assertThat(configuration.cluster().node()).isEqualTo(node.name());
        assertThat(configuration.cluster().voters()).containsExactly("a", "b", "c");
        assertThat(configuration.routes()).allMatch(route -> route.host() == null);
        addresses.addAll(
            List.of(
                node.site(),
                node.admin(),
                configuration.cluster().bound(),
                String.valueOf(configuration.cluster().peers().address())));
      }
      assertThat(addresses).hasSize(12);
      assertThat(texts).as("all nodes share one text").hasSize(1);
    }
  }

  @Test
  void aNodeThatEndsLaterIsToldOfAndTheOthersGoOn() throws Exception {
    try (ClusterDemo demo = startSleepers()) {
      for (ClusterDemo.Node node : demo.nodes()) {
        answerFor(node);
        answers.put(node.name(), WHOLE);
      }
      CompletableFuture<Void> watching = watch(demo);
      Await.until(() -> lines.size() == 3, "three lines");
      ClusterDemo.Node second = demo.nodes().get(1);
      second.process().destroyForcibly();
      Await.until(() -> lines.size() == 4, "a fourth line");
      assertThat(lines.getLast())
          .isEqualTo("node b ended with status 137; see " + second.state().resolve("log"));
      assertThat(demo.nodes().getFirst().process().isAlive()).isTrue();
      toldToStop.countDown();
      watching.join();
      assertThat(lines).hasSize(4);
    }
  }

  @Test
  void aNodeThatEndsBeforeEndsAllAndItsLogStays() throws Exception {
    List<ClusterDemo.Node> nodes;
    try (ClusterDemo demo =
        start("echo taken; case $STATE_DIRECTORY in */b) exit 69;; esac; exec sleep 600")) {
      nodes = demo.nodes();
      assertThatThrownBy(() -> demo.watch(toldToStop)).isInstanceOf(CommandFailure.class);
      assertThat(lines)
          .containsExactly(
              "node b ended with status 69; see " + temporary.resolve("cluster/b/log"));
    }
    assertThat(nodes).noneMatch(node -> node.process().isAlive());
    assertThat(temporary.resolve("cluster/b/log")).hasContent("taken");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "2", "4", "-1", "11", "three"})
  void anEvenNumberIsRefused(String count) {
    StringWriter err = new StringWriter();
    assertThat(
            KamilleCommand.commandLine()
                .setErr(new PrintWriter(err, true))
                .execute("demo", "--cluster", count))
        .isEqualTo(64);
    assertThat(err.toString()).contains("--cluster");
  }

  @Test
  void otherOptionsAreForOneNode() {
    StringWriter err = new StringWriter();
    assertThat(
            KamilleCommand.commandLine()
                .setErr(new PrintWriter(err, true))
                .execute("demo", "--cluster", "3", "--listen", "127.0.0.1:0"))
        .isEqualTo(64);
    assertThat(err.toString()).contains("--cluster takes no other option");
  }
}
