package io.kamille.launcher.cli;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.launcher.acme.StubAuthority;
import io.kamille.launcher.appliance.StubOrigin;
import io.kamille.launcher.service.Upgrade;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.stream.Stream;
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
    install(KamilleProcess.installed(home));
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
    KamilleProcess.install(home, line);
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

  /** The old process has ordered and finishes; the authority asks when the new one listens. */
  @Test
  void anUpgradeInTheMiddleOfAnOrderLosesNoCertificate() throws Exception {
    var isAsked = new CountDownLatch(1);
    var mayAsk = new CountDownLatch(1);
    var listening = new CompletableFuture<InetSocketAddress>();
    try (StubAuthority authority = new StubAuthority()) {
      authority.validatingBy(
          (type, name, token, authorization) -> {
            isAsked.countDown();
            Await.opened(mayAsk);
            return StubAuthority.asks(listening.get(), type, name, token, authorization);
          });
      Path trusted = authority.authority(directory.resolve("authority.pem"));
      Files.writeString(
          file,
          """
          listeners: [{address: '127.0.0.1:0', tls: {source: acme, names: [a.test]}}]
          loops: 1
          acme: {terms-agreed: yes, directory: '%s', authority: '%s'}
          routes: [{respond: {status: 204}}]
          admin: {address: 'off'}
          """
              .replaceFirst("%s", authority.directory().toString())
              .replaceFirst("%s", trusted.toString()));
      try (KamilleProcess first = start()) {
        listening.complete(first.address());
        Await.opened(isAsked);
        upgrade();
        mayAsk.countDown();
        assertThat(first.awaitEnd()).isZero();
        assertThat(authority.proved()).hasSize(1);
        assertThat(authority.orders("a.test")).hasSize(1);
        assertThat(first.awaitLine("a.test: issued until")).isNotEmpty();
      }
      try (Stream<Path> kept = Files.walk(directory.resolve("acme"))) {
        assertThat(kept.map(each -> each.getFileName().toString()))
            .contains("live")
            .noneMatch(each -> each.matches("[0-9a-f]{64}"), "a challenge is left");
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

  @Test
  void aNewVersionThatIsKilledWithTheSocketsInItsHandsLeavesTheOldOneServing() throws Exception {
    try (KamilleProcess running = start()) {
      InetSocketAddress address = running.address();
      Path log = holdUp();
      CompletableFuture<Throwable> order = order();
      ProcessHandle successor = withTheSocketsOf(running);
      successor.destroyForcibly();
      assertThat(order.get().getMessage())
          .containsAnyOf("ended before it served", "the other side is gone");
      assertServes(running, address);
      Files.delete(log);
      configure("127.0.0.1:0");
      upgrade();
    }
  }

  @Test
  void anOldVersionThatIsKilledOnceItsSocketsAreGivenLeavesTheNewOneServing() throws Exception {
    try (KamilleProcess running = start()) {
      InetSocketAddress address = running.address();
      Path log = holdUp();
      CompletableFuture<Throwable> order = order();
      ProcessHandle successor = withTheSocketsOf(running);
      successors.add(successor.pid());
      running.signal("KILL");
      assertThat(order.get()).hasMessageContaining("no answer");
      try (RandomAccessFile goesOn = new RandomAccessFile(log.toFile(), "rw");
          TestClient client = TestClient.connect(address)) {
        assertThat(client.get("/a").answer().content()).isEqualTo("hello");
        assertThat(goesOn).isNotNull();
        Await.until(this::takesOrders, "the new process takes orders");
      }
    }
  }

  @Test
  void theDiskChangesHandsAndTheNewProcessServesWhatIsOnIt() throws Exception {
    useDisk();
    try (KamilleProcess first = start()) {
      InetSocketAddress address = first.address();
      store(address, "/b");
      long second = upgrade();
      assertThat(first.awaitEnd()).isZero();
      assertThat(hasDisk(second)).isTrue();
      awaitFromDisk(address, "/b");
      long third = upgrade();
      assertThat(hasDisk(third)).isTrue();
      awaitFromDisk(address, "/b");
    }
  }

  @Test
  void aNewVersionThatDoesNotStartLeavesTheOldOneItsDisk() throws Exception {
    useDisk();
    try (KamilleProcess running = start()) {
      InetSocketAddress address = running.address();
      Await.until(this::takesOrders, "orders are taken");
      install("exit 3");
      assertThatThrownBy(this::upgrade).hasMessageContaining("ended");
      assertThat(hasDisk(running.processId())).isTrue();
      assertServes(running, address);
    }
  }

  @Test
  void ifTheNewProcessIsKilledWithTheDiskTheOldOneTakesItBackWithoutWhatWasPurged()
      throws Exception {
    useDisk();
    try (KamilleProcess running = start()) {
      InetSocketAddress address = running.address();
      store(address, "/b");
      store(address, "/c");
      Path log = holdUp();
      CompletableFuture<Throwable> order = order();
      ProcessHandle successor = withTheDiskOf(running);
      purge(address, "/c");
      successor.destroyForcibly();
      assertThat(order.get()).hasMessageContaining("ended before it served");
      assertThat(hasDisk(running.processId())).isTrue();
      assertServes(running, address);
      Files.delete(log);
      configure("127.0.0.1:0");
      useDisk();
      upgrade();
      awaitFromDisk(address, "/b");
      awaitForwarded(address, "/c");
    }
  }

  @Test
  void aPurgeAtTheOldProcessIsAPurgeAtTheNewOne() throws Exception {
    useDisk();
    try (KamilleProcess running = start()) {
      InetSocketAddress address = running.address();
      store(address, "/b");
      store(address, "/c");
      Path log = holdUp();
      CompletableFuture<Throwable> order = order();
      successors.add(withTheDiskOf(running).pid());
      purge(address, "/c");
      try (RandomAccessFile goesOn = new RandomAccessFile(log.toFile(), "rw")) {
        assertThat(order.get()).hasMessageContaining("serves");
        awaitFromDisk(address, "/b");
        awaitForwarded(address, "/c");
        assertThat(goesOn).isNotNull();
      }
    }
  }

  @Test
  void aPurgeAtTheProcessThatDrainsReachesTheNewOneWithoutADisk() throws Exception {
    Files.writeString(
        file, Files.readString(file).replace("cache: {", "cache: {purge-from: [127.0.0.1], "));
    try (KamilleProcess first = start()) {
      InetSocketAddress address = first.address();
      first.awaitLine("admin on ");
      try (TestClient old = TestClient.connect(address)) {
        assertThat(old.get("/a").answer().status()).isEqualTo(200);
        upgrade();
        store(address, "/b");
        assertThat(cacheStatus(address, "/b")).contains("hit");
        assertThat(old.request("PURGE", "/b").answer().status()).isEqualTo(200);
        awaitForwarded(address, "/b");
      }
    }
  }

  @Test
  void anOldVersionThatIsKilledOnceItsDiskIsGivenLeavesItToTheNewOne() throws Exception {
    useDisk();
    try (KamilleProcess running = start()) {
      InetSocketAddress address = running.address();
      store(address, "/b");
      Path log = holdUp();
      CompletableFuture<Throwable> order = order();
      ProcessHandle successor = withTheDiskOf(running);
      successors.add(successor.pid());
      running.signal("KILL");
      assertThat(order.get()).hasMessageContaining("no answer");
      try (RandomAccessFile goesOn = new RandomAccessFile(log.toFile(), "rw")) {
        awaitFromDisk(address, "/b");
        assertThat(goesOn).isNotNull();
      }
    }
  }

  private void useDisk() throws IOException {
    Files.writeString(
        file,
        Files.readString(file)
            .replace(
                "cache: {",
                "cache: {purge-from: [127.0.0.1], disk: {path: '"
                    + directory.resolve("disk")
                    + "', capacity: 64MiB, admit: always, keep-memory: off, peak: off}, "));
  }

  /** Has a response stored that the origin gives once. */
  private void store(InetSocketAddress address, String target) {
    origin.on(target, ok("stored", "Cache-Control: max-age=3600"));
    assertThat(cacheStatus(address, target)).contains("stored");
    origin.on(target, StubOrigin.message("404 Not Found", "", "Cache-Control: no-store"));
  }

  private static String cacheStatus(InetSocketAddress address, String target) {
    try (TestClient client = TestClient.connect(address)) {
      return String.valueOf(client.get(target).answer().field("Cache-Status"));
    }
  }

  private static void purge(InetSocketAddress address, String target) {
    try (TestClient client = TestClient.connect(address)) {
      assertThat(client.request("PURGE", target).answer().status()).isEqualTo(200);
    }
  }

  /** A process that starts finds what is on the disk little by little. */
  private static void awaitFromDisk(InetSocketAddress address, String target) {
    Await.until(
        () -> cacheStatus(address, target).contains("detail=disk"), target + " is on the disk");
  }

  private static void awaitForwarded(InetSocketAddress address, String target) {
    Await.until(() -> cacheStatus(address, target).contains("fwd="), target + " is not stored");
  }

  /** The process that has been given the disk of that one. */
  private ProcessHandle withTheDiskOf(KamilleProcess running) {
    ProcessHandle successor = withTheSocketsOf(running);
    Await.until(() -> hasDisk(successor.pid()), "the disk is given");
    return successor;
  }

  private boolean hasDisk(long process) {
    return open(process).contains(directory.resolve("disk/lock").toString());
  }

  /** From now on a process that starts waits for the reader of its access log. */
  private Path holdUp() throws Exception {
    Await.until(this::takesOrders, "orders are taken");
    Path log = directory.resolve("access.log");
    assertThat(new ProcessBuilder("mkfifo", log.toString()).start().waitFor()).isZero();
    Files.writeString(
        file, Files.readString(file).replace("enabled: off", "enabled: on, output: '" + log + "'"));
    return log;
  }

  private boolean takesOrders() {
    return Files.exists(control);
  }

  private CompletableFuture<Throwable> order() {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return new AssertionError("process " + Upgrade.order(control) + " serves");
          } catch (IOException refused) {
            return refused;
          }
        });
  }

  /**
   * The process that has been given the sockets of that one, and is no fork of it about to exec.
   */
  private ProcessHandle withTheSocketsOf(KamilleProcess running) {
    List<ProcessHandle> found = new ArrayList<>();
    Predicate<ProcessHandle> isRunning = parent -> parent.pid() == running.processId();
    Await.until(
        () -> {
          Set<String> given = sockets(running.processId());
          ProcessHandle.allProcesses()
              .filter(other -> other.pid() != running.processId() && isOfThisTest(other))
              .filter(other -> other.parent().stream().noneMatch(isRunning))
              .filter(other -> sockets(other.pid()).stream().anyMatch(given::contains))
              .forEach(found::add);
          return !found.isEmpty();
        },
        "the sockets are given");
    return found.getFirst();
  }

  private boolean isOfThisTest(ProcessHandle process) {
    try {
      return Files.readString(Path.of("/proc", Long.toString(process.pid()), "cmdline"))
          .contains(file.toString());
    } catch (IOException gone) {
      return false;
    }
  }

  private static Set<String> sockets(long process) {
    Set<String> sockets = open(process);
    sockets.removeIf(target -> !target.startsWith("socket:"));
    return sockets;
  }

  /** What a process has open: its files, and its sockets by number. */
  private static Set<String> open(long process) {
    Set<String> targets = new HashSet<>();
    try (Stream<Path> open = Files.list(Path.of("/proc", Long.toString(process), "fd"))) {
      for (Path descriptor : open.toList()) {
        if (Files.isSymbolicLink(descriptor)) {
          targets.add(Files.readSymbolicLink(descriptor).toString());
        }
      }
    } catch (IOException closed) {
      // Closed while we looked: another look will tell.
    }
    return targets;
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
