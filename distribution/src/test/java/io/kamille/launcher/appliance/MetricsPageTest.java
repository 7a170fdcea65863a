package io.kamille.launcher.appliance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class MetricsPageTest {

  private static final Path PAGE = Path.of("..", "docs", "reference", "metrics.md");

  @Test
  void theCommittedPageIsCurrent() throws Exception {
    String page = Files.exists(PAGE) ? Files.readString(PAGE) : "";
    assertThat(page)
        .as("docs/reference/metrics.md is out of date. Write it anew with: ./dev doc")
        .isEqualTo(MetricsPage.render());
  }
}
