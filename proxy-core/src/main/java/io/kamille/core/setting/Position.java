package io.kamille.core.setting;

import java.util.Comparator;

/**
 * A place in a configuration file: line and column, counted from 1 in characters as an editor shows
 * them. Both are 0 in {@link #NOWHERE}.
 *
 * @param file that is included; empty for the configuration's own
 */
public record Position(int line, int column, String file) implements Comparable<Position> {

  /** The place of what stands in no line: an unreadable file, a value from the command line. */
  public static final Position NOWHERE = new Position(0, 0);

  private static final Comparator<Position> ORDER =
      Comparator.comparing(Position::file)
          .thenComparingInt(Position::line)
          .thenComparingInt(Position::column);

  /** A place in the configuration's own file. */
  public Position(int line, int column) {
    this(line, column, "");
  }

  /** The line, as a message about {@code other} names it. */
  public String lineSeenFrom(Position other) {
    if (file.equals(other.file)) {
      return "line " + line;
    }
    return "line " + line + " of " + (file.isEmpty() ? "the configuration's own file" : file);
  }

  @Override
  public int compareTo(Position other) {
    return ORDER.compare(this, other);
  }
}
