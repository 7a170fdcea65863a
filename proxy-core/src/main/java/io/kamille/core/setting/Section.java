package io.kamille.core.setting;

import io.kamille.core.setting.Subsection.Shape;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The declaration of a settings record: one row for each component, in their order. Immutable;
 * compared by identity.
 *
 * @param <R> the record
 */
public final class Section<R> {

  /*
   * The record and its rows are all there is about a setting: the file's reader, the reference
   * page, the schema and the comparison for a reload work from the rows, and the record is built
   * from them by its canonical constructor. Rows go by position, so each setting must bear the name
   * of its component, or name it: two rows of one type in the wrong order would else go unnoticed.
   * A component may say more than its key, which has no unit: `isEnabled` for `enabled`.
   */
  private final Class<R> type;
  private final Constructor<R> constructor;
  private final List<Row> rows;
  private final List<Member> members;
  private final @Nullable Check own;

  /** Whether the values of one section go together. */
  @FunctionalInterface
  public interface Check {
    void run(SectionValues values, Problems problems);
  }

  private Section(Class<R> type, List<Row> rows, @Nullable Check own) {
    this.type = type;
    this.rows = rows;
    this.own = own;
    constructor = constructor(type);
    members = rows.stream().flatMap(Row::members).toList();
    check();
  }

  /** The declaration of {@code type}, a row for each of its components. */
  public static <R extends Record> Section<R> of(Class<R> type, Row... rows) {
    return new Section<>(type, List.of(rows), null);
  }

  /** The same with a check of what the types of its settings cannot say. */
  public Section<R> checkedBy(Check check) {
    return new Section<>(type, rows, check);
  }

  void check(SectionValues values, Problems problems) {
    if (own != null) {
      own.run(values, problems);
    }
  }

  private static <R> Constructor<R> constructor(Class<R> type) {
    Class<?>[] types =
        Stream.of(type.getRecordComponents())
            .map(RecordComponent::getType)
            .toArray(Class<?>[]::new);
    try {
      Constructor<R> canonical = type.getDeclaredConstructor(types);
      canonical.setAccessible(true);
      return canonical;
    } catch (NoSuchMethodException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private void check() {
    RecordComponent[] components = type.getRecordComponents();
    if (components.length != rows.size()) {
      throw new IllegalArgumentException(
          type + ": " + rows.size() + " rows (expected: " + components.length + ")");
    }
    for (int i = 0; i < components.length; i++) {
      String name = components[i].getName();
      if (rows.get(i) instanceof Setting<?> setting && !setting.isReadInto(name)) {
        throw new IllegalArgumentException(
            type + ": row " + setting.key() + " (expected: that of " + name + ")");
      }
    }
    Set<String> keys = members.stream().map(Member::key).collect(Collectors.toSet());
    if (keys.size() < members.size()) {
      throw new IllegalArgumentException(type + ": a key stands there twice");
    }
  }

  /** The members of the section, in the order of their declarations. */
  public List<Member> members() {
    return members;
  }

  /** The member under that key, or null. */
  public @Nullable Member member(String key) {
    for (Member member : members) {
      if (member.key().equals(key)) {
        return member;
      }
    }
    return null;
  }

  /** Whether a change of any setting in it waits for the next start. */
  public boolean needsRestart() {
    return members.stream()
        .anyMatch(
            member ->
                switch (member) {
                  case Setting<?> setting -> setting.needsRestart();
                  case Subsection<?> inside -> inside.section().needsRestart();
                });
  }

  /** The record with those values, which were read without a problem. */
  public R record(SectionValues values) {
    Object[] arguments = rows.stream().map(row -> row.component(values)).toArray();
    try {
      return constructor.newInstance(arguments);
    } catch (InvocationTargetException refused) {
      throw refused.getCause() instanceof RuntimeException cause
          ? cause
          : new IllegalStateException(refused);
    } catch (ReflectiveOperationException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** The record when nothing is given; each setting must have a default. */
  public R defaults() {
    return record(SectionValues.of(this).build());
  }

  /** This as a part of another record whose settings stand beside it in the file. */
  public Row inlined() {
    if (own != null) {
      throw new IllegalStateException(type + " has a check (expected: none where it is inlined)");
    }
    return new Row.Inlined<>(this);
  }

  /** This under a key of another section, at most once. */
  public Subsection<R> one(String key, String description) {
    return new Subsection<>(key, description, this, Shape.ONE);
  }

  /** A list of these under a key of another section. */
  public Subsection<R> list(String key, String description) {
    return new Subsection<>(key, description, this, Shape.LIST);
  }

  /** A list of these under a key of another section, or a single one. */
  public Subsection<R> some(String key, String description) {
    return new Subsection<>(key, description, this, Shape.SOME);
  }

  /** These under names of the operator's choice, under a key of another section. */
  public Subsection<R> named(String key, String description) {
    return new Subsection<>(key, description, this, Shape.NAMED);
  }

  @Override
  public String toString() {
    return type.getSimpleName();
  }
}
