package io.kamille.launcher.version;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class UnifiedDiffTest {

  @Test
  void hunksHaveThreeLinesAroundThem() {
    String before = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\n";
    assertThat(UnifiedDiff.between(before, before.replace("e\n", "E\nF\n").replace("m\n", "")))
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
    assertThat(UnifiedDiff.between(before, before)).isEmpty();
  }

  @Test
  void aTextTooLargeForATableDiffersInOnePiece() {
    String before = "x\n".repeat(3000) + "same\n";
    String after = "y\n".repeat(3000) + "same\n";
    assertThat(UnifiedDiff.between(before, after)).startsWith("@@ -1,3001 +1,3001 @@\n-x\n-x\n");
  }
}
