package io.kamille.core.setting;

import java.util.function.Function;

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

    /** It has no value; {@code text} tells in Markdown what that means. */
    record Meaning<T>(String text) implements Absence<T> {}
  }

  private final String name;
  private final ValueType<T> type;
  private final Absence<T> absence;
  private final boolean needsRestart;
  private final String description;

  private Setting(
      String name,
      ValueType<T> type,
      Absence<T> absence,
      boolean needsRestart,
      String description) {
    this.name = name;
    this.type = type;
    this.absence = absence;
    this.needsRestart = needsRestart;
    this.description = description;
  }

  /** A setting that must be given and applies on reload. */
  public static <T> Setting<T> of(String name, ValueType<T> type, String description) {
    return new Setting<>(name, type, new Absence.Forbidden<>(), false, description);
  }

  /** The same with a default. */
  public Setting<T> defaultsTo(T value) {
    return with(new Absence.Default<>("`" + type.print(value) + "`", section -> value));
  }

  /** The same with a default that follows from the machine or from other values of its section. */
  public Setting<T> defaultsTo(String text, Function<SectionValues, T> rule) {
    return with(new Absence.Default<>(text, rule));
  }

  /** The same, but it may have no value. */
  public Setting<T> orElse(String meaning) {
    return with(new Absence.Meaning<>(meaning));
  }

  /** The same, but a new value waits for the next start. */
  public Setting<T> appliesOnRestart() {
    return new Setting<>(name, type, absence, true, description);
  }

  private Setting<T> with(Absence<T> newAbsence) {
    return new Setting<>(name, type, newAbsence, needsRestart, description);
  }

  @Override
  public String name() {
    return name;
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
    return name;
  }
}
