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
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
  void aPathOfTwoThousandSegmentsCostsAFewLooks() throws IOException {
    written("a.txt", "AAAA", 1);
    Files.createSymbolicLink(directory.resolve("loop"), Path.of("loop"));
    List<Path> looks = new ArrayList<>();
    RootDirectory root = new RootDirectory(directory, new Looking(looks));
    String below = "/x".repeat(1_900);
    assertThat(root.find("none" + below, 0, true)).isInstanceOf(Found.Missing.class);
    assertThat(looks).as("what is missing is known at once").isEmpty();
    assertThat(root.find("a.txt" + below, 0, true)).isInstanceOf(Found.Missing.class);
    assertThat(root.find("loop" + below, 0, true)).isInstanceOf(Found.Trouble.class);
    assertThat(looks).hasSizeBetween(1, 24);
  }

  /** Of Linux: PATH_MAX, with the octet that ends it. */
  @Test
  void aPathIsFoundUpToTheLongestAndMissingBeyond() throws IOException {
    Path top = directory.toRealPath();
    StringBuilder deep = new StringBuilder();
    while (top.toString().length() + deep.length() < 4_095 - 300) {
      deep.append("d".repeat(200)).append('/');
    }
    Files.createDirectories(top.resolve(deep.toString()));
    String longest = deep + "f".repeat(4_095 - top.toString().length() - 1 - deep.length());
    written(longest, "AAAA", 1);
    RootDirectory root = new RootDirectory(top);
    assertThat(root.find(longest, 0, true)).isInstanceOf(Found.File.class);
    assertThat(root.find(longest + "f", 0, true)).isInstanceOf(Found.Missing.class);
    assertThat(root.find(longest + "/f".repeat(9_000), 0, true)).isInstanceOf(Found.Missing.class);
  }

  private record Looking(List<Path> looks) implements RootDirectory.Opener {

    @Override
    public FileChannel open(Path file) throws IOException {
      return FileChannel.open(file);
    }

    @Override
    public boolean exists(Path file) {
      looks.add(file);
      return Files.exists(file);
    }
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

  @ParameterizedTest
  @ValueSource(longs = {0, 1, -5, 1_000_000_000, 9_300_000_000L})
  void aFileWithTheSameTimeAndLengthButOtherContentHasAnotherTag(long second) throws Exception {
    Path file = written("a.txt", "AAAA", second);
    String before = tag("a.txt");
    assertThat(tag("a.txt")).isEqualTo(before);
    Path next = written("next", "BBBB", second);
    assertThat(tag("next")).isNotEqualTo(before);
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    assertThat(tag("a.txt")).isNotEqualTo(before);
  }

  /** A deployment swaps the link; both releases have the same dates. */
  @Test
  void eachReleaseBehindASwappedLinkHasItsOwnTags() throws IOException {
    Files.createDirectories(directory.resolve("r1"));
    Files.createDirectories(directory.resolve("r2"));
    written("r1/a.txt", "AAAA", 1);
    written("r2/a.txt", "BBBB", 1);
    Path link = Files.createSymbolicLink(directory.resolve("current"), Path.of("r1"));
    RootDirectory root = new RootDirectory(link);
    String before = ((Found.File) root.find("a.txt", 0, true)).facts().entityTag();
    Files.delete(link);
    Files.createSymbolicLink(link, Path.of("r2"));
    assertThat(((Found.File) root.find("a.txt", 0, true)).facts().entityTag()).isNotEqualTo(before);
  }

  private String tag(String name) {
    return ((Found.File) new RootDirectory(directory).find(name, 0, false)).facts().entityTag();
  }

  private static ByteBuffer content(Found.File file) {
    return Objects.requireNonNull(file.content());
  }

  private Path written(String name, String content, long second) throws IOException {
    Path file = Files.writeString(directory.resolve(name), content);
    return Files.setLastModifiedTime(file, FileTime.fromMillis(second * 1_000L));
  }
}
