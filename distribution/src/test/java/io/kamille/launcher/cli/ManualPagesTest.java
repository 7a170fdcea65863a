package io.kamille.launcher.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every command has a page in the language of man. */
class ManualPagesTest {

  @TempDir private Path directory;

  @Test
  void everyCommandHasAPageWithItsOptions() throws IOException {
    ManualPages.main(new String[] {directory.toString(), "2026-11-01"});
    try (Stream<Path> pages = Files.list(directory)) {
      assertThat(pages.map(page -> page.getFileName().toString()))
          .contains("kamille.1", "kamille-run.1", "kamille-check.1", "kamille-upgrade.1")
          .doesNotContain("kamille-help.1");
    }
    assertThat(Files.readAllLines(directory.resolve("kamille-check.1")))
        .contains(".B \\-c, \\-\\-config FILE", "The configuration file.");
    assertThat(Files.readString(directory.resolve("kamille.1")))
        .contains(".SH COMMANDS", ".B run", ".SH EXIT STATUS");
  }

  @Test
  void noLineOfTextIsTakenForARequest() throws IOException {
    ManualPages.main(new String[] {directory.toString(), "2026-11-01"});
    List<String> requests = List.of(".TH", ".SH", ".TP", ".B", ".BR", ".nf", ".fi");
    try (Stream<Path> pages = Files.list(directory)) {
      for (Path page : pages.toList()) {
        assertThat(Files.readAllLines(page))
            .allMatch(
                line ->
                    !line.startsWith("'")
                        && (!line.startsWith(".") || requests.contains(line.split(" ", 2)[0])));
      }
    }
  }
}
