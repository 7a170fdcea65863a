package io.kamille.perf.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class SoakOptionsTest {

  @Test
  void minutesAreEnough() {
    assertThat(SoakOptions.parse(List.of("0.5"), 7)).isEqualTo(new SoakOptions(30, 7, 96, null));
  }

  @Test
  void seedClientsAndDirectoryCanBeGiven() {
    List<String> words = List.of("30", "--seed", "5", "--clients", "10", "--to", "x");
    assertThat(SoakOptions.parse(words, 7)).isEqualTo(new SoakOptions(1800, 5, 10, Path.of("x")));
  }

  @Test
  void whatIsNotUnderstoodIsNamed() {
    assertRefused(List.of(), "MINUTES");
    assertRefused(List.of("soon"), "soon");
    assertRefused(List.of("0"), "above 0");
    assertRefused(List.of("1", "--sed", "5"), "--sed");
    assertRefused(List.of("1", "--seed"), "nothing behind it");
  }

  private static void assertRefused(List<String> words, String why) {
    assertThatThrownBy(() -> SoakOptions.parse(words, 7))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(why);
  }
}
