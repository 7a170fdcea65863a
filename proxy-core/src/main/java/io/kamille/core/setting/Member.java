package io.kamille.core.setting;

import java.util.stream.Stream;

/** What a section of the file may hold: a setting or another section. */
public sealed interface Member extends Row permits Setting, Subsection {

  @Override
  default Stream<Member> members() {
    return Stream.of(this);
  }

  /** The key as it stands in the file, such as {@code connect-timeout}. */
  String key();

  /** What it is and does, for the reference page. */
  String description();
}
