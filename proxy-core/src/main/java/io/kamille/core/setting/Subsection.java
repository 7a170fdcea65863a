package io.kamille.core.setting;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A section under a key of another one: once, as a list, or under names. The component of the
 * other's record is accordingly an {@code R}, a {@code List<R>} or a {@code Map<String, R>} in the
 * order of the file.
 *
 * @param shorthand the setting that a bare value in place of the mapping stands for
 * @param required what there must be at least one of, or null if there may be none
 * @param alternatives the keys of members that may stand in its place
 * @param <R> the record of the section inside
 */
public record Subsection<R>(
    String key,
    String description,
    Section<R> section,
    Shape shape,
    @Nullable Setting<?> shorthand,
    @Nullable String required,
    List<String> alternatives)
    implements Member {

  /** How often a section stands in the file. */
  public enum Shape {
    /** At most once. */
    ONE,
    /** As the elements of a list. */
    LIST,
    /** As the elements of a list, or a single one without it. */
    SOME,
    /** Under names. */
    NAMED
  }

  public Subsection {
    if (description.isBlank()) {
      throw new IllegalArgumentException(key + ": no description");
    }
  }

  Subsection(String key, String description, Section<R> section, Shape shape) {
    this(key, description, section, shape, null, null, List.of());
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
  public Object component(SectionValues around) {
    List<SectionValues> all = around.all(this);
    return switch (shape) {
      case ONE -> section.record(around.one(this));
      case LIST, SOME -> all.stream().map(section::record).toList();
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
