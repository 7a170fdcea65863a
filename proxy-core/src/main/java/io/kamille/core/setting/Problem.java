package io.kamille.core.setting;

import org.jspecify.annotations.Nullable;

/**
 * One mistake in a configuration, with all an operator needs to repair it. {@link #toString} is the
 * line to print.
 *
 * @param file what was read, as the operator named it, or what that includes
 * @param position where in it, or {@link Position#NOWHERE} when no line is to blame
 * @param path the setting, such as {@code listeners[0].address}; empty for the file as a whole
 * @param found what stands there
 * @param expected what may stand there
 * @param nearest the known key most like the unknown one, if any is like it
 */
public record Problem(
    Mistake kind,
    String file,
    Position position,
    String path,
    String found,
    String expected,
    @Nullable String nearest) {

  /** What sort of mistake it is. */
  public enum Mistake {
    /** The file cannot be read at all. */
    UNREADABLE,
    /** The text is not UTF-8, not YAML, or YAML beyond our limits. */
    SYNTAX,
    /** No setting has this name. */
    UNKNOWN_KEY,
    /** The key stands twice in one section. */
    DUPLICATE_KEY,
    /** A setting that must be given is not. */
    MISSING,
    /** A list, a section or a value where one of the others belongs. */
    WRONG_KIND,
    /** The value is not of its type or out of its bounds. */
    VALUE,
    /** The value is fine alone but contradicts another. */
    CONFLICT
  }

  /** The problem as one line: file, line, column, path, what was found, what was expected. */
  @Override
  public String toString() {
    var line = new StringBuilder(file).append(':');
    if (position.line() > 0) {
      line.append(position.line()).append(':').append(position.column()).append(':');
    }
    line.append(' ');
    if (!path.isEmpty()) {
      line.append(path).append(": ");
    }
    if (kind != Mistake.UNKNOWN_KEY) {
      line.append("found ");
    }
    line.append(found);
    if (nearest != null) {
      line.append(" (did you mean \"").append(nearest).append("\"?)");
    } else {
      line.append(", expected ").append(expected);
    }
    return line.toString();
  }
}
