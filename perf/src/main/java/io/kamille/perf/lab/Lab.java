package io.kamille.perf.lab;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.HostFingerprint;
import io.kamille.perf.option.Chosen;
import io.kamille.perf.option.Command;
import io.kamille.perf.option.Commands;
import io.kamille.perf.option.Options;
import io.kamille.perf.report.Report;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** What {@code ./dev lab} runs: the papers' experiments, each by one command. */
public final class Lab {

  /*
   * The report is written once, by whoever comes first: the end of the measurement, its failure, or
   * the shutdown hook when the run is interrupted. It then says so.
   */

  private static final Options OPTIONS =
      Options.none()
          .flag("--quick", "three minutes at most: to see that it works, not to believe it")
          .flag("--full", "as long as the paper took, as far as one machine goes")
          .directory("perf/target/lab/NAME-TIME");

  static final Commands COMMANDS =
      new Commands(
          "lab",
          List.of(
              command(
                  PacedPolling.PAPER,
                  against(List.of()),
                  chosen -> new PacedPolling(LabScale.of(chosen), chosen.texts("--against"))),
              command(MemoryAtPeak.PAPER, OPTIONS, chosen -> new MemoryAtPeak(LabScale.of(chosen))),
              command(BusyWait.PAPER, OPTIONS, chosen -> new BusyWait(LabScale.of(chosen))),
              command(
                  SandboxNetworks.PAPER,
                  OPTIONS,
                  chosen -> new SandboxNetworks(LabScale.of(chosen))),
              command(BufferTuning.PAPER, OPTIONS, chosen -> new BufferTuning(LabScale.of(chosen))),
              command(
                  LossyPaths.PAPER,
                  against(List.of("nginx")),
                  chosen -> new LossyPaths(LabScale.of(chosen), chosen.texts("--against")))));

  private static final double QUIET_LOAD = 0.5;

  private final Paper paper;
  private final Experiment experiment;
  private final Map<String, String> facts;
  private final Path directory;
  private final LabRun run;
  private boolean isWritten;

  Lab(Paper paper, Experiment experiment, Map<String, String> facts, Path directory) {
    this.paper = paper;
    this.experiment = experiment;
    this.facts = facts;
    this.directory = directory;
    this.run = new LabRun(directory, experiment.steps(), System.out::println, System::nanoTime);
  }

  private static Options against(List<String> usual) {
    return OPTIONS.names(
        "--against",
        usual,
        Opponents.NAMES,
        "other servers that are asked the same:\n"
            + String.join(", ", Opponents.NAMES)
            + "; what is not installed is left out");
  }

  private static Command command(
      Paper paper, Options options, Function<Chosen, Experiment> experiment) {
    return new Command(
        paper.name(),
        paper.title(),
        options,
        chosen -> run(paper, experiment.apply(chosen), chosen));
  }

  /** Runs the experiment that the first argument names. */
  public static void main(String[] arguments) throws InterruptedException {
    List<String> words = List.of(arguments);
    if (Commands.asksForHelp(words)) {
      System.out.print(COMMANDS.help());
    } else {
      Commands.orFail(COMMANDS.program(), () -> COMMANDS.run(words));
    }
  }

  private static void run(Paper paper, Experiment experiment, Chosen chosen)
      throws IOException, InterruptedException {
    var checkout = Checkout.find();
    Path directory = checkout.results(chosen.textOrNull("--to"), "lab/" + paper.name());
    new Lab(paper, experiment, HostFingerprint.take(checkout).facts(), directory).run();
  }

  /** Measures and writes the report, however it ends. */
  void run() throws IOException, InterruptedException {
    if (HostFingerprint.loadAverage() > QUIET_LOAD) {
      run.note("this machine was busy with other things; expect disturbed figures");
    }
    var hook = new Thread(() -> write("interrupted"), "lab-report");
    Runtime.getRuntime().addShutdownHook(hook);
    String ending = "an error in the experiment itself";
    try {
      experiment.measure(run);
      ending = "";
    } catch (IOException e) {
      ending = Commands.sentence(e);
      throw e;
    } finally {
      write(ending);
    }
    Runtime.getRuntime().removeShutdownHook(hook);
  }

  /**
   * Writes the report, once.
   *
   * @param ending why the experiment ended early; empty if it did not
   */
  private synchronized void write(String ending) {
    if (isWritten) {
      return;
    }
    isWritten = true;
    try {
      report(ending).write(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    System.out.println("report: " + directory.resolve("report.html"));
  }

  private Report report(String ending) {
    var report = new Report(paper.name() + ": " + paper.title());
    if (!ending.isEmpty()) {
      report.paragraph(
          "INCOMPLETE: the run ended early (" + ending + "). What follows is partial.");
    }
    report.heading("Question").paragraph(paper.question());
    report.heading("Setting").paragraph(experiment.setting());
    report.facts(facts);
    report.items(run.notes().stream().map(note -> "Note: " + note).toList());
    report.heading("The paper's figures").items(paper.figures());
    experiment.report(report);
    return report;
  }
}
