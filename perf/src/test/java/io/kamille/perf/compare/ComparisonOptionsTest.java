package io.kamille.perf.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class ComparisonOptionsTest {

  private static ComparisonOptions parse(String... words) {
    return ComparisonOptions.REQUESTS.parse(List.of(words));
  }

  @Test
  void withoutWordsItIsMeasuredProperly() {
    assertThat(parse()).isEqualTo(new ComparisonOptions(7, 3, 64, List.of(), null));
  }

  @Test
  void everyWordHasItsEffect() {
    assertThat(parse("--rounds", "9", "--seconds", "5", "--connections", "200"))
        .isEqualTo(new ComparisonOptions(9, 5, 200, List.of(), null));
    assertThat(parse("--only", "floor,kamille", "--record", "2026-11-21-hit"))
        .isEqualTo(new ComparisonOptions(7, 3, 64, List.of("floor", "kamille"), "2026-11-21-hit"));
  }

  @Test
  void whatIsNotUnderstoodIsNamed() {
    assertThatThrownBy(() -> parse("--fast")).hasMessage("unknown option --fast");
    assertThatThrownBy(() -> parse("--rounds")).hasMessage("--rounds: nothing behind it");
    assertThatThrownBy(() -> parse("--rounds", "0"))
        .hasMessageStartingWith("--rounds: 0 (expected");
    assertThatThrownBy(() -> parse("--only", "floor,iis")).hasMessageStartingWith("--only: iis");
  }

  @Test
  void aRecordStaysInItsDirectory() {
    assertThatThrownBy(() -> parse("--record", "../hit"))
        .hasMessageStartingWith("--record: ../hit");
  }
}
