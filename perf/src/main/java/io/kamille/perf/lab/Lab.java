package io.kamille.perf.lab;

import io.kamille.perf.Program;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** What {@code ./dev lab} runs: experiments, most of them of papers, each by one command. */
@Command(name = "lab", synopsisSubcommandLabel = "NAME")
public final class Lab {

  static final List<Experiment> EXPERIMENTS =
      List.of(
          new PacedPolling(),
          new MemoryAtPeak(),
          new BusyWait(),
          new SandboxNetworks(),
          new BufferTuning(),
          new LossyPaths(),
          new SeveralNodes());

  private Lab() {}

  /** Runs the experiment that the first argument names. */
  public static void main(String[] arguments) {
    CommandLine program = program();
    if (arguments.length == 0) {
      program.usage(System.out);
    } else {
      Program.run(program, arguments);
    }
  }

  /** The program with a command for each experiment. */
  public static CommandLine program() {
    var program = new CommandLine(new Lab());
    program.getCommandSpec().mixinStandardHelpOptions(true);
    for (Experiment experiment : EXPERIMENTS) {
      var subcommand = new CommandLine(experiment);
      subcommand.getCommandSpec().usageMessage().description(experiment.title());
      subcommand.getCommandSpec().mixinStandardHelpOptions(true);
      subcommand.setCaseInsensitiveEnumValuesAllowed(true);
      program.addSubcommand(experiment.name(), subcommand);
    }
    return program;
  }
}
