package io.kamille.perf.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OverloadOptionsTest {

  private static OverloadOptions parse(String... words) {
    return OverloadOptions.parse(List.of(words));
  }

  @Test
  void withoutWordsLoadsGoUpToThreeCapacities() {
    OverloadOptions options = parse();
    assertThat(options.loads()).containsExactly(0.5, 0.8, 1.0, 1.5, 2.0, 3.0);
    assertThat(options.users()).isEqualTo(4000);
    assertThat(options.areRude()).isFalse();
    assertThat(options.has("nginx")).isTrue();
    assertThat(options.directory()).isNull();
  }

  @Test
  void everyWordHasItsEffect() {
    OverloadOptions options =
        parse(
            "--loads",
            "0.8,3",
            "--seconds",
            "5",
            "--users",
            "100",
            "--rude",
            "--misses",
            "0.33",
            "--slow",
            "50",
            "--target",
            "2ms",
            "--capacity",
            "900",
            "--only",
            "kamille,off",
            "--to",
            "there");
    assertThat(options)
        .isEqualTo(
            new OverloadOptions(
                List.of(0.8, 3.0),
                5,
                100,
                true,
                0.33,
                50,
                "2ms",
                900,
                List.of("kamille", "off"),
                Path.of("there")));
    assertThat(options.has("nginx")).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--nonsense 1",
        "--slow 95",
        "--slow",
        "--only squid",
        "--target 5",
        "--loads 1,x",
        "x"
      })
  void whatIsNotUnderstoodIsNamed(String line) {
    assertThatThrownBy(() -> parse(line.split(" ", -1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(line.split(" ", -1)[0]);
  }
}
