package io.kamille.launcher.version;

import com.github.difflib.DiffUtils;
import com.github.difflib.UnifiedDiffUtils;
import com.github.difflib.patch.ChangeDelta;
import com.github.difflib.patch.Chunk;
import com.github.difflib.patch.Patch;
import java.util.List;
import java.util.stream.Collectors;

/** What differs between two texts, as {@code diff -u} writes it. Stateless; any thread. */
final class TextDiff {

  private static final int CONTEXT = 3;

  /** The lines that name the two files. */
  private static final int HEADER = 2;

  /** Between the lines that both texts begin and end with. Time and memory grow with its square. */
  private static final int MOST_LINES = 2000;

  private TextDiff() {}

  /** The difference; empty if there is none. Texts that differ in very much do in one piece. */
  static String between(String before, String after) {
    List<String> lines = before.lines().toList();
    return UnifiedDiffUtils.generateUnifiedDiff(
            "before", "after", lines, patch(lines, after.lines().toList()), CONTEXT)
        .stream()
        .skip(HEADER)
        .map(line -> line + "\n")
        .collect(Collectors.joining());
  }

  private static Patch<String> patch(List<String> before, List<String> after) {
    int least = Math.min(before.size(), after.size());
    int same = 0;
    while (same < least && before.get(same).equals(after.get(same))) {
      same++;
    }
    int end = 0;
    while (end < least - same
        && before.get(before.size() - 1 - end).equals(after.get(after.size() - 1 - end))) {
      end++;
    }
    int beforeEnd = before.size() - end;
    int afterEnd = after.size() - end;
    if (beforeEnd - same + afterEnd - same <= MOST_LINES) {
      return DiffUtils.diff(before, after);
    }
    Patch<String> whole = new Patch<>();
    whole.addDelta(
        new ChangeDelta<>(
            new Chunk<>(same, before.subList(same, beforeEnd)),
            new Chunk<>(same, after.subList(same, afterEnd))));
    return whole;
  }
}
