package io.kamille.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What browsers get of the UI, without a browser. */
class UiIT {

  private static final int SCRIPT_LIMIT_BYTES = 150_000;

  @TempDir private Path directory;
  private SmallAppliance appliance;
  private AdminServer server;

  @BeforeEach
  void open() throws IOException {
    appliance = new SmallAppliance();
    server = appliance.open(directory);
  }

  @AfterEach
  void close() {
    server.close();
    appliance.close();
  }

  @Test
  void everyFileIsServedAndNoOther() throws IOException, URISyntaxException {
    for (Path file : files()) {
      String name = file.getFileName().toString();
      String path = name.equals("index.html") ? "/" : "/ui/" + name;
      assertThat(get(path)).as(path).startsWith("HTTP/1.1 200 OK\r\n").endsWith(content(file));
    }
    assertThat(get("/ui/../token")).startsWith("HTTP/1.1 404");
    assertThat(get("/ui/")).startsWith("HTTP/1.1 404");
  }

  @Test
  void noScriptMayComeFromElsewhereOrMakeMarkupOfText() throws IOException {
    assertThat(get("/"))
        .contains("default-src 'none'; script-src 'self'")
        .contains("frame-ancestors 'none'; require-trusted-types-for 'script'")
        .contains("Referrer-Policy: no-referrer");
  }

  @Test
  void noScriptUsesWhatThePolicyForbids() throws IOException, URISyntaxException {
    for (Path file : files()) {
      assertThat(content(file))
          .as(file.toString())
          .doesNotContain("innerHTML", "insertAdjacentHTML", "eval(", "document.write", "https://");
    }
  }

  @Test
  void theScriptsAreSmall() throws IOException, URISyntaxException {
    long octets = 0;
    for (Path file : files()) {
      octets += Files.size(file);
    }
    assertThat(octets).isLessThan(SCRIPT_LIMIT_BYTES);
  }

  private static List<Path> files() throws IOException, URISyntaxException {
    var index = UiIT.class.getResource("/io/kamille/admin/ui/index.html");
    assertThat(index).isNotNull();
    try (Stream<Path> all = Files.list(Path.of(index.toURI()).resolveSibling("."))) {
      return all.toList();
    }
  }

  private static String content(Path file) throws IOException {
    return Files.readString(file, StandardCharsets.UTF_8);
  }

  private String get(String path) throws IOException {
    try (Wire wire = new Wire(server.address())) {
      wire.send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
      return wire.rest();
    }
  }
}
