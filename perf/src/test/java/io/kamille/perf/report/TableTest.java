package io.kamille.perf.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class TableTest {

  @Test
  void columnsLineUpAndAreMarkdown() {
    var table =
        new Table("server", "µs").row(List.of("floor", "5.8")).row(List.of("nginx", "12.4"));
    assertThat(table)
        .hasToString(
            """
            | server |   µs |
            |:-------|-----:|
            | floor  |  5.8 |
            | nginx  | 12.4 |
            """);
  }

  @Test
  void aRowHasACellForEveryTitle() {
    var table = new Table("server", "µs");
    assertThatThrownBy(() -> table.row(List.of("floor")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("cells: 1 (expected: 2)");
  }
}
