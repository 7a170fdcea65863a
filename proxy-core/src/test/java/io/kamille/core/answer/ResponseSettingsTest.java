package io.kamille.core.answer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResponseSettingsTest {

  @TempDir private Path directory;

  @Test
  void aFileThatCannotBeReadIsNamedWithTheReason() throws IOException {
    Path file = directory.resolve("page.html");
    assertThatIOException()
        .isThrownBy(() -> ResponseSettings.content(file, ""))
        .withMessage(file + ": no file of this name");
    assertThatIOException()
        .isThrownBy(() -> ResponseSettings.content(directory, ""))
        .withMessage(directory + ": it is no regular file");
    Files.writeString(file, "<p>");
    assertThat(ResponseSettings.content(file, "")).asString().isEqualTo("<p>");
  }
}
