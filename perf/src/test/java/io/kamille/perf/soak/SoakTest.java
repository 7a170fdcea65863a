package io.kamille.perf.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.perf.option.Chosen;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SoakTest {

  @Test
  void theFirstWordIsInMinutes() {
    assertThat(Soak.seconds("0.5")).isEqualTo(30);
    assertThat(Soak.seconds("30")).isEqualTo(1800);
  }

  @ParameterizedTest
  @ValueSource(strings = {"soon", "0", "0.001", "-1", "1e9", "--seed"})
  void aDurationThatIsNoneIsNamed(String word) {
    assertThatThrownBy(() -> Soak.seconds(word))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(word)
        .hasMessageContaining("MINUTES");
  }

  @Test
  void seedClientsAndDirectoryCanBeGiven() {
    Chosen usual = Soak.OPTIONS.parse(List.of());
    assertThat(usual.number("--clients")).isEqualTo(96);
    assertThat(usual.textOrNull("--seed")).isNull();
    Chosen chosen = Soak.OPTIONS.parse(List.of("--seed", "5", "--clients", "10", "--to", "x"));
    assertThat(chosen.text("--seed")).isEqualTo("5");
    assertThat(chosen.number("--clients")).isEqualTo(10);
    assertThat(chosen.textOrNull("--to")).isEqualTo("x");
  }
}
