package io.kamille.launcher.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ApiPageTest {

  private static final Path PAGE = Path.of("../docs/reference/api.md");

  @Test
  void thePageHasEveryOperationAndProblemThatIsDeclared() throws Exception {
    String page = Files.readString(PAGE);
    assertThat(page).as("stale: run ./dev doc").isEqualTo(ApiPage.render(page));
  }
}
