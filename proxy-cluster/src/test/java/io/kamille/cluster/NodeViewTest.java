package io.kamille.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cluster.current.Report;
import java.util.List;
import org.junit.jupiter.api.Test;

class NodeViewTest {

  private static NodeView of(int level) {
    return new NodeView("a", "member", true, false, true, 0, 0, false, "", level, "", 1);
  }

  @Test
  void nothingIsWrittenThatTheOldestNodeCannotRead() {
    assertThat(NodeView.lowestLevel(List.of(of(5), of(4), of(5)))).isEqualTo(4);
    assertThat(NodeView.lowestLevel(List.of(of(5), of(5)))).isEqualTo(5);
  }

  @Test
  void whoHasSaidNothingMayBeTheOldest() {
    assertThat(NodeView.lowestLevel(List.of(of(5), of(0)))).isEqualTo(Report.OLDEST_LEVEL);
  }
}
