package io.kamille.launcher.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.kamille.cache.purge.RemovalListener;
import io.kamille.core.Await;
import io.kamille.core.socket.UnixSocket;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who may give an order, and what becomes of one that hangs or is too long. */
class UpgradeTest {

  private static final int MOST_BYTES = 200;

  @TempDir private Path directory;
  private final AtomicBoolean hasSteppedBack = new AtomicBoolean();
  private final AtomicBoolean hasTakenBack = new AtomicBoolean();

  /** Has nothing to give. */
  private final class Idle implements Incumbent {

    @Override
    public Map<String, List<Integer>> listeningSockets() {
      return Map.of();
    }

    @Override
    public Map<String, String> release(RemovalListener heir) {
      return Map.of();
    }

    @Override
    public void takeBack(Consumer<RemovalListener> meanwhile) {
      hasTakenBack.set(true);
    }

    @Override
    public RemovalListener follower() {
      throw new AssertionError("nobody has taken over");
    }

    @Override
    public void stepBack() {
      hasSteppedBack.set(true);
    }
  }

  private Upgrade await(List<String> command, Duration limit) throws IOException {
    Upgrade upgrade =
        new Upgrade(
            directory.resolve("control"),
            command,
            ServiceManager.of(Map.of(), 1),
            new Idle(),
            () -> {},
            limit);
    upgrade.publish();
    return upgrade;
  }

  @Test
  void aNewProcessThatHangsIsEnded() throws IOException {
    try (Upgrade upgrade = await(List.of("sleep", "1000"), Duration.ofMillis(1))) {
      assertThatThrownBy(() -> Upgrade.order(directory.resolve("control")))
          .hasMessageContaining("did not ask for the sockets");
      assertThat(upgrade).isNotNull();
    }
    assertThat(hasSteppedBack).isFalse();
    Await.until(
        () -> ProcessHandle.current().children().noneMatch(ProcessHandle::isAlive),
        "the process is gone");
  }

  @Test
  void whoOrdersMeanwhileIsToldThatAnotherUpgradeIsUnderWay() throws Exception {
    Path control = directory.resolve("control");
    Path started = directory.resolve("started");
    List<String> command = List.of("sh", "-c", "touch \"$0\"; exec sleep 9", started.toString());
    try (Upgrade upgrade = await(command, Duration.ofMillis(500))) {
      CompletableFuture<Throwable> first =
          CompletableFuture.supplyAsync(() -> catchThrowable(() -> Upgrade.order(control)));
      Await.until(() -> Files.exists(started), "the new process runs");
      try (UnixSocket second = UnixSocket.connect(control.toString())) {
        second.timeout(Duration.ofMillis(20));
        assertThatThrownBy(() -> second.receive(MOST_BYTES)).isInstanceOf(IOException.class);
        second.timeout(Duration.ofSeconds(9));
        second.send(Upgrade.ORDER, List.of());
        assertThat(second.receive(MOST_BYTES).text())
            .isEqualTo("failed: another upgrade is under way");
      }
      assertThat(first.get()).hasMessageContaining("did not ask for the sockets");
      assertThat(upgrade).isNotNull();
    }
  }

  @Test
  void nobodyButTheProcessThatWasStartedGetsTheSockets() throws IOException {
    try (Upgrade upgrade = await(List.of("false"), Duration.ofSeconds(1));
        UnixSocket stranger = UnixSocket.connect(directory.resolve("control").toString())) {
      stranger.send(Successor.TAKE_OVER, List.of());
      UnixSocket.Message answer = stranger.receive(MOST_BYTES);
      assertThat(answer.text()).isEqualTo("failed: unknown order");
      assertThat(answer.descriptors()).isEmpty();
      assertThat(upgrade).isNotNull();
    }
  }

  @Test
  void theSocketIsForItsOwnerAlone() throws IOException {
    try (Upgrade upgrade = await(List.of("false"), Duration.ofSeconds(1))) {
      assertThat(Files.getPosixFilePermissions(directory.resolve("control"))).hasSize(2);
      assertThat(upgrade).isNotNull();
    }
  }

  @Test
  void aFileThatACrashLeftIsNoObstacle() throws IOException {
    UnixSocket.listen(directory.resolve("control").toString()).close();
    assertThat(ControlSocket.isServed(directory.resolve("control"))).isFalse();
    try (Upgrade upgrade = await(List.of("false"), Duration.ofSeconds(1))) {
      assertThat(ControlSocket.isServed(directory.resolve("control"))).isTrue();
      assertThat(upgrade).isNotNull();
    }
  }

  // Messages

  /** Blanks around an order are none of it; behind the limit of a message there could be more. */
  @Test
  void anOrderThatIsTooLongIsNoOrder() throws IOException {
    try (Upgrade upgrade = await(List.of("sleep", "1000"), Duration.ofMillis(1))) {
      assertThat(answer(filled(" ", 4_096))).contains("did not ask for the sockets");
      assertThat(answer(filled("x", 4_096))).isEqualTo("failed: unknown order");
      for (int beyond : new int[] {4_097, 100_000}) {
        assertThat(answer(filled("x", beyond)))
            .isEqualTo("failed: cannot receive: a message of more than 4096 octets");
      }
      assertThat(answer("other")).isEqualTo("failed: unknown order");
      assertThat(upgrade).isNotNull();
    }
  }

  private String answer(String order) throws IOException {
    try (UnixSocket caller = UnixSocket.connect(directory.resolve("control").toString())) {
      caller.send(order, List.of());
      return caller.receive(MOST_BYTES).text();
    }
  }

  private static String filled(String end, int octets) {
    return "upgrade" + " ".repeat(octets - "upgrade".length() - end.length()) + end;
  }

  @ParameterizedTest
  @CsvSource({"x, 1024", "€, 1024", "x, 1025", "€, 1025", "€, 100000"})
  void aReasonReachesWhoHasOrderedHoweverLongItIs(String character, int length) throws IOException {
    String why = character.repeat(length);
    String told = length > 1_024 ? why.substring(0, 1_023) + "…" : why;
    Path path = directory.resolve("control");
    try (ControlSocket control =
        ControlSocket.open(path, (_, caller) -> caller.send(Upgrade.failure(why), List.of()))) {
      ControlSocket.publish(path, ProcessHandle.current().pid());
      assertThatThrownBy(() -> Upgrade.order(path)).hasMessage(told);
      assertThat(control).isNotNull();
    }
  }

  /** Of a later version, perhaps; the old process goes on and has its disk again. */
  @ParameterizedTest
  @CsvSource({
    "4096, it said yyy",
    "4097, cannot receive: a message of more than 4096 octets",
    "100000, cannot receive: a message of more than 4096 octets"
  })
  void aNewProcessThatSaysSomethingElseIsEnded(int octets, String why) throws IOException {
    Path path = directory.resolve("control");
    Successor successor = Successor.start(List.of("sleep", "1000"), path, Duration.ofSeconds(9));
    try (UnixSocket listening = UnixSocket.listen(path.toString());
        UnixSocket newOne = UnixSocket.connect(path.toString());
        UnixSocket caller = Objects.requireNonNull(listening.accept())) {
      newOne.send(Successor.CLAIM, List.of());
      newOne.send("y".repeat(octets), List.of());
      assertThatThrownBy(() -> successor.handOver(caller, new Idle())).hasMessageStartingWith(why);
    }
    assertThat(successor.isAlive()).isFalse();
    assertThat(hasTakenBack).isTrue();
    assertThat(hasSteppedBack).isFalse();
  }
}
