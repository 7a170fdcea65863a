package io.kamille.perf.lab;

import io.kamille.perf.report.Report;
import java.io.IOException;

/** One experiment of a {@link Paper}, done again. */
interface Experiment {

  /** How it is done and on what, for whoever reads the report. */
  String setting();

  /** How many steps it will take. */
  int steps();

  /**
   * Does it, step by step.
   *
   * @throws IOException if the machine lacks what is needed, with what to do about it
   */
  void measure(LabRun run) throws IOException, InterruptedException;

  /** Says what has come out so far. Any thread, also while it is being measured. */
  void report(Report report);
}
