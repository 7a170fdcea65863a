package io.kamille.perf.option;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class OptionsTest {

  private static final Options OPTIONS =
      Options.none()
          .number("--rounds", 7, 1, 100, "how often")
          .number("--seconds", 3, 1, 100, "how long")
          .shortcut("--quick", "--rounds 2 --seconds 1", "quickly")
          .names("--only", List.of("floor"), List.of("floor", "kamille"), "these")
          .texts("--loads", "A,B", List.of(), Pattern.compile("[0-9]"), "loads")
          .text("--record", "NAME", "", Options.FILE_NAME, "keep it")
          .flag("--rude", "do not wait");

  private static Chosen parse(String... words) {
    return OPTIONS.parse(List.of(words));
  }

  @Test
  void withoutWordsTheUsualHolds() {
    Chosen chosen = parse();
    assertThat(chosen.number("--rounds")).isEqualTo(7);
    assertThat(chosen.texts("--only")).containsExactly("floor");
    assertThat(chosen.texts("--loads")).isEmpty();
    assertThat(chosen.textOrNull("--record")).isNull();
    assertThat(chosen.has("--rude")).isFalse();
  }

  @Test
  void everyWordHasItsEffect() {
    Chosen chosen =
        parse("--rude", "--only", "kamille,floor", "--loads", "1,3", "--record", "2026-hit");
    assertThat(chosen.has("--rude")).isTrue();
    assertThat(chosen.texts("--only")).containsExactly("kamille", "floor");
    assertThat(chosen.texts("--loads")).containsExactly("1", "3");
    assertThat(chosen.text("--record")).isEqualTo("2026-hit");
  }

  @Test
  void aShortcutHoldsWhereTheRestIsSilent() {
    Chosen chosen = parse("--seconds", "9", "--quick");
    assertThat(chosen.has("--quick")).isTrue();
    assertThat(chosen.number("--rounds")).isEqualTo(2);
    assertThat(chosen.number("--seconds")).isEqualTo(9);
  }

  @Test
  void anOptionThatIsDeclaredAgainTakesThePlaceOfTheFormer() {
    var slower = OPTIONS.number("--rounds", 3, 1, 100, "how often");
    assertThat(slower.parse(List.of()).number("--rounds")).isEqualTo(3);
    assertThat(slower.help()).containsOnlyOnce("--rounds");
    assertThat(parse().number("--rounds")).isEqualTo(7);
  }

  @Test
  void theWordThatIsNotUnderstoodIsNamed() {
    assertThatThrownBy(() -> parse("--fast")).hasMessage("unknown option --fast");
    assertThatThrownBy(() -> parse("--rounds")).hasMessage("--rounds: nothing behind it");
    assertThatThrownBy(() -> parse("--rounds", "0"))
        .hasMessage("--rounds: 0 (expected: a number from 1 to 100)");
    assertThatThrownBy(() -> parse("--rounds", "many")).hasMessageStartingWith("--rounds: many");
    assertThatThrownBy(() -> parse("--only", "floor,iis")).hasMessageStartingWith("--only: iis");
    assertThatThrownBy(() -> parse("--loads", "1,")).hasMessageStartingWith("--loads:  (expected");
    assertThatThrownBy(() -> parse("--record", "../hit"))
        .hasMessageStartingWith("--record: ../hit");
  }

  @Test
  void anOptionThatIsNotDeclaredIsABug() {
    assertThatThrownBy(() -> parse().number("--size")).hasMessage("--size: not declared");
  }

  @Test
  void theHelpSaysWhatIsUsual() {
    assertThat(OPTIONS.help())
        .contains("--rounds N        how often (default 7)\n")
        .contains("--only A,B        these (default floor)\n")
        .contains("--rude            do not wait\n");
  }
}
