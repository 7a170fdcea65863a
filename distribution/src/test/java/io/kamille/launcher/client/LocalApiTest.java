package io.kamille.launcher.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalApiTest {

  private static final int LIMIT = 16 << 20;

  @TempDir private Path directory;

  /** What comes of an answer of so many octets, of which so many are sent. */
  private LocalApi.Reply answered(int octets, int sent) throws IOException {
    Path path = directory.resolve("admin.sock");
    Files.deleteIfExists(path);
    String head = "HTTP/1.1 200 OK\r\nContent-Length: " + octets + "\r\n\r\n";
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(path));
      Thread.startVirtualThread(() -> answer(server, head + "x".repeat(sent)));
      return new LocalApi(directory).ask("GET", "/", Map.of(), null);
    }
  }

  private static void answer(ServerSocketChannel server, String text) {
    try (SocketChannel channel = server.accept()) {
      channel.read(ByteBuffer.allocate(10_000));
      ByteBuffer rest = ByteBuffer.wrap(text.getBytes(UTF_8));
      while (rest.hasRemaining()) {
        channel.write(rest);
      }
    } catch (IOException gone) {
      // Whoever asked has read enough.
    }
  }

  @Test
  void anAnswerThatBreaksOffIsNone() throws IOException {
    assertThat(answered(10, 10).content()).isEqualTo("x".repeat(10));
    assertThatIOException().isThrownBy(() -> answered(10, 9)).withMessage("the answer broke off");
  }

  @Test
  void anAnswerThatIsTooLongIsToldSo() throws IOException {
    assertThat(answered(LIMIT - 1_000, LIMIT - 1_000).content()).hasSize(LIMIT - 1_000);
    for (int beyond : new int[] {1, LIMIT}) {
      assertThatIOException()
          .isThrownBy(() -> answered(LIMIT + beyond, LIMIT + beyond))
          .withMessage("the answer is longer than 16 MiB");
    }
  }

  @Test
  void whereNobodyListensTheFileIsNamed() {
    assertThatIOException()
        .isThrownBy(() -> new LocalApi(directory).ask("GET", "/", Map.of(), null))
        .withMessageStartingWith(directory.resolve("admin.sock") + ": nobody answers (")
        .withMessageContaining("Is Kamille running?");
  }
}
