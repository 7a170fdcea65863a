package io.kamille.core.setting;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * How one kind of value is written in a configuration.
 *
 * @param name the word for it on the reference page: {@code size}
 * @param bounds what is allowed of it, such as {@code 1MiB–16TiB}; empty when everything is
 * @param isList whether the file has it as a list of values; the parser is given each of them, and
 *     all with commas between
 * @param parser never throws
 * @param printer gives a text that the parser reads back
 */
public record ValueType<T>(
    String name,
    String bounds,
    boolean isList,
    Function<String, Parsed<T>> parser,
    Function<T, String> printer) {

  /** A type of single values. */
  public ValueType(
      String name, String bounds, Function<String, Parsed<T>> parser, Function<T, String> printer) {
    this(name, bounds, false, parser, printer);
  }

  /**
   * A type whose texts are refused for one reason only.
   *
   * @param parser gives null for what is refused
   */
  public static <T> ValueType<T> of(
      String name,
      String bounds,
      String expected,
      Function<String, @Nullable T> parser,
      Function<T, String> printer) {
    return new ValueType<>(
        name,
        bounds,
        text -> {
          T value = parser.apply(text);
          return value == null ? new Parsed.Refused<>(expected) : new Parsed.Value<>(value);
        },
        printer);
  }

  /** The same, its values as others. */
  public <U> ValueType<U> map(Function<T, U> to, Function<U, T> back) {
    return new ValueType<>(
        name,
        bounds,
        isList,
        text ->
            switch (parser.apply(text)) {
              case Parsed.Value<T>(T value) -> new Parsed.Value<>(to.apply(value));
              case Parsed.Refused<T>(String expected) -> new Parsed.Refused<>(expected);
            },
        value -> printer.apply(back.apply(value)));
  }

  public Parsed<T> parse(String text) {
    return parser.apply(text);
  }

  public String print(T value) {
    return printer.apply(value);
  }
}
