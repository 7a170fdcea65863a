package io.kamille.launcher.cli;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.server.h1.TestClient;
import io.kamille.launcher.appliance.Await;
import io.kamille.launcher.appliance.StubOrigin;
import io.kamille.launcher.service.Upgrade;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One process takes the place of another, or the other goes on as if nothing had been asked. */
class UpgradeIT {

  private static final String CONFIGURATION =
      """
      listeners: ['127.0.0.1:0']
      loops: 2
      upstreams: {a: {origins: ['%s']}}
      routes: [{upstream: a}]
      cache: {memory: {capacity: 16MiB}}
      log: {access: {enabled: off}}
      admin: {address: '%s'}
      """;

  @TempDir private Path directory;
  private final List<Long> successors = new ArrayList<>();
  private StubOrigin origin;
  private Path home;
  private Path file;
  private Path control;

  UpgradeIT() throws IOException {
    origin = StubOrigin.open();
  }

  @BeforeEach
  void install() throws IOException {
    origin.on("/a", ok("hello", "Cache-Control: max-age=60"));
    home = Files.createDirectories(directory.resolve("home"));
    file = directory.resolve("kamille.yaml");
    control = directory.resolve("control");
    configure("127.0.0.1:0");
    install(
        "exec "
            + Path.of(System.getProperty("java.home"), "bin/java")
            + " --enable-native-access=ALL-UNNAMED -Xmx256m -Dkamille.home="
            + home
            + " -cp "
            + System.getProperty("java.class.path")
            + " io.kamille.launcher.Main \"$@\"");
  }

  @AfterEach
  void end() throws IOException {
    successors.forEach(
        process -> ProcessHandle.of(process).ifPresent(ProcessHandle::destroyForcibly));
    origin.close();
  }

  private void configure(String admin) throws IOException {
    Files.writeString(
        file, CONFIGURATION.replaceFirst("%s", origin.url()).replaceFirst("%s", admin));
  }

  private void install(String line) throws IOException {
    Path script = Files.createDirectories(home.resolve("bin")).resolve("kamille");
    Files.writeString(script, "#!/bin/sh\n" + line + "\n");
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private KamilleProcess start() throws IOException {
    return KamilleProcess.installed(home, directory, "run", "--config", file.toString());
  }

  private long upgrade() throws IOException {
    Await.until(() -> Files.exists(control), "orders are taken");
    long process = Upgrade.order(control);
    successors.add(process);
    return process;
  }

  @Test
  void noRequestFailsWhileOneProcessTakesThePlaceOfAnother() throws Exception {
    try (KamilleProcess first = start()) {
      InetSocketAddress address = first.address();
      first.awaitLine("admin on ");
      AtomicBoolean isOver = new AtomicBoolean();
      CompletableFuture<Integer> requests =
          CompletableFuture.supplyAsync(() -> ask(address, isOver));
      long second = upgrade();
      assertThat(first.awaitEnd()).isZero();
      long third = upgrade();
      assertThat(third).isNotEqualTo(second);
      isOver.set(true);
      assertThat(requests.get()).isPositive();
      try (TestClient client = TestClient.connect(address)) {
        assertThat(client.get("/a").answer().content()).isEqualTo("hello");
      }
    }
  }

  /** One request for each connection, and each must be answered. */
  private static int ask(InetSocketAddress address, AtomicBoolean isOver) {
    int answered = 0;
    while (!isOver.get()) {
      try (TestClient client = TestClient.connect(address)) {
        assertThat(client.get("/a").answer().content()).isEqualTo("hello");
        answered++;
      } catch (UncheckedIOException | AssertionError failed) {
        throw new AssertionError("after " + answered + " answers", failed);
      }
    }
    return answered;
  }

  @Test
  void aNewVersionThatDoesNotStartLeavesTheOldOneServing() throws Exception {
    try (KamilleProcess running = start()) {
      InetSocketAddress address = running.address();
      running.awaitLine("admin on ");
      install("exit 3");
      assertThatThrownBy(this::upgrade).hasMessageContaining("ended");
      assertServes(running, address);
    }
  }

  @Test
  void aConfigurationThatIsRefusedLeavesTheOldOneServing() throws Exception {
    try (KamilleProcess running = start()) {
      InetSocketAddress address = running.address();
      running.awaitLine("admin on ");
      Files.writeString(file, "listeners: nonsense\n");
      assertThatThrownBy(this::upgrade).hasMessageContaining("ended");
      assertServes(running, address);
    }
  }

  @Test
  void aNewVersionThatFailsWithTheSocketsInItsHandsLeavesTheOldOneServing() throws Exception {
    try (KamilleProcess running = start();
        ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      InetSocketAddress address = running.address();
      running.awaitLine("admin on ");
      configure("127.0.0.1:" + taken.getLocalPort());
      assertThatThrownBy(this::upgrade).hasMessageContaining("ended before it served");
      assertServes(running, address);
    }
  }

  private static void assertServes(KamilleProcess running, InetSocketAddress address)
      throws IOException {
    assertThat(running.isAlive()).isTrue();
    try (TestClient client = TestClient.connect(address)) {
      assertThat(client.get("/a").answer().content()).isEqualTo("hello");
    }
  }

  @Test
  void anInstalledVersionTakesOverAtTheSignalToReload() throws Exception {
    Path jar = Files.createDirectories(home.resolve("lib")).resolve("kamille.jar");
    Files.writeString(jar, "one");
    try (KamilleProcess first = start()) {
      InetSocketAddress address = first.address();
      Await.until(() -> Files.exists(control), "orders are taken");
      first.signal("HUP");
      first.awaitLine("configuration reloaded");
      Files.delete(jar);
      Files.writeString(jar, "another");
      first.signal("HUP");
      first.awaitLine("was started to take over");
      assertThat(first.awaitEnd()).isZero();
      try (TestClient client = TestClient.connect(address)) {
        assertThat(client.get("/a").answer().content()).isEqualTo("hello");
      }
      upgrade();
    }
  }

  @Test
  void nobodyIsThereToUpgrade() {
    assertThatThrownBy(() -> Upgrade.order(control)).hasMessageContaining("no such file");
    assertThat(KamilleCommand.execute("upgrade", "--control", control.toString()))
        .isEqualTo(ExitCode.UNAVAILABLE);
  }
}
