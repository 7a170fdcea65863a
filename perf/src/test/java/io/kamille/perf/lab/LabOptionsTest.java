package io.kamille.perf.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LabOptionsTest {

  private static LabOptions parse(String line) {
    return LabOptions.parse(List.of(line.split(" ", -1)));
  }

  @Test
  void anExperimentIsOfNormalScaleUnlessSaidOtherwise() {
    assertThat(parse("p1")).isEqualTo(new LabOptions("p1", LabScale.NORMAL, null, List.of()));
    assertThat(parse("p1 --quick").scale()).isEqualTo(LabScale.QUICK);
    assertThat(parse("p1 --full --to there"))
        .isEqualTo(new LabOptions("p1", LabScale.FULL, Path.of("there"), List.of()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--quick",
        "--quick p1",
        "p1 --slow",
        "p1 --to",
        "p1 p2",
        "p1 --against",
        "p1 --against iis"
      })
  void whatIsNotUnderstoodIsSaid(String line) {
    assertThatThrownBy(() -> parse(line)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void otherServersAreNamedByCommas() {
    assertThat(parse("p1 --against nginx,haproxy --quick").against())
        .containsExactly("nginx", "haproxy");
  }
}
