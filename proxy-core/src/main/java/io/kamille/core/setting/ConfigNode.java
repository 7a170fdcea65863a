package io.kamille.core.setting;

import java.util.List;

/** One node of a configuration text, with the place where it begins. */
public sealed interface ConfigNode {

  Position position();

  /** What the node is, as a message names it: {@code a list}. */
  String kind();

  /** A value, still as text. */
  record Scalar(String text, boolean isQuoted, Position position) implements ConfigNode {

    /** Whether nothing was written: {@code capacity:} alone, or a YAML null. */
    public boolean isNothing() {
      return !isQuoted && (text.isEmpty() || text.equals("~") || text.equalsIgnoreCase("null"));
    }

    @Override
    public String kind() {
      return isNothing() ? "nothing" : Problems.quote(text);
    }
  }

  /** A list. */
  record Sequence(List<ConfigNode> items, Position position) implements ConfigNode {
    @Override
    public String kind() {
      return "a list";
    }
  }

  /** Keys with their values in the order of the file; a key may stand there twice. */
  record Mapping(List<Entry> entries, Position position) implements ConfigNode {
    @Override
    public String kind() {
      return "a section";
    }
  }

  /** One key of a mapping and its value. */
  record Entry(String key, Position position, ConfigNode value) {}
}
