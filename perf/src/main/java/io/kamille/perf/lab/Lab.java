package io.kamille.perf.lab;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.HostFingerprint;
import io.kamille.perf.report.Report;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** What {@code ./dev lab} runs: the papers' experiments, each by one command. */
public final class Lab {

  /*
   * The report is written once, by whoever comes first: the end of the measurement, its failure, or
   * the shutdown hook when the run is interrupted. It then says so.
   */

  private static final int USAGE = 64;
  private static final int UNAVAILABLE = 69;
  private static final Set<String> HELP = Set.of("-h", "--help", "help");
  private static final Set<String> COMPARED = Set.of("p1", "p5");
  private static final double QUIET_LOAD = 0.5;
  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT);

  private final Experiment experiment;
  private final Map<String, String> facts;
  private final Path directory;
  private final LabRun run;
  private boolean isWritten;

  Lab(Experiment experiment, Map<String, String> facts, Path directory) {
    this.experiment = experiment;
    this.facts = facts;
    this.directory = directory;
    this.run = new LabRun(directory, experiment.steps(), System.out::println, System::nanoTime);
  }

  /** Runs the experiment that the first argument names. */
  public static void main(String[] arguments) throws InterruptedException {
    if (arguments.length == 0 || HELP.contains(arguments[0])) {
      System.out.println(LabOptions.HELP);
      return;
    }
    try {
      run(LabOptions.parse(List.of(arguments)));
    } catch (IllegalArgumentException e) {
      fail(USAGE, String.valueOf(e.getMessage()));
    } catch (IOException e) {
      fail(UNAVAILABLE, sentence(e));
    }
  }

  private static void fail(int status, String why) {
    System.err.println("lab: " + why);
    System.exit(status);
  }

  /**
   * What went wrong. An exception of the file system says the file's name alone, or little more.
   */
  static String sentence(IOException why) {
    return switch (why) {
      case NoSuchFileException missing -> missing.getFile() + ": no file of this name";
      case AccessDeniedException denied -> denied.getFile() + ": access is denied";
      case FileAlreadyExistsException there -> there.getFile() + ": there is a file of this name";
      case FileSystemException other when other.getReason() == null ->
          other.getFile() + ": cannot be read or written";
      default -> String.valueOf(why.getMessage());
    };
  }

  private static void run(LabOptions options) throws IOException, InterruptedException {
    Experiment experiment = experiment(options);
    var checkout = Checkout.find();
    Path directory = directory(options, checkout);
    Files.createDirectories(directory);
    new Lab(experiment, HostFingerprint.take(checkout).facts(), directory).run();
  }

  private static Experiment experiment(LabOptions options) {
    if (!options.against().isEmpty() && !COMPARED.contains(options.experiment())) {
      throw new IllegalArgumentException(
          "--against: of no use for "
              + options.experiment()
              + " (expected: p1 or p5); no other server has what it varies");
    }
    return switch (options.experiment()) {
      case "p1" -> new PacedPolling(options.scale(), options.against());
      case "p2" -> new MemoryAtPeak(options.scale());
      case "p3" -> new BusyWait(options.scale());
      case "p4" -> new BufferTuning(options.scale());
      case "p5" -> new LossyPaths(options.scale(), options.against());
      default ->
          throw new IllegalArgumentException(
              "unknown experiment " + options.experiment() + " (expected: p1, p2, p3, p4 or p5)");
    };
  }

  private static Path directory(LabOptions options, Checkout checkout) {
    if (options.directory() != null) {
      return options.directory();
    }
    String stamp = LocalDateTime.now(ZoneOffset.UTC).format(STAMP);
    return checkout.root().resolve("perf/target/lab").resolve(options.experiment() + "-" + stamp);
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
      ending = sentence(e);
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
    Report report = report(ending);
    try {
      Files.writeString(directory.resolve("report.md"), report.markdown());
      Files.writeString(directory.resolve("report.html"), report.html());
      for (Report.PlotFile plot : report.plots()) {
        Files.writeString(directory.resolve(plot.name()), plot.svg());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    System.out.println("report: " + directory.resolve("report.html"));
  }

  private Report report(String ending) {
    var report = new Report(experiment.name() + ": " + experiment.title());
    if (!ending.isEmpty()) {
      report.paragraph(
          "INCOMPLETE: the run ended early (" + ending + "). What follows is partial.");
    }
    report.heading("Question").paragraph(experiment.question());
    report.heading("Setting").paragraph(experiment.setting());
    report.items(facts.entrySet().stream().map(f -> f.getKey() + ": " + f.getValue()).toList());
    report.items(run.notes().stream().map(note -> "Note: " + note).toList());
    experiment.report(report);
    return report;
  }
}
