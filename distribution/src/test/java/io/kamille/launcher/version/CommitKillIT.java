package io.kamille.launcher.version;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A process that dies at a step of a commit, and what the next one finds. */
class CommitKillIT {

  private static final String BEFORE =
      """
      listeners: ["127.0.0.1:8080"]
      upstreams: {web: {origins: ["http://127.0.0.1:9000"]}}
      routes: [{upstream: web}]
      """;
  private static final String AFTER = BEFORE + "limits: {head-size: 50KiB}\n";

  @TempDir private Path directory;

  @ParameterizedTest
  @CsvSource({"PREPARED, false", "APPLIED, false", "RENAMED, true"})
  void theFileIsTheOldOneOrTheNewOneAndIsTakenIn(CommitUntil.Step step, boolean isNew)
      throws Exception {
    Path file = Files.writeString(directory.resolve("kamille.yaml"), BEFORE);
    Path next = Files.writeString(directory.resolve("next.yaml"), AFTER);
    assertThat(commit(file, next, step)).as("ended at its step").isZero();
    assertThat(file).hasContent(isNew ? AFTER : BEFORE);
    ConfigControl started = opened(file);
    assertThat(started.text()).isEqualTo(isNew ? AFTER : BEFORE);
    assertThat(started.versions()).hasSize(isNew ? 2 : 1);
    assertThat(started.versions()).extracting(ConfigVersion::by).containsOnly("file");
    started.commit(new ChangeOrder("b", "", null, null, null), started.text() + "# again\n");
    assertThat(file).content().endsWith("# again\n");
  }

  private static int commit(Path file, Path next, CommitUntil.Step step)
      throws IOException, InterruptedException {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            CommitUntil.class.getName(),
            file.toString(),
            next.toString(),
            step.name());
    return new ProcessBuilder(command).inheritIO().start().waitFor();
  }

  private static ConfigControl opened(Path file) throws IOException {
    return ConfigControlTest.opened(
        file,
        true,
        new CommitUntil.Killer(CommitUntil.Step.DONE),
        (_, _) -> () -> {},
        InstantSource.system());
  }
}
