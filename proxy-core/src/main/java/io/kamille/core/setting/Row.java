package io.kamille.core.setting;

import org.jspecify.annotations.Nullable;

/**
 * Where a component of a settings record comes from: a member of the file, several that lie beside
 * the others without a section of their own, or no file at all.
 */
public sealed interface Row permits Member, InlinedSection, FixedComponent {

  /** A component that no file sets. */
  static Row fixed(@Nullable Object value) {
    return new FixedComponent(value);
  }
}
