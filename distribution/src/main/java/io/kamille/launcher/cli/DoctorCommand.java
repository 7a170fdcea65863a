package io.kamille.launcher.cli;

import io.kamille.core.socket.UnixSocket;
import io.kamille.launcher.client.LocalApi;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.doctor.Doctor;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code kamille doctor}: what to change on this machine, and why. */
@Command(
    name = "doctor",
    description = {
      "Say what to change on this machine.",
      "",
      "Looks at kernel settings, memory, clock, names and disk, and at limits and heap of",
      "the running process. The exit code is 71 if something is to be changed."
    })
final class DoctorCommand extends Subcommand implements Callable<Integer> {

  @Option(
      names = {"-c", "--config"},
      paramLabel = "FILE",
      defaultValue = "/etc/kamille/kamille.yaml",
      description = "The configuration file (default: ${DEFAULT-VALUE}).")
  private Path file = Path.of("");

  @Mixin private StateOption state = new StateOption();

  @Override
  public Integer call() throws CommandFailure {
    Configuration configuration = Running.accepted(ConfigurationFile.read(file), err());
    Path socket = LocalApi.socket(state.directory());
    UnixSocket.Peer running = UnixSocket.listener(socket.toString());
    long none = Doctor.isHidden(socket) ? Doctor.UNSEEN : 0;
    List<Doctor.Finding> findings =
        Doctor.examine(Path.of("/"), running == null ? none : running.processId(), configuration);
    findings.forEach(out()::println);
    out().flush();
    return findings.stream().allMatch(Doctor.Finding::isWell) ? ExitCode.OK : ExitCode.SYSTEM;
  }
}
