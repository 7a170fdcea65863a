package io.kamille.launcher.cli;

import java.io.PrintWriter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** A word of the command line, or several of one kind. */
abstract class Subcommand {

  @Spec private CommandSpec spec = CommandSpec.create();

  final CommandSpec spec() {
    return spec;
  }

  final PrintWriter out() {
    return spec.commandLine().getOut();
  }

  final PrintWriter err() {
    return spec.commandLine().getErr();
  }

  /** What is wrong with the words of the user. */
  final ParameterException misuse(String sentence) {
    return new ParameterException(spec.commandLine(), sentence);
  }

  /**
   * A text without what would move the cursor of a terminal: clients and origins chose it. Empty if
   * it is not there.
   */
  static String text(JsonNode node, String name) {
    return printable(node.path(name).asString(""));
  }

  static String printable(String text) {
    return text.replaceAll("[\\p{Cc}\\p{Cf}]", "?");
  }
}
