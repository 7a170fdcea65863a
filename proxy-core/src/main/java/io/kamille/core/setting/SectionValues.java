package io.kamille.core.setting;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The values of one section: what was given and where, with the declared defaults for the rest.
 * Immutable.
 */
public final class SectionValues {

  /** A value from the file, and where it stands there. */
  private record Given(Object value, Position position) {}

  private final Section<?> section;
  private final String name;
  private final String path;
  private final Position position;
  private final Map<Setting<?>, Given> given;
  private final Map<Subsection<?>, List<SectionValues>> children;

  private SectionValues(Builder builder) {
    section = builder.section;
    name = builder.name;
    path = builder.path;
    position = builder.position;
    given = Map.copyOf(builder.given);
    children = new HashMap<>();
    builder.children.forEach((child, all) -> children.put(child, List.copyOf(all)));
  }

  /** The values of a whole file, given one by one. */
  public static Builder of(Section<?> root) {
    return of(root, Position.NOWHERE);
  }

  static Builder of(Section<?> root, Position position) {
    return new Builder(root, "", "", position);
  }

  public Section<?> section() {
    return section;
  }

  /** The name this section has among its equals ({@link Subsection.Shape#NAMED}), else empty. */
  public String name() {
    return name;
  }

  /** Where this section is, such as {@code upstreams.web}. */
  public String path() {
    return path;
  }

  /** Where this section begins. */
  public Position position() {
    return position;
  }

  /** The path of a member of this section, such as {@code upstreams.web.choice}. */
  public String path(Member member) {
    return path.isEmpty() ? member.key() : path + "." + member.key();
  }

  /** Where the setting was given, or else where this section begins. */
  public Position position(Setting<?> setting) {
    Given value = given.get(setting);
    return value == null ? position : value.position;
  }

  /** Whether the setting has a value of its own and not the default. */
  public boolean isGiven(Setting<?> setting) {
    return given.containsKey(setting);
  }

  /** The value given or the default, or null when there is neither. */
  public <T> @Nullable T find(Setting<T> setting) {
    Given value = given.get(setting);
    if (value != null) {
      @SuppressWarnings("unchecked") // Builder.put takes nothing but the setting's own type
      T typed = (T) value.value;
      return typed;
    }
    return setting.rule().apply(this);
  }

  /** The value given or the default; there must be one. */
  public <T> T value(Setting<T> setting) {
    T value = find(setting);
    if (value == null) {
      throw new IllegalStateException(path(setting) + ": no value (expected: it was read)");
    }
    return value;
  }

  /** The value as a file would write it, or nothing when there is none. */
  public <T> String printed(Setting<T> setting) {
    T value = find(setting);
    return value == null ? "" : setting.type().print(value);
  }

  /** What the record has for the setting. */
  <T> @Nullable T component(Setting<T> setting) {
    T value = find(setting);
    return value == null ? setting.standIn() : value;
  }

  /** The section inside this one, all defaults when the file does not have it. */
  public SectionValues one(Subsection<?> child) {
    List<SectionValues> found = all(child);
    return found.isEmpty()
        ? new Builder(child.section(), "", path(child), position).build()
        : found.getFirst();
  }

  /** The sections of a list in its order, or those under names in the order of the file. */
  public List<SectionValues> all(Subsection<?> child) {
    return children.getOrDefault(child, List.of());
  }

  /** Adds what the sections in the file, this and those inside, find wrong with their values. */
  public void check(Problems problems) {
    section.check(this, problems);
    for (Member member : section.members()) {
      if (member instanceof Subsection<?> child) {
        all(child).forEach(values -> values.check(problems));
      }
    }
  }

  /** Puts values together. Confined to its thread. */
  public static final class Builder {
    private final Section<?> section;
    private final String name;
    private final String path;
    private final Position position;
    private final Map<Setting<?>, Given> given = new HashMap<>();
    private final Map<Subsection<?>, List<SectionValues>> children = new HashMap<>();

    private Builder(Section<?> section, String name, String path, Position position) {
      this.section = section;
      this.name = name;
      this.path = path;
      this.position = position;
    }

    /** Gives a setting of this section its value. */
    public <T> Builder put(Setting<T> setting, T value) {
      return put(setting, value, Position.NOWHERE);
    }

    <T> Builder put(Setting<T> setting, T value, Position at) {
      checkMember(setting);
      given.put(setting, new Given(value, at));
      return this;
    }

    void copy(Setting<?> setting, SectionValues source) {
      Given value = source.given.get(setting);
      if (value != null) {
        given.put(setting, value);
      }
    }

    /** Adds a section inside this one. */
    public Builder add(Subsection<?> member, SectionValues child) {
      checkMember(member);
      children.computeIfAbsent(member, any -> new ArrayList<>()).add(child);
      return this;
    }

    /**
     * A builder for a section inside this one; its result goes to {@link #add}.
     *
     * @param childName the name among its equals; empty unless the section is under names
     */
    public Builder child(Subsection<?> child, String childName) {
      return child(child, childName, Position.NOWHERE);
    }

    Builder child(Subsection<?> child, String childName, Position at) {
      checkMember(child);
      String base = path.isEmpty() ? child.key() : path + "." + child.key();
      String childPath =
          switch (child.shape()) {
            case ONE -> base;
            case LIST, SOME -> base + "[" + children.getOrDefault(child, List.of()).size() + "]";
            case NAMED -> base + "." + childName;
          };
      return new Builder(child.section(), childName, childPath, at);
    }

    String path() {
      return path;
    }

    Position position() {
      return position;
    }

    private void checkMember(Member member) {
      if (!section.members().contains(member)) {
        throw new IllegalArgumentException(
            "member: " + member + " (expected: one of " + section.members() + ")");
      }
    }

    public SectionValues build() {
      return new SectionValues(this);
    }
  }
}
