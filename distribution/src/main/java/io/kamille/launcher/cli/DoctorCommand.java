package io.kamille.launcher.cli;

import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.doctor.Doctor;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code kamille doctor}: what to change on this machine, and why. */
@Command(
    name = "doctor",
    description = {
      "Say what to change on this machine.",
      "",
      "Looks at kernel settings, limits, memory, clock, names and disk."
    })
final class DoctorCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = {"-c", "--config"},
      paramLabel = "FILE",
      defaultValue = "/etc/kamille/kamille.yaml",
      description = "The configuration file (default: ${DEFAULT-VALUE}).")
  private Path file = Path.of("");

  @Override
  public Integer call() throws CommandFailure {
    Configuration configuration =
        Running.accepted(ConfigurationFile.read(file), spec.commandLine().getErr());
    PrintWriter out = spec.commandLine().getOut();
    Doctor.examine(Path.of("/"), configuration).forEach(out::println);
    out.flush();
    return ExitCode.OK;
  }
}
