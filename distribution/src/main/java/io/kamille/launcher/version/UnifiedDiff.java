package io.kamille.launcher.version;

import java.util.ArrayList;
import java.util.List;

/** What differs between two texts, as {@code diff -u} writes it. Stateless; any thread. */
final class UnifiedDiff {

  /*
   * Lines that are the same at both ends are set aside; of the rest the longest common subsequence
   * is found by a table. A rest too large for a table counts as changed in one piece.
   */
  private static final int CONTEXT = 3;
  private static final long TABLE_LIMIT = 4_000_000;

  private record Line(char sign, String text, int before, int after) {}

  private UnifiedDiff() {}

  /** The difference; empty if there is none. */
  static String between(String before, String after) {
    List<Line> lines = lines(before.lines().toList(), after.lines().toList());
    StringBuilder diff = new StringBuilder();
    int at = 0;
    while (at < lines.size()) {
      int change = nextChange(lines, at);
      if (change == lines.size()) {
        break;
      }
      int start = Math.max(at, change - CONTEXT);
      int end = change;
      for (int next = change; next < lines.size() && next - end <= 2 * CONTEXT; ) {
        end = next + 1;
        next = nextChange(lines, end);
      }
      end = Math.min(lines.size(), end + CONTEXT);
      hunk(lines.subList(start, end), diff);
      at = end;
    }
    return diff.toString();
  }

  private static int nextChange(List<Line> lines, int from) {
    int at = from;
    while (at < lines.size() && lines.get(at).sign == ' ') {
      at++;
    }
    return at;
  }

  private static void hunk(List<Line> lines, StringBuilder diff) {
    long removed = lines.stream().filter(line -> line.sign != '+').count();
    long added = lines.stream().filter(line -> line.sign != '-').count();
    diff.append("@@ -").append(lines.getFirst().before).append(',').append(removed);
    diff.append(" +").append(lines.getFirst().after).append(',').append(added).append(" @@\n");
    lines.forEach(line -> diff.append(line.sign).append(line.text).append('\n'));
  }

  private static List<Line> lines(List<String> before, List<String> after) {
    int same = 0;
    int least = Math.min(before.size(), after.size());
    while (same < least && before.get(same).equals(after.get(same))) {
      same++;
    }
    int end = 0;
    while (end < least - same
        && before.get(before.size() - 1 - end).equals(after.get(after.size() - 1 - end))) {
      end++;
    }
    List<Line> lines = new ArrayList<>();
    for (int i = 0; i < same; i++) {
      lines.add(new Line(' ', before.get(i), i + 1, i + 1));
    }
    int beforeEnd = before.size() - end;
    int afterEnd = after.size() - end;
    middle(before.subList(same, beforeEnd), after.subList(same, afterEnd), same + 1, lines);
    for (int i = 0; i < end; i++) {
      lines.add(new Line(' ', before.get(beforeEnd + i), beforeEnd + i + 1, afterEnd + i + 1));
    }
    return lines;
  }

  private static void middle(List<String> before, List<String> after, int first, List<Line> lines) {
    boolean hasTable = (long) before.size() * after.size() <= TABLE_LIMIT;
    int[][] common = hasTable ? common(before, after) : new int[0][0];
    int i = 0;
    int j = 0;
    while (i < before.size() || j < after.size()) {
      boolean isBoth = i < before.size() && j < after.size();
      if (isBoth && hasTable && before.get(i).equals(after.get(j))) {
        lines.add(new Line(' ', before.get(i), first + i++, first + j++));
      } else if (j == after.size()
          || (i < before.size() && (!hasTable || common[i + 1][j] >= common[i][j + 1]))) {
        lines.add(new Line('-', before.get(i), first + i++, first + j));
      } else {
        lines.add(new Line('+', after.get(j), first + i, first + j++));
      }
    }
  }

  /** How many lines the rests behind each pair of lines have in common. */
  private static int[][] common(List<String> before, List<String> after) {
    int[][] common = new int[before.size() + 1][after.size() + 1];
    for (int i = before.size() - 1; i >= 0; i--) {
      for (int j = after.size() - 1; j >= 0; j--) {
        common[i][j] =
            before.get(i).equals(after.get(j))
                ? common[i + 1][j + 1] + 1
                : Math.max(common[i + 1][j], common[i][j + 1]);
      }
    }
    return common;
  }
}
