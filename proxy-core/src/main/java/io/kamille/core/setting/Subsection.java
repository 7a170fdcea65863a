package io.kamille.core.setting;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A section under a key of another one: once, as a list, or under names. The component of the
 * other's record is accordingly an {@code R}, a {@code List<R>} or a {@code Map<String, R>} in the
 * order of the file. Immutable; compared by identity.
 *
 * @param <R> the record of the section inside
 */
public final class Subsection<R> implements Member {

  /** How often a section stands in the file. */
  public enum Shape {
    /** At most once. */
    ONE,
    /** As the elements of a list. */
    LIST,
    /** Under names. */
    NAMED
  }

  private final String key;
  private final String description;
  private final Section<R> section;
  private final Shape shape;
  private final @Nullable Setting<?> shorthand;
  private final @Nullable String required;
  private final List<String> alternatives;

  private Subsection(
      String key,
      String description,
      Section<R> section,
      Shape shape,
      @Nullable Setting<?> shorthand,
      @Nullable String required,
      List<String> alternatives) {
    this.key = key;
    this.description = description;
    this.section = section;
    this.shape = shape;
    this.shorthand = shorthand;
    this.required = required;
    this.alternatives = alternatives;
    if (description.isBlank()) {
      throw new IllegalArgumentException(key + ": no description");
    }
  }

  static <R> Subsection<R> one(String key, String description, Section<R> section) {
    return new Subsection<>(key, description, section, Shape.ONE, null, null, List.of());
  }

  static <R> Subsection<R> list(String key, String description, Section<R> section) {
    return new Subsection<>(key, description, section, Shape.LIST, null, null, List.of());
  }

  static <R> Subsection<R> named(String key, String description, Section<R> section) {
    return new Subsection<>(key, description, section, Shape.NAMED, null, null, List.of());
  }

  /** The same, but a bare value in place of a mapping stands for {@code setting} alone. */
  public Subsection<R> withShorthand(Setting<?> setting) {
    return new Subsection<>(key, description, section, shape, setting, required, alternatives);
  }

  /**
   * The same, but it may not be missing or empty.
   *
   * @param element what there must be at least one of, as a message says it: {@code an upstream}
   */
  public Subsection<R> atLeastOne(String element) {
    return new Subsection<>(key, description, section, shape, shorthand, element, List.of());
  }

  /** The same, but it may be missing where one of these members of its section is not. */
  public Subsection<R> orElse(String... keys) {
    return new Subsection<>(key, description, section, shape, shorthand, required, List.of(keys));
  }

  @Override
  public String key() {
    return key;
  }

  @Override
  public String description() {
    return description;
  }

  public Section<R> section() {
    return section;
  }

  public Shape shape() {
    return shape;
  }

  /** The setting that a bare value in place of the mapping stands for. */
  public @Nullable Setting<?> shorthand() {
    return shorthand;
  }

  /** What there must be at least one of, or null if there may be none. */
  public @Nullable String required() {
    return required;
  }

  /** The keys of members that may stand in its place. */
  public List<String> alternatives() {
    return alternatives;
  }

  /** What the record of the section around it has for it. */
  Object component(SectionValues around) {
    List<SectionValues> all = around.all(this);
    return switch (shape) {
      case ONE -> section.record(around.one(this));
      case LIST -> all.stream().map(section::record).toList();
      case NAMED -> {
        Map<String, R> byName = new LinkedHashMap<>();
        all.forEach(values -> byName.put(values.name(), section.record(values)));
        yield Collections.unmodifiableMap(byName);
      }
    };
  }

  @Override
  public String toString() {
    return key;
  }
}
