package io.kamille.core.setting;

import java.util.Locale;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The declaration of one setting. The reader of the file, the reference page and the comparison for
 * a reload know nothing about a setting but this. Compared by identity.
 *
 * @param absence what holds when it is not given, in the Markdown of the reference; null if it must
 *     be given. Only the reference asks for it, and no start should pay for the text
 * @param rule gives the default; null if there is none
 * @param standIn what the record has where there is no value
 * @param component of the record, if its name has not the words of the key; else empty
 */
public record Setting<T>(
    String key,
    ValueType<T> type,
    String description,
    @Nullable Supplier<String> absence,
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
    return absent(() -> "`" + type.print(value) + "`", section -> value, null);
  }

  /** The same with a default that follows from the machine or from other values of its section. */
  public Setting<T> defaultsTo(String text, Function<SectionValues, @Nullable T> rule) {
    return absent(() -> text, rule, null);
  }

  /** The same, but it may have no value, and the record null. */
  public Setting<T> orElse(String meaning) {
    return absent(() -> meaning, rule, null);
  }

  /** The same, but it may have no value, and the record {@code stands}. */
  public Setting<T> orElse(String meaning, T stands) {
    return absent(() -> meaning, rule, stands);
  }

  /** The same, but a new value waits for the next start; otherwise it applies on reload. */
  public Setting<T> appliesOnRestart() {
    return new Setting<>(key, type, description, absence, rule, standIn, true, component);
  }

  /** The same, read into the component of that name, which has not the words of the key. */
  public Setting<T> into(String name) {
    return new Setting<>(key, type, description, absence, rule, standIn, needsRestart, name);
  }

  private Setting<T> absent(
      Supplier<String> text, Function<SectionValues, @Nullable T> other, @Nullable T stands) {
    return new Setting<>(key, type, description, text, other, stands, needsRestart, component);
  }

  /** Whether it must be given. */
  public boolean isRequired() {
    return absence == null;
  }

  /** What holds when it is not given; null if it must be given. */
  public @Nullable String ifAbsent() {
    return absence == null ? null : absence.get();
  }

  @Override
  public @Nullable Object component(SectionValues values) {
    return values.component(this);
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
  public boolean equals(@Nullable Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }

  @Override
  public String toString() {
    return key;
  }
}
