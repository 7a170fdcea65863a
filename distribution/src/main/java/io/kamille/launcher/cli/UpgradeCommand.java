package io.kamille.launcher.cli;

import io.kamille.launcher.service.Upgrade;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code kamille upgrade}: has the running process replaced by what is installed now. */
@Command(
    name = "upgrade",
    description = {
      "Replace the running process without losing a connection.",
      "If the new process does not start, the running one goes on and the exit code is 69."
    })
final class UpgradeCommand extends Subcommand implements Callable<Integer> {

  @Option(
      names = "--control",
      paramLabel = "SOCKET",
      defaultValue = "/run/kamille/control",
      description = "Where the running process takes orders (default: ${DEFAULT-VALUE}).")
  private Path control = Path.of("");

  @Override
  public Integer call() throws CommandFailure {
    try {
      long process = Upgrade.order(control);
      out().println("process " + process + " serves now");
      return ExitCode.OK;
    } catch (IOException failed) {
      throw new CommandFailure(ExitCode.UNAVAILABLE, "not upgraded: " + failed.getMessage());
    }
  }
}
