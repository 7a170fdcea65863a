package io.kamille.perf.report;

import java.util.ArrayList;
import java.util.List;

/** A table in Markdown that can be read as plain text: the first column left, numbers right. */
public final class Table {

  private final List<List<String>> rows = new ArrayList<>();

  /** A table with these column titles. */
  public Table(String... titles) {
    rows.add(List.of(titles));
  }

  /**
   * Adds a row.
   *
   * @throws IllegalArgumentException if it has more or fewer cells than there are titles
   */
  public Table row(List<String> cells) {
    int columns = rows.getFirst().size();
    if (cells.size() != columns) {
      throw new IllegalArgumentException("cells: " + cells.size() + " (expected: " + columns + ")");
    }
    rows.add(List.copyOf(cells));
    return this;
  }

  /** All rows, the titles first. */
  public List<List<String>> rows() {
    return List.copyOf(rows);
  }

  @Override
  public String toString() {
    int columns = rows.getFirst().size();
    int[] widths = new int[columns];
    for (List<String> row : rows) {
      for (int i = 0; i < columns; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    var text = new StringBuilder();
    appendRow(text, rows.getFirst(), widths);
    for (int i = 0; i < columns; i++) {
      text.append(i == 0 ? "|:" : "|").append("-".repeat(widths[i] + 1)).append(i == 0 ? "" : ":");
    }
    text.append("|\n");
    rows.stream().skip(1).forEach(row -> appendRow(text, row, widths));
    return text.toString();
  }

  private static void appendRow(StringBuilder text, List<String> row, int[] widths) {
    for (int i = 0; i < widths.length; i++) {
      String padding = " ".repeat(widths[i] - row.get(i).length());
      text.append("| ").append(i == 0 ? row.get(i) + padding : padding + row.get(i)).append(' ');
    }
    text.append("|\n");
  }
}
