package io.kamille.perf.option;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CommandsTest {

  private final List<Integer> counted = new ArrayList<>();
  private final Commands commands =
      new Commands(
          "play",
          List.of(
              new Command(
                  "count",
                  "counts",
                  Options.none().number("--to", 3, 1, 9, "the last number"),
                  chosen -> counted.add(chosen.number("--to"))),
              new Command("rest", "does nothing", Options.none(), chosen -> {})));

  @Test
  void theFirstWordNamesTheCommandAndTheOthersAreItsOptions() throws Exception {
    commands.run(List.of("count", "--to", "7"));
    commands.run(List.of("count"));
    assertThat(counted).containsExactly(7, 3);
  }

  @Test
  void whatIsNotUnderstoodIsSaid() {
    assertThatThrownBy(() -> commands.run(List.of("sing")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("unknown: sing (expected: count, rest)");
    assertThatThrownBy(() -> commands.run(List.of("count", "rest"))).hasMessageContaining("rest");
    assertThatThrownBy(() -> commands.run(List.of("--to", "7", "count")))
        .hasMessageContaining("--to");
  }

  @Test
  void helpHasACommandALineAndTheOptionsOfThoseThatHaveSome() {
    assertThat(commands.help())
        .isEqualTo(
            """
            ./dev play count     counts
            ./dev play rest      does nothing

            Options of count:
              --to N            the last number (default 3)
            """);
    assertThat(Commands.asksForHelp(List.of())).isTrue();
    assertThat(Commands.asksForHelp(List.of("-h"))).isTrue();
    assertThat(Commands.asksForHelp(List.of("count"))).isFalse();
  }

  @Test
  void whatTheFileSystemRefusesIsSaidInASentence() {
    assertThat(Commands.sentence(new AccessDeniedException("/there")))
        .isEqualTo("/there: access is denied");
    assertThat(Commands.sentence(new FileSystemException("/there")))
        .isEqualTo("/there: cannot be read or written");
    assertThat(Commands.sentence(new IOException("no more numbers"))).isEqualTo("no more numbers");
  }
}
