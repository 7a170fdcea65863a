package io.kamille.launcher.configuration;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class SettingsReferenceTest {

  private static final Path PAGE = Path.of("..", "docs", "reference", "settings.md");

  @Test
  void theCommittedPageIsCurrent() throws IOException {
    String page = Files.exists(PAGE) ? Files.readString(PAGE) : "";
    assertThat(page)
        .as("docs/reference/settings.md is out of date. Write it anew with: ./dev doc")
        .isEqualTo(SettingsReference.render());
  }
}
