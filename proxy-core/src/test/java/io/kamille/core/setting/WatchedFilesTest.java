package io.kamille.core.setting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WatchedFilesTest {

  @TempDir private Path directory;
  private Path one;
  private Path other;
  private WatchedFiles files;

  @BeforeEach
  void write() throws IOException {
    one = Files.writeString(directory.resolve("one"), "1");
    other = Files.writeString(directory.resolve("other"), "2");
    files = new WatchedFiles(List.of(one, other, one));
  }

  private @Nullable String poll() throws IOException {
    return files.poll(() -> Files.readString(one) + Files.readString(other));
  }

  @Test
  void theyAreReadOnceUntilOneChanges() throws IOException {
    assertThat(poll()).isEqualTo("12");
    assertThat(poll()).isNull();
    Files.writeString(other, "34");
    assertThat(poll()).isEqualTo("134");
    assertThat(poll()).isNull();
  }

  @Test
  void aFileOfTheSameLengthAndTimeIsAnotherOne() throws IOException {
    poll();
    FileTime time = Files.getLastModifiedTime(one);
    Path next = Files.writeString(directory.resolve("next"), "5");
    Files.setLastModifiedTime(next, time);
    Files.move(next, one, StandardCopyOption.REPLACE_EXISTING);
    assertThat(poll()).isEqualTo("52");
  }

  @Test
  void anotherModeIsAChange() throws IOException {
    poll();
    Files.setPosixFilePermissions(one, PosixFilePermissions.fromString("rw-------"));
    assertThat(files.isChanged()).isTrue();
  }

  @Test
  void aReadingThatFailedIsRepeated() throws IOException {
    poll();
    Files.writeString(one, "34");
    assertThatIOException()
        .isThrownBy(
            () ->
                files.poll(
                    () -> {
                      throw new IOException("too many open files");
                    }));
    assertThat(poll()).isEqualTo("342");
    files.forget();
    assertThat(poll()).isEqualTo("342");
  }

  @Test
  void aFileThatIsGoneCountsAsChanged() throws IOException {
    poll();
    Files.delete(one);
    assertThat(files.isChanged()).isTrue();
    files.read(() -> "as if it were there");
    assertThat(files.isChanged()).isTrue();
  }

  @Test
  void aChangeWhileTheyAreReadShowsAtTheNextLook() throws IOException {
    files.poll(() -> Files.writeString(one, "changed"));
    assertThat(poll()).isEqualTo("changed2");
  }

  @Test
  void noFilesNeverChangeOnceTheyAreRead() throws IOException {
    var none = new WatchedFiles(List.of());
    assertThat(none.poll(() -> "read")).isEqualTo("read");
    assertThat(none.poll(() -> "read")).isNull();
    none.forget();
    assertThat(none.poll(() -> "read")).isEqualTo("read");
  }
}
