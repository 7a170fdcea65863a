package io.kamille.launcher.cli;

import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** A command that asks the running appliance for one thing, and prints it. */
abstract class LocalCommand extends Subcommand implements Callable<Integer> {

  @Mixin private StateOption state = new StateOption();

  @Option(names = "--json", description = "Print the answer of the API, as JSON.")
  private boolean isJson;

  @Override
  public final Integer call() throws CommandFailure {
    JsonNode answer = answer();
    out().println(isJson ? answer : String.join(System.lineSeparator(), words(answer)));
    check(answer);
    return ExitCode.OK;
  }

  /** What the appliance answers in the end. */
  abstract JsonNode answer() throws CommandFailure;

  /** The lines that say it to people. */
  abstract List<String> words(JsonNode answer);

  /** Fails if the answer tells of what did not go well. */
  void check(JsonNode answer) throws CommandFailure {}

  final JsonNode get(String target) throws CommandFailure {
    return state.json("GET", target, null);
  }

  final JsonNode post(String target, @Nullable Object content) throws CommandFailure {
    return state.json("POST", target, content);
  }
}
