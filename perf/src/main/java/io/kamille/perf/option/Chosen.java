package io.kamille.perf.option;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a command line said, with what holds where it was silent. Immutable. */
public final class Chosen {

  private final Map<String, String> values;

  Chosen(Map<String, String> values) {
    this.values = Map.copyOf(values);
  }

  /** The value of an option that takes one. */
  public String text(String name) {
    String value = values.get(name);
    if (value == null) {
      throw new IllegalArgumentException(name + ": not declared");
    }
    return value;
  }

  /** The value of an option that has none when nothing is said; null then. */
  public @Nullable String textOrNull(String name) {
    String value = text(name);
    return value.isEmpty() ? null : value;
  }

  public int number(String name) {
    return Integer.parseInt(text(name));
  }

  /** Those between commas; none for an empty value. */
  public List<String> texts(String name) {
    return Options.parts(text(name));
  }

  /** Whether a flag is there. */
  public boolean has(String flag) {
    return values.containsKey(flag);
  }
}
