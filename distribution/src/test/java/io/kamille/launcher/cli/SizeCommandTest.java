package io.kamille.launcher.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code kamille size} answers, and with which exit code. */
class SizeCommandTest {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void aLoadIsAnsweredWithLoopsMemoryAndConnections() {
    assertThat(
            size("--rate", "100000", "--object", "1KiB", "--hit-ratio", "75%", "--stored", "1e6"))
        .isZero();
    assertThat(out.toString())
        .contains(
            "loops          2 (1 to 4)", "11.7 µs", "1,000,000 stored responses of 1,536 octets")
        .contains("300,000 of clients, 2,501 to origins");
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void memoryIsToldPerResponseUnlessTheirNumberIsKnown() {
    assertThat(size("--rate", "10", "--object", "1000", "--hit-ratio", "1")).isZero();
    assertThat(out.toString()).contains("1,536 octets for each stored response");
  }

  @ParameterizedTest
  @CsvSource({
    "0, 1KiB, 0.5, --rate",
    "many, 1KiB, 0.5, --rate",
    "NaN, 1KiB, 0.5, --rate",
    "10, large, 0.5, --object",
    "10, 1KiB, 1.5, --hit-ratio",
    "10, 1KiB, 150%, --hit-ratio",
    "10, 1KiB, -1, --hit-ratio"
  })
  void whatIsNoLoadIsNamedByItsOption(String rate, String object, String hits, String option) {
    assertThat(size("--rate=" + rate, "--object=" + object, "--hit-ratio=" + hits)).isEqualTo(64);
    assertThat(err.toString()).startsWith("kamille: " + option + ": ");
  }

  @Test
  void aLoadThatIsNotSaidIsAskedFor() {
    assertThat(size("--rate", "10", "--object", "1KiB")).isEqualTo(64);
    assertThat(err.toString()).startsWith("kamille: --hit-ratio is missing");
    assertThat(size()).isEqualTo(64);
  }

  private int size(String... words) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    var arguments = new ArrayList<>(List.of("size"));
    arguments.addAll(List.of(words));
    return KamilleCommand.commandLine()
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(arguments.toArray(String[]::new));
  }
}
