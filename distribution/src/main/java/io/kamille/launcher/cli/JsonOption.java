package io.kamille.launcher.cli;

import java.io.PrintWriter;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** Whether a command prints what the API answers, for other programs. */
final class JsonOption {

  @Option(names = "--json", description = "Print the answer of the API, as JSON.")
  private boolean isJson;

  /** Prints the answer if it is asked for; false if the command is to print words. */
  boolean isAsked(PrintWriter out, JsonNode answer) {
    if (isJson) {
      out.println(answer);
    }
    return isJson;
  }

  /** Without what would move the cursor of a terminal: clients and origins chose these texts. */
  static String plain(String text) {
    return text.replaceAll("[\\p{Cc}\\p{Cf}]", "?");
  }
}
