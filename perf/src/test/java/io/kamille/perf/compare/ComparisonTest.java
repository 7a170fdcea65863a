package io.kamille.perf.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.perf.peer.Peer;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class ComparisonTest {

  private final RequestComparison hits = RequestComparison.ofHits();

  private List<String> wanted(String... words) {
    new CommandLine(hits).parseArgs(words);
    return hits.wanted(List.of("kamille", "nginx")).stream().map(Peer::label).toList();
  }

  @Test
  void theUsualServersAreWantedUnlessSomeAreNamed() {
    assertThat(wanted()).containsExactly("kamille", "nginx");
    assertThat(wanted("--only", "floor,apache")).containsExactly("floor", "apache");
  }

  @Test
  void anotherBuildOfKamilleJoins() {
    assertThat(wanted("--kamille-before", "/there")).containsExactly("kamille", "nginx", "before");
  }

  @Test
  void aServerThatNobodyKnowsIsRefused() {
    assertThatThrownBy(() -> wanted("--only", "iis")).hasMessageContaining("haproxy");
  }
}
