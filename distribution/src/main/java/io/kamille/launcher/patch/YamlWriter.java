package io.kamille.launcher.patch;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** Values as YAML. Stateless; any thread. */
public final class YamlWriter {

  /** What needs no quotes, in flow style neither. */
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_/.][A-Za-z0-9_/.%+-]*");

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private YamlWriter() {}

  /** On one line. */
  public static String flow(@Nullable Object value) {
    return switch (value) {
      case Map<?, ?> map ->
          map.entrySet().stream()
              .map(entry -> scalar(entry.getKey()) + ": " + flow(entry.getValue()))
              .collect(Collectors.joining(", ", "{", "}"));
      case List<?> list ->
          list.stream().map(YamlWriter::flow).collect(Collectors.joining(", ", "[", "]"));
      case null, default -> scalar(value);
    };
  }

  /** A value that is no empty list and no empty map, on lines that begin with so many blanks. */
  static String block(@Nullable Object value, int indent) {
    String margin = " ".repeat(indent);
    if (value instanceof Map<?, ?> map) {
      return map.entrySet().stream()
          .map(entry -> entry(entry.getKey(), entry.getValue(), indent))
          .collect(Collectors.joining("\n"));
    }
    return ((List<?>) Objects.requireNonNull(value))
        .stream().map(item -> margin + item(item, indent)).collect(Collectors.joining("\n"));
  }

  /** A key and its value, likewise. */
  static String entry(Object key, @Nullable Object value, int indent) {
    String start = " ".repeat(indent) + scalar(key) + ":";
    return isNested(value) ? start + "\n" + block(value, indent + 2) : start + " " + flow(value);
  }

  /** An item of a list, without the blanks in front of it. */
  static String item(@Nullable Object item, int indent) {
    boolean isMap = isNested(item) && item instanceof Map;
    return "- " + (isMap ? block(item, indent + 2).substring(indent + 2) : flow(item));
  }

  static boolean isNested(@Nullable Object value) {
    return switch (value) {
      case Map<?, ?> map -> !map.isEmpty();
      case List<?> list -> !list.isEmpty();
      case null, default -> false;
    };
  }

  private static String scalar(@Nullable Object value) {
    if (value == null) {
      return "null";
    }
    String text = value.toString();
    boolean isPlain = PLAIN.matcher(text).matches() && !text.equalsIgnoreCase("null");
    return isPlain ? text : JSON.writeValueAsString(text);
  }
}
