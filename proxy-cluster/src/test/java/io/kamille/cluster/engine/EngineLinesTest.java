package io.kamille.cluster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class EngineLinesTest {

  @Test
  void aLongLineIsCutAndShowsIt() {
    String whole = "t".repeat(EngineLines.LINE_LIMIT);
    assertThat(EngineLines.line(whole + "\nmore", null)).isEqualTo(whole);
    String cut = whole.substring(1) + "…";
    assertThat(EngineLines.line(whole + "t", null)).isEqualTo(cut);
    assertThat(EngineLines.line(whole.repeat(1_000), null)).isEqualTo(cut);
    assertThat(EngineLines.line("", null)).isEmpty();
  }

  @Test
  void soIsTheReason() {
    assertThat(EngineLines.line("cannot send", new IOException("closed")))
        .isEqualTo("cannot send: closed");
    assertThat(EngineLines.line("cannot send", new IOException("r".repeat(100_000))))
        .startsWith("cannot send: r")
        .endsWith("r…")
        .hasSize(EngineLines.LINE_LIMIT);
  }
}
