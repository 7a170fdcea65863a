package io.kamille.launcher.cli;

import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code kamille completion}: a script that makes bash and zsh complete our command line. */
@Command(
    name = "completion",
    description = {
      "Print a completion script for bash and zsh.",
      "Use it by: source <(kamille completion)"
    })
final class CompletionCommand implements Runnable {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    spec.commandLine().getOut().print(AutoComplete.bash("kamille", spec.root().commandLine()));
    spec.commandLine().getOut().flush();
  }
}
