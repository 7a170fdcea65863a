package io.kamille.core.setting;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The known key an operator probably meant by an unknown one. */
final class NearestKey {

  /*
   * Edit distance with insertion, deletion, replacement and swap of neighbours (Damerau, "A
   * technique for computer detection and correction of spelling errors", 1964). A third of the
   * letters may be wrong, at least one: beyond that a guess misleads more often than it helps.
   */
  private static final int LONGEST = 40;

  private NearestKey() {}

  /** The first of the nearest among {@code known}, or null if none is near. */
  static @Nullable String of(String unknown, List<Member> known) {
    if (unknown.length() > LONGEST) {
      return null;
    }
    String typed = unknown.toLowerCase(Locale.ROOT).replace('_', '-');
    String nearest = null;
    int least = 1 + Math.max(1, typed.length() / 3);
    for (Member member : known) {
      int distance = distance(typed, member.key());
      if (distance < least) {
        least = distance;
        nearest = member.key();
      }
    }
    return nearest;
  }

  private static int distance(String a, String b) {
    int[][] d = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        d[i][j] = i == 0 || j == 0 ? i + j : leastStep(d, a, b, i, j);
      }
    }
    return d[a.length()][b.length()];
  }

  private static int leastStep(int[][] d, String a, String b, int i, int j) {
    int replaced = d[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
    int least = Math.min(replaced, 1 + Math.min(d[i - 1][j], d[i][j - 1]));
    boolean isSwap =
        i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1);
    return isSwap ? Math.min(least, 1 + d[i - 2][j - 2]) : least;
  }
}
