package io.kamille.core.setting;

import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The declaration of one setting. The reader of the file, the reference page and the comparison for
 * a reload know nothing about a setting but this. Immutable; compared by identity.
 */
public final class Setting<T> implements Member {

  /** What holds when a setting is not given. */
  public sealed interface Absence<T> {

    /** It must be given. */
    record Forbidden<T>() implements Absence<T> {}

    /** A value holds in its place; {@code text} is that value in the Markdown of the reference. */
    record Default<T>(String text, Function<SectionValues, T> rule) implements Absence<T> {}

    /**
     * It has no value; {@code text} tells in Markdown what that means, and the record has {@code
     * stands} for it.
     */
    record Meaning<T>(String text, @Nullable T stands) implements Absence<T> {}
  }

  private final String key;
  private final ValueType<T> type;
  private final Absence<T> absence;
  private final boolean needsRestart;
  private final String description;
  private final String component;

  private Setting(
      String key,
      ValueType<T> type,
      Absence<T> absence,
      boolean needsRestart,
      String description,
      String component) {
    this.key = key;
    this.type = type;
    this.absence = absence;
    this.needsRestart = needsRestart;
    this.description = description;
    this.component = component;
    if (description.isBlank()) {
      throw new IllegalArgumentException(key + ": no description");
    }
  }

  /** A setting that must be given and applies on reload. */
  public static <T> Setting<T> of(String key, ValueType<T> type, String description) {
    return new Setting<>(key, type, new Absence.Forbidden<>(), false, description, "");
  }

  /** The same with a default. */
  public Setting<T> defaultsTo(T value) {
    return with(new Absence.Default<>("`" + type.print(value) + "`", section -> value));
  }

  /** The same with a default that follows from the machine or from other values of its section. */
  public Setting<T> defaultsTo(String text, Function<SectionValues, T> rule) {
    return with(new Absence.Default<>(text, rule));
  }

  /** The same, but it may have no value, and the record null. */
  public Setting<T> orElse(String meaning) {
    return with(new Absence.Meaning<>(meaning, null));
  }

  /** The same, but it may have no value, and the record {@code stands}. */
  public Setting<T> orElse(String meaning, T stands) {
    return with(new Absence.Meaning<>(meaning, stands));
  }

  /** The same, but a new value waits for the next start. */
  public Setting<T> appliesOnRestart() {
    return new Setting<>(key, type, absence, true, description, component);
  }

  /** The same, read into the component of that name, which has not the words of the key. */
  public Setting<T> into(String otherComponent) {
    return new Setting<>(key, type, absence, needsRestart, description, otherComponent);
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

  private Setting<T> with(Absence<T> newAbsence) {
    return new Setting<>(key, type, newAbsence, needsRestart, description, component);
  }

  @Override
  public String key() {
    return key;
  }

  public ValueType<T> type() {
    return type;
  }

  public Absence<T> absence() {
    return absence;
  }

  /** Whether a new value waits for the next start; otherwise it applies on reload. */
  public boolean needsRestart() {
    return needsRestart;
  }

  @Override
  public String description() {
    return description;
  }

  @Override
  public String toString() {
    return key;
  }
}
