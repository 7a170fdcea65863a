package io.kamille.launcher.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** How long a purge waits for its count, against an API that counts for as long as it likes. */
class PurgeCommandTest {

  @TempDir private Path directory;
  private ServerSocketChannel server;
  private final AtomicInteger looks = new AtomicInteger();
  // Volatile: set by the test, read by the thread that answers.
  private volatile int needed;

  @BeforeEach
  void open() throws IOException {
    server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    server.bind(UnixDomainSocketAddress.of(directory.resolve("admin.sock")));
    Thread.startVirtualThread(this::serve);
  }

  @AfterEach
  void close() throws IOException {
    server.close();
  }

  private void serve() {
    ByteBuffer request = ByteBuffer.allocate(10_000);
    while (server.isOpen()) {
      request.clear();
      try (SocketChannel caller = server.accept()) {
        caller.read(request);
        caller.write(ByteBuffer.wrap(answer(request.get(0) == 'G').getBytes(UTF_8)));
      } catch (IOException closed) {
        return;
      }
    }
  }

  private String answer(boolean isLook) {
    int look = isLook ? looks.incrementAndGet() : 0;
    String state = look < needed ? "sweeping" : "done";
    String purge = "{\"id\":7,\"state\":\"" + state + "\",\"purged\":3,\"matched\":3}";
    String content = isLook ? "{\"purges\":[" + purge + "]}" : purge;
    return "HTTP/1.1 200 OK\r\nContent-Length: " + content.length() + "\r\n\r\n" + content;
  }

  @ParameterizedTest
  @CsvSource({
    "--soft, 1, 1, purge 7: 3 responses made stale",
    "--soft, 40, 40, purge 7: 3 responses made stale",
    "--soft, 41, 40, 'purge 7: in force, memory comes free soon'",
    "--soft, 1000000, 40, 'purge 7: in force, memory comes free soon'",
    "--dry-run, 200, 200, 3 responses would be removed",
    "--dry-run, 201, 200, still counting",
    "--dry-run, 1000000, 200, still counting"
  })
  void whoWaitsForACountIsToldInTheEndThatItGoesOn(
      String option, int lookNeeded, int looksMade, String told) {
    needed = lookNeeded;
    PurgeCommand command = new PurgeCommand();
    command.pauseMillis = 0;
    StringWriter out = new StringWriter();
    int code =
        new CommandLine(command)
            .setOut(new PrintWriter(out))
            .execute("--all", option, "--state", directory.toString());
    assertThat(code).isZero();
    assertThat(out).hasToString(told + "\n");
    assertThat(looks).hasValue(looksMade);
  }
}
