package io.kamille.launcher.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Only lines that picocli would take as they are go past it. */
class ServiceCommandTest {

  @TempDir private Path directory;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "run",
        "check",
        "version",
        "run --help",
        "run --config",
        "run --config= ",
        "run --config --help",
        "run --config a --config b",
        "run --config a --listen :0 --origin http://b",
        "run --listen :0",
        "run --listen :0 --origin http://b --unknown 1",
        "check --listen :0 --origin http://b",
        "check --config a b",
        "demo --listen :0 --origin http://b"
      })
  void whateverIsNotCertainlyGoodIsLeftToPicocli(String line) {
    assertThat(ServiceCommand.execute(line.split(" ", -1))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"--config %s", "-c %s", "--config=%s"})
  void aFileIsCheckedHoweverItIsNamed(String words) throws IOException {
    Path file =
        Files.writeString(
            directory.resolve("kamille.yaml"),
            """
            listeners: [':0']
            upstreams: {a: {origins: ['http://b']}}
            routes: [{upstream: a}]
            """);
    String line = "check " + words.replace("%s", file.toString());
    assertThat(ServiceCommand.execute(line.split(" ", -1))).isEqualTo(OptionalInt.of(ExitCode.OK));
    Files.writeString(file, "listeners: nonsense\n");
    assertThat(ServiceCommand.execute(line.split(" ", -1)))
        .isEqualTo(OptionalInt.of(ExitCode.CONFIGURATION));
  }

  @Test
  void aMissingFileIsTheSameHereAndThere() {
    String[] line = {"run", "--config", directory.resolve("missing").toString()};
    assertThat(ServiceCommand.execute(line)).isEqualTo(OptionalInt.of(ExitCode.UNREADABLE));
    assertThat(KamilleCommand.execute(line)).isEqualTo(ExitCode.UNREADABLE);
  }
}
