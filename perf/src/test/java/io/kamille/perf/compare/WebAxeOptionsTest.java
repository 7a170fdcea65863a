package io.kamille.perf.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class WebAxeOptionsTest {

  private static WebAxeOptions parse(String... words) {
    return WebAxeOptions.parse(List.of(words));
  }

  @Test
  void withoutWordsKamilleMeetsNginxAndTheOriginDoesNotThink() {
    var common = new ComparisonOptions(3, 10, 500, List.of("kamille", "nginx"), null);
    assertThat(parse()).isEqualTo(new WebAxeOptions(common, 4000, 50, 64, false, false));
    assertThat(parse().p99LimitMicros()).isEqualTo(50_000);
    assertThat(parse().thinkScale()).isZero();
  }

  @Test
  void everyWordHasItsEffect() {
    var options =
        parse(
            "--rate",
            "900",
            "--rounds",
            "5",
            "--p99",
            "20",
            "--working-set",
            "16",
            "--only",
            "kamille,squid",
            "--record",
            "mix");
    assertThat(options)
        .isEqualTo(
            new WebAxeOptions(
                new ComparisonOptions(5, 10, 500, List.of("kamille", "squid"), "mix"),
                900,
                20,
                16,
                false,
                false));
  }

  @Test
  void whatIsSaidOfRoundsHoldsInAQuickRunToo() {
    assertThat(parse("--seconds", "7", "--quick").common())
        .isEqualTo(new ComparisonOptions(1, 7, 500, List.of("kamille", "nginx"), null));
    assertThat(parse("--quick").workingSetMib()).isEqualTo(8);
  }

  @Test
  void theThinkTimeIsAddedToTheBoundOfLatency() {
    assertThat(parse("--think", "--p99", "20").p99LimitMicros()).isEqualTo(720_000);
    assertThat(parse("--think").thinkScale()).isEqualTo(1);
  }

  @Test
  void whatIsNotUnderstoodIsNamed() {
    assertThatThrownBy(() -> parse("--rate", "many")).hasMessageStartingWith("--rate: many");
    assertThatThrownBy(() -> parse("--only", "floor")).hasMessageStartingWith("--only: floor");
    assertThatThrownBy(() -> parse("--fast")).hasMessage("unknown option --fast");
  }
}
