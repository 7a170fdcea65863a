package io.kamille.launcher.cli;

import io.kamille.launcher.configuration.ConfigurationFile;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code kamille check}: reads a configuration and says all that is wrong with it. */
@Command(
    name = "check",
    description = "Check a configuration file; name every problem with its line and column.")
final class CheckCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = {"-c", "--config"},
      paramLabel = "FILE",
      required = true,
      description = "The configuration file.")
  private Path file = Path.of("");

  @Override
  public Integer call() throws CommandFailure {
    return check(file, spec.commandLine().getOut(), spec.commandLine().getErr());
  }

  /** Says that the file has no problems, or fails with all of them printed. */
  static int check(Path file, PrintWriter out, PrintWriter err) throws CommandFailure {
    Configurations.accepted(ConfigurationFile.read(file), err);
    out.println(file + ": no problems");
    return ExitCode.OK;
  }
}
