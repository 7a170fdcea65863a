package io.kamille.launcher.patch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ThreeWayTest {

  private static final String BASE =
      """
      # all
      cache: {memory: {capacity: 8MiB}}
      limits:
        fields: 50   # of a head
      routes:
        - upstream: web
      """;

  @Test
  void bothChangesCountIfTheyAreOfDifferentValues() {
    ThreeWay.Merged merged =
        ThreeWay.of(
            BASE,
            BASE.replace("8MiB", "9MiB") + "loops: 2\n",
            BASE.replace("50   # of", "60   # of").replace("# all", "# all of it"));
    assertThat(merged.conflicts()).isEmpty();
    assertThat(merged.text())
        .isEqualTo(
            BASE.replace("8MiB", "9MiB")
                    .replace("50   # of", "60   # of")
                    .replace("# all", "# all of it")
                + "loops: 2\n");
  }

  @Test
  void whatBothChangedIsAConflict() {
    ThreeWay.Merged merged =
        ThreeWay.of(
            BASE,
            BASE.replace("50", "60") + "  - upstream: draft\n",
            BASE.replace("50", "70") + "  - upstream: running\n");
    assertThat(merged.conflicts()).containsExactlyInAnyOrder("/limits/fields", "/routes");
  }

  @Test
  void whatOneRemovedAndTheOtherChangedIsAConflict() {
    String removed = BASE.replace("limits:\n  fields: 50   # of a head\n", "");
    assertThat(ThreeWay.of(BASE, removed, BASE.replace("50", "60")).conflicts())
        .containsExactly("/limits");
    assertThat(ThreeWay.of(BASE, removed, BASE + "loops: 2\n").text())
        .isEqualTo(removed + "loops: 2\n");
  }

  @Test
  void theSameChangeTwiceIsNone() {
    String changed = BASE.replace("50", "60");
    assertThat(ThreeWay.of(BASE, changed, changed).text()).isEqualTo(changed);
  }
}
