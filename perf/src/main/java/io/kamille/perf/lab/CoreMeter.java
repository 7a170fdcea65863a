package io.kamille.perf.lab;

import io.kamille.perf.host.Child;
import io.kamille.perf.host.ProcessFigures;
import io.kamille.perf.host.RunTime;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** What some processes take of the server's core between two instants, and what others take. */
record CoreMeter(List<Child> processes, long ran, long coreMicros, long beginNanos) {

  static final Figure NANOS = Figure.of("nanos");
  static final Figure RAN = Figure.of("ran_nanos");
  private static final Figure OTHERS = Figure.of("others_share");
  private static final double MOST_OTHERS = 0.15;
  private static final RunTime NOTHING = new RunTime(Map.of(), Map.of());

  static CoreMeter start(List<Child> processes) throws IOException {
    return new CoreMeter(
        processes, ran(processes), ProcessFigures.busyMicros(Core.SERVER), System.nanoTime());
  }

  private static long ran(List<Child> processes) throws IOException {
    long sum = 0;
    for (Child process : processes) {
      sum += process.runTime().since(NOTHING).ranNanos();
    }
    return sum;
  }

  Sample stop(Sample sample) throws IOException {
    double nanos = System.nanoTime() - beginNanos;
    double ours = ran(processes) - ran;
    double core = (ProcessFigures.busyMicros(Core.SERVER) - coreMicros) * 1e3;
    return sample.with(NANOS, nanos).with(RAN, ours).with(OTHERS, Math.max(0, core - ours) / nanos);
  }

  /** Those in which others took little of the core. */
  static Samples undisturbed(Samples all) {
    return all.where(one -> one.of(OTHERS) <= MOST_OTHERS);
  }
}
