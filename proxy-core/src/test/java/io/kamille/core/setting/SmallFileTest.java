package io.kamille.core.setting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(10)
class SmallFileTest {

  private static final int LIMIT = 8;

  @TempDir private Path directory;

  @Test
  void aFileUpToTheLimitIsRead() throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "12345678");
    assertThat(SmallFile.read(file, LIMIT)).asString().isEqualTo("12345678");
    Files.writeString(file, "123456789");
    assertThatIOException()
        .isThrownBy(() -> SmallFile.read(file, LIMIT))
        .withMessage("more than 8");
  }

  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aPipeIsNotOpened() throws Exception {
    Path pipe = directory.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    Path link = Files.createSymbolicLink(directory.resolve("link"), pipe);
    assertThatIOException()
        .isThrownBy(() -> SmallFile.read(link, LIMIT))
        .withMessage("it is no regular file");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/dev/zero", "/dev/stdin", "/tmp", "/proc/self/fd"})
  void nothingButARegularFileIsRead(String path) {
    assertThatIOException().isThrownBy(() -> SmallFile.read(Path.of(path), LIMIT));
  }

  @Test
  void aFileOfTheKernelWhichHasNoLengthIsEmpty() throws IOException {
    assertThat(SmallFile.read(Path.of("/proc/kmsg"), LIMIT)).isEmpty();
  }

  @Test
  void noPermissionIsNotNoSuchFile() {
    assertThat(Problems.reason(new AccessDeniedException("f")))
        .isEqualTo("no permission to read it");
    assertThat(Problems.reason(new NoSuchFileException("f"))).isEqualTo("no file of this name");
  }

  @Test
  void textIsUtf8WithOrWithoutAByteOrderMark() throws IOException {
    assertThat(SmallFile.text("\uFEFFjörg".getBytes(StandardCharsets.UTF_8))).isEqualTo("jörg");
    assertThatIOException()
        .isThrownBy(() -> SmallFile.text("a\nb\njörg".getBytes(StandardCharsets.ISO_8859_1)))
        .withMessage("line 3: expected: UTF-8 text");
    assertThatIOException()
        .isThrownBy(() -> SmallFile.text("cut é".substring(0, 5).getBytes(StandardCharsets.UTF_16)))
        .withMessage("line 1: expected: UTF-8 text");
  }
}
