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

  private @Nullable String look() throws IOException {
    return files.look(() -> Files.readString(one) + Files.readString(other));
  }

  @Test
  void theyAreReadOnceUntilOneChanges() throws IOException {
    assertThat(look()).isEqualTo("12");
    assertThat(look()).isNull();
    Files.writeString(other, "34");
    assertThat(look()).isEqualTo("134");
    assertThat(look()).isNull();
  }

  @Test
  void aFileOfTheSameLengthAndTimeIsAnotherOne() throws IOException {
    look();
    FileTime time = Files.getLastModifiedTime(one);
    Path next = Files.writeString(directory.resolve("next"), "5");
    Files.setLastModifiedTime(next, time);
    Files.move(next, one, StandardCopyOption.REPLACE_EXISTING);
    assertThat(look()).isEqualTo("52");
  }

  @Test
  void anotherModeIsAChange() throws IOException {
    look();
    Files.setPosixFilePermissions(one, PosixFilePermissions.fromString("rw-------"));
    assertThat(files.isChanged()).isTrue();
  }

  @Test
  void aReadingThatFailedIsRepeated() throws IOException {
    look();
    Files.writeString(one, "34");
    assertThatIOException()
        .isThrownBy(
            () ->
                files.look(
                    () -> {
                      throw new IOException("too many open files");
                    }));
    assertThat(look()).isEqualTo("342");
    files.forget();
    assertThat(look()).isEqualTo("342");
  }

  @Test
  void aFileThatIsGoneCountsAsChanged() throws IOException {
    look();
    Files.delete(one);
    assertThat(files.isChanged()).isTrue();
    files.read(() -> "as if it were there");
    assertThat(files.isChanged()).isTrue();
  }

  @Test
  void aChangeWhileTheyAreReadShowsAtTheNextLook() throws IOException {
    files.look(() -> Files.writeString(one, "changed"));
    assertThat(look()).isEqualTo("changed2");
  }

  @Test
  void noFilesNeverChangeOnceTheyAreRead() throws IOException {
    var none = new WatchedFiles(List.of());
    assertThat(none.look(() -> "read")).isEqualTo("read");
    assertThat(none.look(() -> "read")).isNull();
    none.forget();
    assertThat(none.look(() -> "read")).isEqualTo("read");
  }
}
