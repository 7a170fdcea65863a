package io.kamille.perf.peer;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class TemplateTest {

  private static final Place PLACE = new Place(Job.HIT, 8080, 9000, 64);

  static Stream<Peer> peers() {
    return Stream.concat(
        Stream.of(Kamille.by("kamille", Path.of("bin/kamille"))), Arrays.stream(Daemon.values()));
  }

  @Test
  void pacingIsLeftToItsDefaultUnlessAWayIsNamed(@TempDir Path directory) throws Exception {
    var kamille = Kamille.by("kamille", Path.of("bin/kamille"));
    kamille.prepare(directory, PLACE);
    Path file = directory.resolve("kamille.yaml");
    assertThat(file).content().doesNotContain("engine:");
    kamille.withPacing("500us").prepare(directory, PLACE);
    assertThat(file).content().endsWith("engine:\n  pacing: 500us\n");
  }

  @Test
  void metricsAreToldWhereAPortIsNamedForThem(@TempDir Path directory) throws Exception {
    var kamille = Kamille.by("kamille", Path.of("bin/kamille"));
    Path file = directory.resolve("kamille.yaml");
    kamille.prepare(directory, PLACE);
    assertThat(file).content().contains("admin:\n  address: off\n");
    kamille.withMetrics(9090).prepare(directory, PLACE);
    assertThat(file)
        .content()
        .contains("admin:\n  address: 127.0.0.1:9090\n  token-file: " + directory + "/token\n");
  }

  @Test
  void twoBuildsAtOnceDoNotShareTheirState(@TempDir Path directory) throws Exception {
    assertThat(Kamille.by("before", Path.of("bin/kamille")).prepare(directory, PLACE))
        .startsWith("env", "STATE_DIRECTORY=" + directory);
  }

  @Test
  void theOriginMayBeAskedForMoreThanTheDefaultAtOnce(@TempDir Path directory) throws Exception {
    Kamille.by("kamille", Path.of("bin/kamille")).prepare(directory, PLACE);
    assertThat(directory.resolve("kamille.yaml")).content().contains("    max-connections: 8192\n");
  }

  @Test
  void aLineStandsThereIfItsWordHolds(@TempDir Path directory) {
    String template =
        """
        [hit mix] stored
        [mix] mixed
        [tls] secret
        [clear] plain\
        """;
    assertThat(Template.fill(template, directory.resolve("x"), PLACE)).isEqualTo("stored\nplain");
  }

  @ParameterizedTest
  @MethodSource("peers")
  void noPlaceStaysEmpty(Peer peer, @TempDir Path directory) throws Exception {
    for (Job job : Job.values()) {
      List<String> command = peer.prepare(directory, new Place(job, 8080, 9000, 64));
      try (var files = Files.list(directory)) {
        var text = new StringBuilder(command.toString());
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          text.append(Files.readString(file));
        }
        assertThat(text).contains("8080").doesNotContain("%").doesNotContain("\n[");
      }
    }
  }
}
