package io.kamille.launcher.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.launcher.appliance.Appliance;
import io.kamille.launcher.client.LocalApi;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

class VersionedFileTest {

  private static final String ROUTES = "routes: [{upstream: site}]\n";

  private static final String INCLUDING =
      """
      listeners: ['127.0.0.1:0']
      loops: 1
      upstreams:
        site: {origins: ['http://127.0.0.1:1']}
        other: {origins: ['http://127.0.0.1:2']}
      include: [routes.yaml]
      cache: {memory: {capacity: 1MiB}}
      log: {level: error}
      admin: {address: '127.0.0.1:0', token-file: '%s/token'}
      """;

  /** Else the first, which has read the older file, could be the last to put it in force. */
  @Test
  void ofTwoReloadsAtOnceTheSecondReadsTheFileWhenTheFirstIsInForce() throws Exception {
    List<String> events = new CopyOnWriteArrayList<>();
    var isReading = new CountDownLatch(1);
    var mayGoOn = new CountDownLatch(1);
    Thread first =
        Thread.ofPlatform()
            .start(
                () ->
                    VersionedFile.reload(
                        () -> {
                          events.add("first reads");
                          isReading.countDown();
                          Await.opened(mayGoOn);
                          return accepted();
                        },
                        configuration -> events.add("first is in force"),
                        () -> events.add("refused")));
    Await.opened(isReading);
    Thread second =
        Thread.ofPlatform()
            .start(
                () ->
                    VersionedFile.reload(
                        () -> {
                          events.add("second reads");
                          return accepted();
                        },
                        configuration -> events.add("second is in force"),
                        () -> events.add("refused")));
    Await.until(() -> second.getState() == Thread.State.BLOCKED, "the second waits");
    mayGoOn.countDown();
    first.join();
    second.join();
    assertThat(events)
        .containsExactly("first reads", "first is in force", "second reads", "second is in force");
  }

  @Test
  void whatIsRefusedPutsNothingInForce() {
    List<Configuration> inForce = new CopyOnWriteArrayList<>();
    var refusals = new AtomicInteger();
    VersionedFile.reload(() -> parse("nonsense"), inForce::add, refusals::incrementAndGet);
    assertThat(inForce).isEmpty();
    assertThat(refusals).hasValue(1);
  }

  /** Whoever writes it in between sees in the answer that it waits for a reload. */
  @Test
  void whatIsWrittenDuringAStartIsNotShownAsWhatRuns(@TempDir Path directory) throws Exception {
    Path routes = Files.writeString(directory.resolve("routes.yaml"), ROUTES);
    String text = INCLUDING.replace("%s", directory.toString());
    Path file = Files.writeString(directory.resolve("kamille.yaml"), text);
    try (VersionedFile versions = new VersionedFile(file)) {
      var read = (ConfigurationReading.Accepted) versions.reading();
      Files.writeString(file, text.replace("loops: 1", "loops: 2"));
      Files.writeString(routes, ROUTES.replace("site", "other"));
      try (Appliance _ = Running.start(read.configuration(), versions::resources)) {
        JsonNode shown =
            new ObjectMapper()
                .readTree(
                    new LocalApi(directory).ask("GET", "/v1/config", Map.of(), null).content());
        assertThat(shown.path("text").stringValue("")).isEqualTo(text);
        assertThat(shown.path("pendingRestart")).isEmpty();
      }
    }
  }

  private static ConfigurationReading accepted() {
    return parse(
        """
        listeners: ['127.0.0.1:0']
        upstreams: {site: {origins: ['http://127.0.0.1:1']}}
        routes: [{upstream: site}]
        """);
  }

  private static ConfigurationReading parse(String text) {
    return ConfigurationFile.parse("test.yaml", text.getBytes(StandardCharsets.UTF_8));
  }
}
