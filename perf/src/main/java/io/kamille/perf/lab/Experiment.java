package io.kamille.perf.lab;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import io.kamille.perf.Program;
import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.HostFingerprint;
import io.kamille.perf.host.MeasuredCode;
import io.kamille.perf.host.Resource;
import io.kamille.perf.peer.Daemon;
import io.kamille.perf.report.Finding;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * One experiment of a paper, done again: raw data while it runs, and a report however it ends. The
 * page beside this class, such as p1.md, says what is asked and how it is measured. Measures on one
 * thread; reports on any.
 */
abstract class Experiment implements Callable<Integer> {

  /** Names the digest of the code in a report. */
  static final String MEASURED_CODE = "measured code";

  /** How thoroughly it is done. */
  enum Scale {
    /** A few minutes: to see that it works and what comes out roughly. */
    QUICK,
    /** Long enough to be believed, on a machine with nothing else to do. */
    NORMAL,
    /** As in the paper, as far as one machine goes: hours. */
    FULL
  }

  @Option(names = "--quick", description = "a few minutes: to see that it works")
  private boolean isQuick;

  @Option(names = "--full", description = "as long as the paper took, as far as one machine goes")
  private boolean isFull;

  @Option(names = "--to", paramLabel = "DIR", description = "perf/target/lab/NAME-TIME if not said")
  private @Nullable Path to;

  private final String name;
  private final String title;
  private final Set<String> kept = new HashSet<>();
  private final List<String> notes = new ArrayList<>();
  private final long beginNanos = System.nanoTime();
  private @Nullable Path directory;
  private boolean isWritten;

  /**
   * By the name of its command.
   *
   * @param title for people
   */
  Experiment(String name, String title) {
    this.name = name;
    this.title = title;
  }

  final String name() {
    return name;
  }

  final String title() {
    return title;
  }

  final Scale scale() {
    return isFull ? Scale.FULL : isQuick ? Scale.QUICK : Scale.NORMAL;
  }

  /** What the places of the page's setting hold, in order. */
  abstract Object[] setting();

  /** Does it. */
  abstract void measure() throws IOException, InterruptedException;

  /** Says what has come out so far. */
  abstract void report(Report report);

  /** What holds today of the paper's claims; empty if no paper makes any. */
  abstract List<Finding> findings();

  /**
   * What decides what comes out: files and folders from the root of the tree. Once they change, a
   * report is out of date.
   */
  abstract List<String> sources();

  /** Measures and writes the report, however it ends. */
  @Override
  public final Integer call() throws IOException, InterruptedException {
    var checkout = Checkout.find();
    directory = checkout.results(to, "lab/" + name);
    Map<String, String> facts = HostFingerprint.facts(checkout);
    facts.put(MEASURED_CODE, MeasuredCode.digest(checkout.root(), sources()));
    facts.put("scale", scale().name());
    if (HostFingerprint.isBusy()) {
      note("this machine was busy with other things; expect disturbed figures");
    }
    var hook = new Thread(() -> write("interrupted", facts), "lab-report");
    Runtime.getRuntime().addShutdownHook(hook);
    String ending = "an error in the experiment itself";
    try {
      measure();
      ending = "";
    } catch (IOException e) {
      ending = Program.sentence(e);
      throw e;
    } finally {
      write(ending, facts);
    }
    Runtime.getRuntime().removeShutdownHook(hook);
    return 0;
  }

  private synchronized void write(String ending, Map<String, String> facts) {
    if (isWritten) {
      return;
    }
    isWritten = true;
    var report = new Report(name + ": " + title);
    if (!ending.isEmpty()) {
      report.paragraph(
          "INCOMPLETE: the run ended early (" + ending + "). What follows is partial.");
    }
    String page = Resource.text(Experiment.class, name + ".md").strip();
    report.paragraph(String.format(Locale.ROOT, page, setting()));
    report.facts(facts);
    report.items(notes.stream().map(note -> "Note: " + note).toList());
    report(report);
    List<Finding> findings = findings();
    if (!findings.isEmpty()) {
      report.heading("What holds today").table(Finding.table(findings));
    }
    Path here = Objects.requireNonNull(directory);
    try {
      report.write(here);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    System.out.println("report: " + here.resolve("report.md"));
  }

  /** Tells that the next step begins. */
  @FormatMethod
  final void step(@FormatString String format, Object... values) {
    System.out.printf(
        Locale.ROOT,
        "[%d s] %s%n",
        (System.nanoTime() - beginNanos) / 1_000_000_000,
        String.format(Locale.ROOT, format, values));
  }

  /** Tells and remembers, for the report, something that a reader of the figures must know. */
  final synchronized void note(String text) {
    System.out.println("note: " + text);
    notes.add(text);
  }

  /** Adds a sample to the others, and to a file of raw data. */
  final void keep(String file, Samples samples, Sample sample) throws IOException {
    samples.add(sample);
    Path path = Objects.requireNonNull(directory).resolve(file);
    if (kept.add(file)) {
      Files.writeString(path, samples.titles(sample) + "\n");
    }
    Files.writeString(path, samples.line(sample) + "\n", StandardOpenOption.APPEND);
  }

  /** Of these servers those that are installed; says what is missing of the others. */
  final List<Daemon> installed(List<Daemon> wanted) {
    for (Daemon peer : wanted) {
      if (peer.missing() != null) {
        note(peer.label() + " is left out: " + peer.missing());
      }
    }
    return wanted.stream().filter(peer -> peer.missing() == null).toList();
  }
}
