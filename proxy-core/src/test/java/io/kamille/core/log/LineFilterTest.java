package io.kamille.core.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.ExchangeNotes;
import io.kamille.core.exchange.Failure;
import io.kamille.core.log.AccessLogSettings.Only;
import io.kamille.core.setting.Sections;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class LineFilterTest {

  private static final AccessLogSettings USUAL = AccessLogSettings.SECTION.defaults();

  private final ExchangeNotes notes = new ExchangeNotes();

  private static LineFilter filter(Only only, double sample) {
    return new LineFilter(
        Sections.copy(USUAL)
            .with("isEnabled", true)
            .with("only", only)
            .with("sample", sample)
            .record(),
        42);
  }

  @Test
  void everythingHasALineWithoutAnySetting() {
    assertThat(filter(USUAL.only(), 1).takes(notes, 200, 0)).isTrue();
  }

  @Test
  void oneConditionIsEnough() {
    LineFilter filter = filter(new Only(List.of("404", "5xx"), Duration.ofSeconds(1), false), 1);
    assertThat(filter.takes(notes, 200, 1_000_000_000)).isFalse();
    assertThat(filter.takes(notes, 200, 1_000_000_001)).isTrue();
    assertThat(filter.takes(notes, 404, 0)).isTrue();
    assertThat(filter.takes(notes, 403, 0)).isFalse();
    assertThat(filter.takes(notes, 503, 0)).isTrue();
    notes.failure(Failure.of(Failure.Kind.CLIENT_GONE, "gone"));
    assertThat(filter.takes(notes, 200, 0)).isFalse();
    assertThat(filter(new Only(List.of(), null, true), 1).takes(notes, 200, 0)).isTrue();
  }

  @Test
  void aSampleKeepsItsShareAndAllFailures() {
    LineFilter filter = filter(USUAL.only(), 0.1);
    int kept = 0;
    for (int i = 0; i < 10_000; i++) {
      kept += filter.takes(notes, 200, 0) ? 1 : 0;
      assertThat(filter.takes(notes, 502, 0)).isTrue();
    }
    assertThat(kept).isBetween(900, 1100);
  }

  @Test
  void aRouteWithoutLogHasNoLine() {
    notes.unlogged();
    assertThat(filter(USUAL.only(), 1).takes(notes, 500, 0)).isFalse();
  }
}
