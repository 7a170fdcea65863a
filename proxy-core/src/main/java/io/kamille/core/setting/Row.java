package io.kamille.core.setting;

import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where a component of a settings record comes from: a member of the file, several that lie beside
 * the others without a section of their own, or no file at all.
 */
public sealed interface Row permits Member, Row.Inlined, Row.Unset {

  /** What it stands for in the file. */
  Stream<Member> members();

  /** The component, by the values of its section. */
  @Nullable Object component(SectionValues values);

  /** A settings record inside another one whose settings stand in the file beside the other's. */
  record Inlined<R>(Section<R> section) implements Row {
    @Override
    public Stream<Member> members() {
      return section.members().stream();
    }

    @Override
    public Object component(SectionValues values) {
      return section.record(values);
    }
  }

  /** A component that no file sets; {@code rule} may look at the settings beside it. */
  record Unset(Function<SectionValues, @Nullable Object> rule) implements Row {
    @Override
    public Stream<Member> members() {
      return Stream.of();
    }

    @Override
    public @Nullable Object component(SectionValues values) {
      return rule.apply(values);
    }
  }

  /** A component that no file sets: it has one value until somebody else gives it another. */
  static Row fixed(@Nullable Object value) {
    return new Unset(values -> value);
  }

  /** A component that no file sets, which follows from the settings beside it. */
  static Row derived(Function<SectionValues, @Nullable Object> rule) {
    return new Unset(rule);
  }
}
