package io.kamille.core.setting;

import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The declaration of one setting. The reader of the file, the reference page and the comparison for
 * a reload know nothing about a setting but this.
 *
 * @param ifAbsent what holds when it is not given, in the Markdown of the reference; null if it
 *     must be given
 * @param rule gives the default; null if there is none
 * @param standIn what the record has where there is no value
 * @param component of the record, if its name has not the words of the key; else empty
 */
public record Setting<T>(
    String key,
    ValueType<T> type,
    String description,
    @Nullable String ifAbsent,
    Function<SectionValues, @Nullable T> rule,
    @Nullable T standIn,
    boolean needsRestart,
    String component)
    implements Member {

  public Setting {
    if (description.isBlank()) {
      throw new IllegalArgumentException(key + ": no description");
    }
  }

  /** A setting that must be given and applies on reload. */
  public static <T> Setting<T> of(String key, ValueType<T> type, String description) {
    return new Setting<>(key, type, description, null, values -> null, null, false, "");
  }

  /** The same with a default. */
  public Setting<T> defaultsTo(T value) {
    return defaultsTo("`" + type.print(value) + "`", section -> value);
  }

  /** The same with a default that follows from the machine or from other values of its section. */
  public Setting<T> defaultsTo(String text, Function<SectionValues, @Nullable T> rule) {
    return new Setting<>(key, type, description, text, rule, null, needsRestart, component);
  }

  /** The same, but it may have no value, and the record null. */
  public Setting<T> orElse(String meaning) {
    return new Setting<>(key, type, description, meaning, rule, null, needsRestart, component);
  }

  /** The same, but it may have no value, and the record {@code stands}. */
  public Setting<T> orElse(String meaning, T stands) {
    return new Setting<>(key, type, description, meaning, rule, stands, needsRestart, component);
  }

  /** The same, but a new value waits for the next start; otherwise it applies on reload. */
  public Setting<T> appliesOnRestart() {
    return new Setting<>(key, type, description, ifAbsent, rule, standIn, true, component);
  }

  /** The same, read into the component of that name, which has not the words of the key. */
  public Setting<T> into(String name) {
    return new Setting<>(key, type, description, ifAbsent, rule, standIn, needsRestart, name);
  }

  /** Whether it must be given. */
  public boolean isRequired() {
    return ifAbsent == null;
  }

  /** Whether it is read into the component of that name. */
  boolean isReadInto(String name) {
    if (!component.isEmpty()) {
      return component.equals(name);
    }
    String lower = name.toLowerCase(Locale.ROOT);
    int at = 0;
    for (String word : key.split("-", -1)) {
      int found = lower.indexOf(word, at);
      if (found < 0) {
        return false;
      }
      at = found + word.length();
    }
    return true;
  }

  @Override
  public String toString() {
    return key;
  }
}
