package io.kamille.launcher.version;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TextDiffTest {

  @Test
  void hunksHaveThreeLinesAroundThem() {
    String before = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\n";
    assertThat(TextDiff.between(before, before.replace("e\n", "E\nF\n").replace("m\n", "")))
        .isEqualTo(
            """
            @@ -2,7 +2,8 @@
             b
             c
             d
            -e
            +E
            +F
             f
             g
             h
            @@ -10,4 +11,3 @@
             j
             k
             l
            -m
            """);
    assertThat(TextDiff.between(before, before)).isEmpty();
  }
}
