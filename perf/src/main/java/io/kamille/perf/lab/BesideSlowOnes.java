package io.kamille.perf.lab;

import static io.kamille.perf.lab.BufferWay.EQUAL;
import static io.kamille.perf.lab.BufferWay.EQUATION;
import static io.kamille.perf.lab.BufferWay.OFF;
import static io.kamille.perf.lab.BufferWay.WINDOW;

import io.kamille.perf.lab.TunedRun.Crowd;
import io.kamille.perf.load.PathClients.Fetcher;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Finding;
import io.kamille.perf.report.LineChart;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.util.List;
import java.util.function.Predicate;

/** Fig. 7: one fast connection beside slow ones, out of one budget. */
final class BesideSlowOnes {

  /*
   * Rates are a tenth of the paper's, because the emulator carries no Gigabit; round trip, loss and
   * budget are the paper's. A small send buffer bounds memory only if the kernel makes trains of
   * one segment, as it did in 2001: it takes a whole train of up to 64 KiB whenever it takes any.
   *
   * Each slow one more takes time before figures count: what all of them took at the beginning
   * must have left.
   */
  private static final String FAST = "delay=1500us loss=0.1% rate=100mbit queue=100k";
  private static final String SLOW = "delay=1500us rate=10mbit queue=100k";
  private static final List<BufferWay> WAYS = List.of(OFF, EQUAL, WINDOW, EQUATION);
  private static final int SETTLING_SECONDS = 2;
  private static final int SLOW_OF_SECOND = 25;
  private static final double MEGABIT = 8e-6;

  /** In parts of alone. */
  private static final double STARVING = 0.9;

  /** So many slow ones leave each less than the fast one can use. */
  private static final int MANY = 50;

  private static final Figure FAST_GOODPUT = TunedRun.goodput("fast");
  private static final List<Column> COLUMNS =
      List.of(
          Column.spread("Mbit/s of the fast one", FAST_GOODPUT.times(MEGABIT), 0),
          Column.multiple("of alone", FAST_GOODPUT, "0"),
          Column.median("Mbit/s in all", TunedRun.GOODPUT.times(MEGABIT), 0),
          PathStep.MEMORY,
          Column.median("÷ budget", TunedRun.MEMORY.times(1.0 / TunedRun.PAPER_BUDGET), 1),
          Column.median(
              "sizes, KiB each", TunedRun.SIZES.per(TunedRun.CLIENTS).times(1.0 / 1024), 1));

  private final PathStep step;

  BesideSlowOnes(Experiment lab) {
    step = new PathStep(lab, "beside", "slow ones");
  }

  void measure(TunedRun runs, int seconds, List<Integer> numbers, int rounds)
      throws IOException, InterruptedException {
    runs.spaces().segmentTrains(false);
    for (int round = 1; round <= rounds; round++) {
      for (int slow : numbers) {
        TunedRun longer = runs.lasting(SETTLING_SECONDS + slow / SLOW_OF_SECOND, seconds);
        for (BufferWay way : WAYS) {
          var clients =
              new Crowd(TunedRun.OBJECT_BYTES)
                  .with("fast", FAST, 1, 1, Fetcher.UNLIMITED)
                  .with("slow", SLOW, slow, slow, Fetcher.UNLIMITED);
          step.measure(longer, round, slow, way, TunedRun.PAPER_BUDGET, clients);
        }
      }
    }
    runs.spaces().segmentTrains(true);
  }

  List<Finding> findings() {
    Samples known = step.undisturbed();
    return List.of(
        step.judged(
            "Fig. 7: with an equal split the fast connection starves: alone ÷ beside",
            at -> known.multiple(FAST_GOODPUT, EQUAL.label, "0", at),
            at -> step.isBound(at, TunedRun.PAPER_BUDGET, EQUAL) && Integer.parseInt(at) >= MANY,
            2,
            1.25),
        compared(
            "Fig. 7: where an equal split starves it, ATBT gives more: ATBT ÷ equal split",
            WINDOW,
            EQUAL,
            at -> isStarving(at, EQUAL),
            1.5,
            1.1),
        compared(
            "Fig. 7: where ATBT starves it, E-ATBT gives more: E-ATBT ÷ ATBT",
            EQUATION,
            WINDOW,
            at -> isStarving(at, WINDOW),
            1.1,
            1.02),
        compared("today's rival: E-ATBT ÷ the kernel alone", EQUATION, OFF, _ -> true, 0.95, 0.8));
  }

  private boolean isStarving(String slow, BufferWay way) {
    return step.isBound(slow, TunedRun.PAPER_BUDGET, way)
        && step.undisturbed()
            .multiple(FAST_GOODPUT, way.label, slow, "0")
            .filter(ofAlone -> ofAlone.median() < STARVING)
            .isPresent();
  }

  private Finding compared(
      String claim,
      BufferWay way,
      BufferWay other,
      Predicate<String> isThere,
      double holds,
      double less) {
    Samples known = step.undisturbed();
    return step.judged(
        claim,
        at -> known.ratio(FAST_GOODPUT, at, way.label, other.label),
        isThere.and(at -> step.isBound(at, TunedRun.PAPER_BUDGET, way)),
        holds,
        less);
  }

  void report(Report report) {
    step.report(
        report,
        "One fast connection beside slow ones (Fig. 7)",
        "The fast connection: 100 Mbit/s, round trip 3 ms, loss 0.1 %. The slow ones share 10"
            + " Mbit/s at 3 ms. The budget is 512 KiB. The kernel makes trains of one segment. Of"
            + " alone: in parts of the fast one's goodput with 0 slow ones, the same way. Memory"
            + " includes the kernel's bookkeeping. If each window wants more than an equal part,"
            + " ATBT is the equal split. A way is judged where the kernel alone holds more than the"
            + " budget, and the way at most "
            + PathStep.BOUND_FACTOR
            + " times the budget. A way starves the fast one if that gets less than nine tenths of"
            + " alone.",
        COLUMNS);
    report.plot(
        "beside",
        new LineChart("one fast connection beside slow ones", "slow ones", "Mbit/s of the fast one")
            .lines(step.undisturbed(), FAST_GOODPUT.times(MEGABIT)));
  }
}
