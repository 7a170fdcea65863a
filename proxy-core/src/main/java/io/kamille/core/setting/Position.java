package io.kamille.core.setting;

/**
 * A place in a configuration file: line and column, counted from 1 in characters as an editor shows
 * them. Both are 0 in {@link #NOWHERE}.
 */
public record Position(int line, int column) implements Comparable<Position> {

  /** The place of what stands in no line: an unreadable file, a value from the command line. */
  public static final Position NOWHERE = new Position(0, 0);

  @Override
  public int compareTo(Position other) {
    return line != other.line
        ? Integer.compare(line, other.line)
        : Integer.compare(column, other.column);
  }
}
