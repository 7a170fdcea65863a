package io.kamille.launcher.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.cache.purge.RemovalListener;
import io.kamille.cache.tiers.KeptMemory;
import io.kamille.core.Await;
import io.kamille.core.socket.UnixSocket;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who may give an order, and what becomes of one that hangs. */
class UpgradeTest {

  private static final int MOST_BYTES = 200;

  @TempDir private Path directory;
  private final AtomicBoolean hasSteppedBack = new AtomicBoolean();

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
    public @Nullable KeptMemory memory() {
      return null;
    }

    @Override
    public void takeBack(Consumer<RemovalListener> meanwhile) {}

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
}
