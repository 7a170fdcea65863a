package io.kamille.perf.lab;

import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * A run of an experiment: says how far it is and keeps what was measured, line by line, so that
 * nothing is lost when it ends early. Confined, but for {@link #notes}.
 */
final class LabRun {

  private final Path directory;
  private final int steps;
  private final Consumer<String> out;
  private final LongSupplier clock;
  private final Set<String> kept = new HashSet<>();
  private final List<String> notes = new ArrayList<>();
  private long beginNanos;
  private int step;

  LabRun(Path directory, int steps, Consumer<String> out, LongSupplier clock) {
    this.directory = directory;
    this.steps = steps;
    this.out = out;
    this.clock = clock;
  }

  /** Tells that the next step begins: what it is, how far it is, how long it will take yet. */
  void step(String what) {
    if (step == 0) {
      beginNanos = clock.getAsLong();
    }
    String left = step == 0 ? "" : ", " + left() + " left";
    step++;
    out.accept(String.format(Locale.ROOT, "[%d/%d%s] %s", step, steps, left, what));
  }

  /** The steps to come will take as long as those behind. */
  private String left() {
    double perStep = (double) (clock.getAsLong() - beginNanos) / step;
    long seconds = Math.round(perStep * Math.max(0, steps - step) / 1e9);
    return seconds < 60 ? seconds + " s" : seconds / 60 + " min " + seconds % 60 + " s";
  }

  /** Tells and remembers, for the report, something that a reader of the figures must know. */
  synchronized void note(String text) {
    out.accept("note: " + text);
    notes.add(text);
  }

  /** What is to be known. Any thread. */
  synchronized List<String> notes() {
    return List.copyOf(notes);
  }

  /** Adds a sample to the others, and to a file of raw data. */
  void keep(String file, Samples samples, Sample sample) throws IOException {
    samples.add(sample);
    keep(file, samples.titles(sample), samples.line(sample));
  }

  /**
   * Adds a line to a file of raw data, below the titles that it begins with. What an earlier run
   * has left in the directory by that name is replaced.
   */
  void keep(String file, String titles, String line) throws IOException {
    Path path = directory.resolve(file);
    if (kept.add(file)) {
      Files.writeString(path, titles + "\n");
    }
    Files.writeString(path, line + "\n", StandardOpenOption.APPEND);
  }
}
