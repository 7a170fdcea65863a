package io.kamille.launcher.appliance;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading;
import io.kamille.launcher.service.Inheritance;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A whole appliance with an origin behind it, and clients in front. It starts when it is first
 * asked for; when the test ends, all memory of the cache must be free again.
 */
final class Journey implements BeforeEachCallback, AfterEachCallback {

  private static final HttpClient ADMIN = HttpClient.newHttpClient();

  private final Map<String, String> sections = new LinkedHashMap<>();
  private final List<TestClient> clients = new ArrayList<>();
  private @Nullable StubOrigin origin;
  private @Nullable Appliance appliance;
  private @Nullable Path directory;
  private Machine machine = Machine.HERE;

  @Override
  public void beforeEach(ExtensionContext context) throws IOException {
    origin = StubOrigin.open();
    directory = Files.createTempDirectory("kamille-journey");
    with(
        "listeners: ['127.0.0.1:0']",
        "loops: 2",
        "upstreams: {site: {origins: ['" + origin().url() + "']}}",
        "routes: [{upstream: site}]",
        "cache: {memory: {capacity: 16MiB}}",
        "log: {level: error, access: {enabled: on, output: '" + file("access.log") + "'}}",
        "admin: {address: '127.0.0.1:0', token-file: '" + file("token") + "'}");
  }

  /** What the appliance stands on when it starts. */
  Journey on(Machine other) {
    machine = other;
    return this;
  }

  /** Replaces top-level sections of the configuration, each one line of YAML. */
  Journey with(String... lines) {
    for (String line : lines) {
      sections.put(line.substring(0, line.indexOf(':')), line);
    }
    return this;
  }

  /** Settings of the only upstream besides its origin, such as {@code retries: 0}. */
  Journey withUpstream(String settings) {
    return with("upstreams: {site: {origins: ['" + origin().url() + "'], " + settings + "}}");
  }

  Configuration configuration() {
    return configuration(sections.values());
  }

  static Configuration configuration(Collection<String> lines) {
    byte[] text = String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
    return switch (ConfigurationFile.parseAlone("journey.yaml", text)) {
      case ConfigurationReading.Accepted(Configuration accepted) -> accepted;
      case ConfigurationReading.Refused refused -> throw new AssertionError(refused.problems());
    };
  }

  StubOrigin origin() {
    return present(origin);
  }

  Path file(String name) {
    return present(directory).resolve(name);
  }

  Appliance appliance() {
    if (appliance == null) {
      appliance = start(configuration(), machine);
    }
    return appliance;
  }

  /** Another appliance with this configuration alone; the caller closes it. */
  static Appliance start(Machine machine, String... lines) {
    return start(configuration(List.of(lines)), machine);
  }

  static Appliance start(String... lines) {
    return start(configuration(List.of(lines)), Machine.HERE);
  }

  static Appliance start(Configuration configuration, Machine machine) {
    try {
      return Appliance.start(configuration, "test", Inheritance.none(), _ -> List.of(), machine);
    } catch (StartFailure failure) {
      throw new AssertionError(failure);
    }
  }

  InetSocketAddress address() {
    return address(appliance().listening().getFirst());
  }

  static InetSocketAddress address(String text) {
    int colon = text.lastIndexOf(':');
    return new InetSocketAddress(
        text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
  }

  TestClient client() {
    return client(0);
  }

  TestClient client(int receiveBufferBytes) {
    return closedAfterwards(TestClient.connect(address(), receiveBufferBytes));
  }

  private TestClient closedAfterwards(TestClient client) {
    clients.add(client);
    return client;
  }

  /** One GET on a connection of its own. */
  Answer get(String target, String... lines) {
    try (TestClient client = TestClient.connect(address())) {
      return client.get(target, lines).answer();
    }
  }

  /** One request without content on a connection of its own. */
  Answer ask(String method, String target, String... lines) {
    try (TestClient client = TestClient.connect(address())) {
      return client.request(method, target, lines).answer(method);
    }
  }

  /** The first answer to these octets, on a connection of their own. */
  Answer say(String octets) {
    try (TestClient client = TestClient.connect(address())) {
      return client.send(octets).answer();
    }
  }

  String token() throws IOException {
    return Files.readString(file("token")).strip();
  }

  HttpResponse<String> admin(String path) throws IOException, InterruptedException {
    return ADMIN.send(adminRequest(path).build(), BodyHandlers.ofString());
  }

  /** A request to the control plane with the right token. */
  HttpRequest.Builder adminRequest(String path) throws IOException {
    return HttpRequest.newBuilder(
            URI.create("http://" + appliance().adminListening().orElseThrow() + path))
        .header("Authorization", "Bearer " + token());
  }

  HttpResponse<String> pace(String content) throws IOException, InterruptedException {
    return ADMIN.send(
        adminRequest("/v1/engine/loops")
            .header("Content-Type", "application/json")
            .PUT(BodyPublishers.ofString(content))
            .build(),
        BodyHandlers.ofString());
  }

  HttpResponse<String> purge(String url) throws IOException, InterruptedException {
    return ADMIN.send(
        adminRequest("/v1/cache/purges")
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString("{\"url\": \"" + url + "\"}"))
            .build(),
        BodyHandlers.ofString());
  }

  HttpResponse<String> send(HttpRequest request) throws IOException, InterruptedException {
    return ADMIN.send(request, BodyHandlers.ofString());
  }

  CompletableFuture<HttpResponse<String>> sendLater(HttpRequest request) {
    return ADMIN.sendAsync(request, BodyHandlers.ofString());
  }

  /** The lines of the access log, once there are so many. */
  List<String> accessLog(int lines) {
    Await.until(() -> accessLog().size() >= lines, lines + " lines are in the access log");
    return accessLog();
  }

  /** The lines that are whole. */
  private List<String> accessLog() {
    try {
      String text = Files.readString(file("access.log"));
      return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
    } catch (IOException absent) {
      return List.of();
    }
  }

  /** Ends the appliance as a clean stop does; the next that asks for it starts another. */
  void restart() {
    clients.forEach(TestClient::close);
    clients.clear();
    awaitNoConnections();
    appliance().close();
    appliance = null;
  }

  /** Waits until nobody is connected any more. */
  void awaitNoConnections() {
    Await.until(() -> appliance().totals().connections() == 0, "all connections are closed");
  }

  @Override
  public void afterEach(ExtensionContext context) throws IOException {
    clients.forEach(TestClient::close);
    Appliance running = appliance;
    if (running != null) {
      awaitNoConnections();
      origin().close();
      allMemoryComesBack(running);
      running.close();
    }
    origin().close();
    try (Stream<Path> files = Files.walk(present(directory))) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  private static void allMemoryComesBack(Appliance running) {
    var cache = running.routes().cache();
    Await.until(
        () -> {
          cache.purges().clear();
          return cache.usedBytes() == 0;
        },
        "no lease is left on the cache's memory");
    assertThat(cache.usedBytes()).isZero();
    assertThat(cache.inFlight()).isZero();
  }

  private static <T> T present(@Nullable T value) {
    if (value == null) {
      throw new IllegalStateException("the test has not begun");
    }
    return value;
  }
}
