package io.kamille.core.setting;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The declaration of a section: a mapping with known keys, a list of such mappings, or such
 * mappings under names of the operator's choice. Immutable; compared by identity.
 */
public final class Section implements Member {

  /** How often a section stands in the file. */
  public enum Shape {
    /** At most once. */
    ONE,
    /** As the elements of a list. */
    LIST,
    /** Under names. */
    NAMED
  }

  private final Shape shape;
  private final String name;
  private final String description;
  private final List<Member> members;
  private final @Nullable Setting<?> shorthand;
  private final @Nullable String required;

  private Section(
      Shape shape,
      String name,
      String description,
      List<Member> members,
      @Nullable Setting<?> shorthand,
      @Nullable String required) {
    this.shape = shape;
    this.name = name;
    this.description = description;
    this.members = members;
    this.shorthand = shorthand;
    this.required = required;
    for (Member member : members) {
      if (!member.name().equals(prefix() + member.key())) {
        throw new IllegalArgumentException(
            "name: " + member.name() + " (expected: it begins with " + prefix() + ")");
      }
      if (member.description().isBlank()) {
        throw new IllegalArgumentException(member.name() + ": no description");
      }
    }
  }

  /** A section that stands in the file at most once; with an empty name, the whole file. */
  public static Section one(String name, String description, Member... members) {
    return new Section(Shape.ONE, name, description, List.of(members), null, null);
  }

  /** A list whose elements have these members, named {@code NAME[].key}. */
  public static Section list(String name, String description, Member... members) {
    return new Section(Shape.LIST, name, description, List.of(members), null, null);
  }

  /** Sections under free names, with these members, named {@code NAME.*.key}. */
  public static Section named(String name, String description, Member... members) {
    return new Section(Shape.NAMED, name, description, List.of(members), null, null);
  }

  /** The same, but a bare value in place of a mapping stands for {@code setting} alone. */
  public Section withShorthand(Setting<?> setting) {
    return new Section(shape, name, description, members, setting, required);
  }

  /**
   * The same, but it may not be missing or empty.
   *
   * @param element what there must be at least one of, as a message says it: {@code an upstream}
   */
  public Section atLeastOne(String element) {
    return new Section(shape, name, description, members, shorthand, element);
  }

  public Shape shape() {
    return shape;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String description() {
    return description;
  }

  public List<Member> members() {
    return members;
  }

  /** The setting that a bare value in place of the mapping stands for. */
  public @Nullable Setting<?> shorthand() {
    return shorthand;
  }

  /** What there must be at least one of, or null if there may be none. */
  public @Nullable String required() {
    return required;
  }

  /** Whether a change of any setting in it waits for the next start. */
  public boolean needsRestart() {
    return members.stream()
        .anyMatch(
            member ->
                switch (member) {
                  case Setting<?> setting -> setting.needsRestart();
                  case Section section -> section.needsRestart();
                });
  }

  @Nullable Member member(String key) {
    for (Member member : members) {
      if (member.key().equals(key)) {
        return member;
      }
    }
    return null;
  }

  private String prefix() {
    return switch (shape) {
      case ONE -> name.isEmpty() ? "" : name + ".";
      case LIST -> name + "[].";
      case NAMED -> name + ".*.";
    };
  }

  @Override
  public String toString() {
    return name;
  }
}
