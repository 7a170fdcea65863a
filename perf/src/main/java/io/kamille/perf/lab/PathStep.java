package io.kamille.perf.lab;

import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Finding;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.report.Spread;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** One section of lab p4: clients behind paths, at servers that are tuned in one way or another. */
final class PathStep {

  /*
   * A budget counts if it binds, so that the kernel alone holds more, and if it bounds: a way holds
   * four times as much at the most. The kernel books about twice the content, a segment more than
   * the size, and a page set aside.
   */
  static final int BOUND_FACTOR = 4;

  static final Column MEMORY = Column.median("memory, KiB", TunedRun.MEMORY.times(1.0 / 1024), 0);

  private final Experiment lab;
  private final String name;
  private final String situations;
  private final Samples all;

  PathStep(Experiment lab, String name, String situations) {
    this.lab = lab;
    this.name = name;
    this.situations = situations;
    this.all = new Samples(situations, "way");
  }

  void measure(
      TunedRun runs, int round, int situation, BufferWay way, long budgetBytes, TunedRun.Load load)
      throws IOException, InterruptedException {
    Sample sample = begin(round, situation, way);
    keep(runs.measure(sample, way, budgetBytes, load, new AllocationTrace()));
  }

  /** A sample of a run that begins. */
  Sample begin(int round, int situation, BufferWay way) {
    lab.step("%s, %s: %d, %s, round %d", name, situations, situation, way.label, round);
    return Sample.of(Integer.toString(situation), way.label, round);
  }

  void keep(Sample sample) throws IOException {
    lab.keep(name + ".csv", all, sample);
  }

  Samples undisturbed() {
    return all.where(one -> !one.is(TunedRun.DISTURBED));
  }

  /** A claim that with one way a figure is so many times that with another. */
  Finding compared(
      String claim, Figure figure, BufferWay way, BufferWay other, double holds, double less) {
    Samples known = undisturbed();
    return judged(
        claim, at -> known.ratio(figure, at, way.label, other.label), _ -> true, holds, less);
  }

  /**
   * A claim about the situations in which its cause was there; the figures are of all.
   *
   * @param isThere whether it was
   */
  Finding judged(
      String claim,
      Function<String, Optional<Spread>> times,
      Predicate<String> isThere,
      double holds,
      double less) {
    String figures =
        all.situations().stream()
            .map(at -> at + " " + situations + ": " + Column.text(times.apply(at), 2))
            .collect(Collectors.joining("; "));
    List<Double> decisive =
        all.situations().stream()
            .filter(isThere)
            .flatMap(at -> times.apply(at).stream().map(Spread::median))
            .toList();
    return decisive.isEmpty()
        ? Finding.untested(claim, "its cause was not there, or runs were disturbed; " + figures)
        : Finding.atLeast(claim, decisive, holds, less, figures);
  }

  /** Whether the kernel alone holds more than the budget, and the way not much more. */
  boolean isBound(String situation, long budgetBytes, BufferWay way) {
    return memory(situation, BufferWay.OFF) > budgetBytes
        && memory(situation, way) <= BOUND_FACTOR * budgetBytes;
  }

  private double memory(String situation, BufferWay way) {
    return undisturbed().median(TunedRun.MEMORY, situation, way.label);
  }

  void report(Report report, String heading, String text, List<Column> columns) {
    Samples known = undisturbed();
    int leftOut = all.all().size() - known.all().size();
    report.heading(heading).paragraph(text + " Disturbed runs that are left out: " + leftOut + ".");
    report.table(known.wholeTable("way", situations, columns));
  }
}
