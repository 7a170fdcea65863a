package io.kamille.launcher.version;

import com.github.difflib.DiffUtils;
import com.github.difflib.UnifiedDiffUtils;
import java.util.List;
import java.util.stream.Collectors;

/** What differs between two texts, as {@code diff -u} writes it. Stateless; any thread. */
final class TextDiff {

  private static final int CONTEXT = 3;

  /** The lines that name the two files. */
  private static final int HEADER = 2;

  private TextDiff() {}

  /** The difference; empty if there is none. */
  static String between(String before, String after) {
    List<String> lines = before.lines().toList();
    var patch = DiffUtils.diff(lines, after.lines().toList());
    return UnifiedDiffUtils.generateUnifiedDiff("before", "after", lines, patch, CONTEXT).stream()
        .skip(HEADER)
        .map(line -> line + "\n")
        .collect(Collectors.joining());
  }
}
