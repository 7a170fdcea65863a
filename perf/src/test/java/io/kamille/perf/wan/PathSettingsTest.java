package io.kamille.perf.wan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PathSettingsTest {

  @Test
  void readsEveryWordWithItsUnit() {
    assertThat(PathSettings.NONE.with("delay=2.5ms jitter=300us loss=1% rate=16mbit queue=100k"))
        .isEqualTo(new PathSettings(2_500_000, 300_000, 0.01, 16_000_000, 100_000));
    assertThat(PathSettings.NONE.with("rate=1gbit delay=1s"))
        .isEqualTo(new PathSettings(1_000_000_000, 0, 0, 1_000_000_000, 0));
  }

  @Test
  void leavesWhatIsNotNamed() {
    PathSettings some = PathSettings.NONE.with("delay=1ms rate=5mbit");
    assertThat(some.with("loss=2%"))
        .isEqualTo(PathSettings.NONE.with("delay=1ms rate=5mbit loss=2%"));
    assertThat(some.with("  ")).isEqualTo(some);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "delay",
        "delay=",
        "delay=5",
        "delay=-1ms",
        "loss=101%",
        "loss=NaN",
        "rate=5",
        "red=15k/45k/10%",
        "speed=1ms",
        "queue=x"
      })
  void namesTheWordThatIsWrong(String word) {
    assertThatThrownBy(() -> PathSettings.NONE.with("delay=1ms " + word))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("«" + word + "»");
  }
}
