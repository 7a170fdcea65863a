package io.kamille.launcher.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code kamille demo} promises its reader. */
class DemoIT {

  @TempDir private Path directory;

  private void aSecondDemoChangesNothing() throws Exception {
    Path file = directory.resolve("demo/kamille.yaml");
    String before = Files.readString(file);
    String[] words = {"demo", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"};
    try (KamilleProcess second = KamilleProcess.start(directory, words)) {
      assertThat(second.exitCode()).isEqualTo(ExitCode.UNAVAILABLE);
      assertThat(second.lines().getLast()).contains("another demo runs in ");
    }
    assertThat(file).hasContent(before);
  }

  @Test
  void thePrintedAddressAnswersTheSecondTimeFromTheStore() throws Exception {
    try (KamilleProcess kamille =
        KamilleProcess.start(
            directory,
            "demo",
            "--listen",
            "127.0.0.1:0",
            "--listen-tls",
            "127.0.0.1:0",
            "--admin",
            "127.0.0.1:0")) {
      URI site = URI.create(kamille.awaitLine("the site, through Kamille"));
      assertThat(kamille.awaitLine("by HTTPS, self-signed")).startsWith("https://127.0.0.1:");
      kamille.awaitLine("Ctrl-C stops it");
      try (TestClient client =
          TestClient.connect(new InetSocketAddress(site.getHost(), site.getPort()))) {
        Answer first = client.get("/about").answer();
        assertThat(first.status()).isEqualTo(200);
        assertThat(first.field("Cache-Status")).contains("stored");
        Answer second = client.get("/about").answer();
        assertThat(second.field("Cache-Status")).contains("; hit;");
        assertThat(second.field("Age")).isNotNull();
        assertThat(second.content()).isEqualTo(first.content());
        assertThat(client.get("/download.bin").answer().content()).hasSize(1 << 20);
        assertThat(client.get("/now").answer().field("Cache-Status")).doesNotContain("stored");
      }
      kamille.awaitLine("GET /about 200");
      aSecondDemoChangesNothing();
      kamille.signal("INT");
      assertThat(kamille.exitCode()).isZero();
      assertThat(kamille.lines().getLast()).isEqualTo("4 requests, 3 of them asked the origin.");
    }
  }
}
