package io.kamille.core.setting;

import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * What the YAML parser says of a text, in an operator's words.
 *
 * @param found what stands at the place
 * @param expected what may stand there
 */
record YamlTrouble(String found, String expected) {

  private static final String TAB = "(TAB)";

  static YamlTrouble of(MarkedYamlEngineException trouble) {
    String context = String.valueOf(trouble.getContext());
    String problem = String.valueOf(trouble.getProblem());
    if (problem.contains(TAB)) {
      return new YamlTrouble("a tab", "spaces: YAML indents by nothing else");
    }
    if (problem.contains("cannot start any token")) {
      return new YamlTrouble(
          problem.replaceFirst("found character '(.*)' that cannot.*", "the character $1"),
          "quotes around text that begins with it");
    }
    if (problem.startsWith("mapping values are not allowed")) {
      return new YamlTrouble(
          "a colon where no key may stand",
          "other indentation, or quotes around text with a colon");
    }
    if (problem.startsWith("could not find expected ':'")) {
      return new YamlTrouble("a key without a colon", "KEY: VALUE");
    }
    if (problem.endsWith("unexpected end of stream")) {
      return new YamlTrouble("quotes that do not end", "a closing quote");
    }
    return switch (context) {
      case "while scanning an alias" ->
          new YamlTrouble("a * without a name", "quotes around text that begins with *");
      case "while parsing a flow sequence" ->
          new YamlTrouble("a list in brackets that does not end here", "a comma or ]");
      case "while parsing a flow mapping" ->
          new YamlTrouble("a section in braces that does not end here", "a comma or }");
      case "while parsing a block mapping" ->
          new YamlTrouble("something other than a key", "all keys of a section in one column");
      case "while parsing a block collection" ->
          new YamlTrouble("something other than an item", "all dashes of a list in one column");
      default -> other(problem);
    };
  }

  static YamlTrouble of(YamlEngineException trouble) {
    return other(String.valueOf(trouble.getMessage()));
  }

  /** The parser's words quote the text, line ends too, and count code points in parentheses. */
  private static YamlTrouble other(String problem) {
    String words = problem.replaceAll("\\s*\\([^()]*\\)", "").replaceAll("\\s+", " ").strip();
    return new YamlTrouble("broken YAML: " + words, "YAML 1.2");
  }
}
