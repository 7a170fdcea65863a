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

  /** Comparing each line with each would take the memory of the process. */
  @Test
  void textsThatDifferInVeryMuchDifferInOnePiece() {
    String before = "same\n" + "x\nz\n".repeat(2000) + "same\n";
    String after = "same\n" + "y\nz\n".repeat(2000) + "same\n";
    assertThat(TextDiff.between(before, after))
        .startsWith("@@ -1,4002 +1,4002 @@\n same\n-x\n-z\n-x\n");
    assertThat(TextDiff.between("same\n", "same\n" + "x\n".repeat(2_000_000)))
        .startsWith("@@ -1,1 +1,2000001 @@\n same\n+x\n");
  }
}
