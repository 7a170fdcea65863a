package io.kamille.core.answer;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.answer.RootDirectory.Found;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RootDirectoryTest {

  @TempDir private Path directory = Path.of("");

  @Test
  void aFileSystemThatFailsIsTroubleAndNoMissingFile() {
    Path broken =
        (Path)
            Proxy.newProxyInstance(
                Path.class.getClassLoader(),
                new Class<?>[] {Path.class},
                (proxy, method, arguments) -> {
                  throw new FileSystemException("/mnt", null, "Stale file handle");
                });
    assertThat(new RootDirectory(broken).find("a.txt", 0, true))
        .isEqualTo(new Found.Trouble("Stale file handle"));
  }

  @Test
  void aLinkThatLeadsToItselfIsTrouble() throws IOException {
    Files.createSymbolicLink(directory.resolve("loop"), Path.of("loop"));
    assertThat(new RootDirectory(directory).find("loop", 0, true))
        .isInstanceOf(Found.Trouble.class);
  }

  @Test
  void aFileThatIsReplacedBeforeItIsOpenedComesWithItsOwnTag() throws IOException {
    Path file = written("a.txt", "old", 1);
    Path next = written("next", "new", 2);
    RootDirectory root =
        new RootDirectory(
            directory,
            opened -> {
              if (Files.exists(next)) {
                Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
              }
              return FileChannel.open(opened);
            });
    Found.File found = (Found.File) root.find("a.txt", 0, true);
    assertThat(US_ASCII.decode(content(found)).toString()).isEqualTo("new");
    assertThat(found.facts().modifiedSeconds()).isEqualTo(2);
  }

  private static ByteBuffer content(Found.File file) {
    return Objects.requireNonNull(file.content());
  }

  private Path written(String name, String content, int second) throws IOException {
    Path file = Files.writeString(directory.resolve(name), content);
    return Files.setLastModifiedTime(file, FileTime.fromMillis(second * 1_000L));
  }
}
