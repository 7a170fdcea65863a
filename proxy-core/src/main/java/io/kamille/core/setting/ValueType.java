package io.kamille.core.setting;

import java.nio.file.Path;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * How one kind of value is written in a configuration.
 *
 * @param name the word for it on the reference page: {@code size}
 * @param bounds what is allowed of it, such as {@code 1MiB–16TiB}; empty when everything is
 * @param expected what a text must be that the parser takes, as a message says it
 * @param isList whether the file has it as a list of values; the parser is given each of them, and
 *     all with commas between
 * @param parser never throws; gives null for what is refused
 * @param printer gives a text that the parser reads back
 * @param located the parser for a file in that directory, which paths are relative to
 */
public record ValueType<T>(
    String name,
    String bounds,
    String expected,
    boolean isList,
    Function<String, @Nullable T> parser,
    Function<T, String> printer,
    BiFunction<String, Path, @Nullable T> located) {

  /** A type of values that name no files. */
  public ValueType(
      String name,
      String bounds,
      String expected,
      boolean isList,
      Function<String, @Nullable T> parser,
      Function<T, String> printer) {
    this(name, bounds, expected, isList, parser, printer, (text, directory) -> parser.apply(text));
  }

  /** The same of single values. */
  public ValueType(
      String name,
      String bounds,
      String expected,
      Function<String, @Nullable T> parser,
      Function<T, String> printer) {
    this(name, bounds, expected, false, parser, printer);
  }

  /** The same, but its texts name files, which are relative to the directory of the file. */
  public ValueType<T> located(BiFunction<String, Path, @Nullable T> how) {
    return new ValueType<>(name, bounds, expected, isList, parser, printer, how);
  }

  /** The same, its values as others; {@code to} gives null for what is refused. */
  public <U> ValueType<U> map(Function<T, @Nullable U> to, Function<U, T> back) {
    return new ValueType<>(
        name,
        bounds,
        expected,
        isList,
        text -> {
          T value = parser.apply(text);
          return value == null ? null : to.apply(value);
        },
        value -> printer.apply(back.apply(value)),
        (text, directory) -> {
          T value = located.apply(text, directory);
          return value == null ? null : to.apply(value);
        });
  }

  /** The value that {@code text} stands for; null if it is not what is {@link #expected}. */
  public @Nullable T parse(String text) {
    return parser.apply(text);
  }

  public String print(T value) {
    return printer.apply(value);
  }
}
