package io.kamille.core.setting;

/** What a section may hold: a setting or another section. */
public sealed interface Member permits Setting, Section {

  /**
   * The full dotted name, such as {@code upstreams.*.connect-timeout}; empty for the whole file.
   */
  String name();

  /** What it is and does, for the reference page. */
  String description();

  /** The last part of the name: the key as it stands in the file. */
  default String key() {
    return name().substring(name().lastIndexOf('.') + 1);
  }
}
