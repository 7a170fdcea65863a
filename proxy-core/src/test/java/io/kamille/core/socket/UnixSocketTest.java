package io.kamille.core.socket;

import static java.util.Collections.nCopies;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.socket.UnixSocket.Message;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Words and descriptors reach the other side, and the kernel says who that is. */
class UnixSocketTest {

  private static final int MOST_BYTES = 100;

  @TempDir private Path directory;

  @Test
  void aDescriptorThatIsPassedIsTheSameFile() throws IOException {
    String path = directory.resolve("socket").toString();
    try (UnixSocket listening = UnixSocket.listen(path);
        UnixSocket client = UnixSocket.connect(path);
        UnixSocket server = Objects.requireNonNull(listening.accept())) {
      int opened = Descriptors.copyOf(0);
      client.send("here", List.of(opened));
      Message message = server.receive(MOST_BYTES);
      assertThat(message.text()).isEqualTo("here");
      assertThat(message.descriptors()).hasSize(1);
      int copy = message.descriptors().getFirst();
      assertThat(target(copy)).isEqualTo(target(opened));
      Descriptors.close(copy);
      Descriptors.close(opened);
    }
  }

  private static Path target(int descriptor) throws IOException {
    return Files.readSymbolicLink(Path.of("/proc/self/fd", Integer.toString(descriptor)));
  }

  @Test
  void theKernelSaysWhoIsThere() throws IOException {
    String path = directory.resolve("socket").toString();
    try (UnixSocket listening = UnixSocket.listen(path);
        UnixSocket client = UnixSocket.connect(path);
        UnixSocket server = Objects.requireNonNull(listening.accept())) {
      assertThat(server.peer().processId()).isEqualTo((int) ProcessHandle.current().pid());
      assertThat(client.peer().userId())
          .isEqualTo(Files.getAttribute(directory.resolve("socket"), "unix:uid"));
    }
  }

  @Test
  void theEndOfTheStreamIsAnEmptyText() throws IOException {
    String path = directory.resolve("socket").toString();
    try (UnixSocket listening = UnixSocket.listen(path);
        UnixSocket client = UnixSocket.connect(path)) {
      Objects.requireNonNull(listening.accept()).close();
      assertThat(client.receive(MOST_BYTES).text()).isEmpty();
    }
  }

  @Test
  void nobodyIsWaitedForLongerThanTheTimeOut() throws IOException {
    String path = directory.resolve("socket").toString();
    try (UnixSocket listening = UnixSocket.listen(path)) {
      listening.timeout(Duration.ofMillis(1));
      assertThat(listening.accept()).isNull();
      try (UnixSocket client = UnixSocket.connect(path)) {
        client.timeout(Duration.ofMillis(1));
        assertThatThrownBy(() -> client.receive(MOST_BYTES)).hasMessageContaining("timed out");
      }
    }
  }

  @Test
  void whereNobodyListensIsAFailure() {
    String path = directory.resolve("none").toString();
    assertThatThrownBy(() -> UnixSocket.connect(path))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(path)
        .hasMessageContaining("no such file");
    assertThatThrownBy(() -> UnixSocket.connect("/" + "a".repeat(200)))
        .hasMessageContaining("longer");
  }

  @Test
  void aPathIsAsLongAsAnAddressHolds() throws IOException {
    String at = directory + "/" + "p".repeat(107 - directory.toString().length() - 1);
    try (UnixSocket listening = UnixSocket.listen(at);
        UnixSocket client = UnixSocket.connect(at)) {
      assertThat(client.peer()).isNotNull();
      assertThat(listening).isNotNull();
    }
    for (int beyond : new int[] {1, 5_000}) {
      assertThatThrownBy(() -> UnixSocket.listen(at + "q".repeat(beyond)))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("longer than the 107 octets of a socket's path");
    }
  }

  /** The kernel refuses more at once (unix(7)); what comes then is whole. */
  @Test
  void asManyDescriptorsAsTheKernelPassesAtOnce() throws IOException {
    String path = directory.resolve("socket").toString();
    try (UnixSocket listening = UnixSocket.listen(path);
        UnixSocket client = UnixSocket.connect(path);
        UnixSocket server = Objects.requireNonNull(listening.accept())) {
      for (int beyond : new int[] {1, 1_000}) {
        assertThatThrownBy(() -> client.send("x", nCopies(UnixSocket.MOST_DESCRIPTORS + beyond, 0)))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("cannot send");
      }
      client.send("all", nCopies(UnixSocket.MOST_DESCRIPTORS, 0));
      Message message = server.receive(MOST_BYTES);
      message.descriptors().forEach(Descriptors::close);
      assertThat(message.text()).isEqualTo("all");
      assertThat(message.descriptors())
          .hasSize(UnixSocket.MOST_DESCRIPTORS)
          .doesNotHaveDuplicates();
    }
  }

  /** Half an order could be another one. */
  @Test
  void aMessageThatIsTooLongIsLostAsAWhole() throws IOException {
    String path = directory.resolve("socket").toString();
    try (UnixSocket listening = UnixSocket.listen(path);
        UnixSocket client = UnixSocket.connect(path);
        UnixSocket server = Objects.requireNonNull(listening.accept())) {
      client.send("x".repeat(MOST_BYTES), List.of());
      assertThat(server.receive(MOST_BYTES).text()).isEqualTo("x".repeat(MOST_BYTES));
      for (int length : new int[] {MOST_BYTES + 1, 100_000}) {
        client.send("x".repeat(length), List.of(0));
        assertThatThrownBy(() -> server.receive(MOST_BYTES))
            .isInstanceOf(UnixSocket.TooLong.class)
            .hasMessage("cannot receive: a message of more than 100 octets");
        client.send("next", List.of());
        assertThat(server.receive(MOST_BYTES)).isEqualTo(new Message("next", List.of()));
      }
    }
  }
}
