package io.kamille.perf.lab;

import io.kamille.perf.lab.TunedRun.Crowd;
import io.kamille.perf.load.PathClients.Fetcher;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Finding;
import io.kamille.perf.report.LineChart;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Fig. 7: one fast connection beside slow ones, out of one budget. */
final class BesideSlowOnes {

  /*
   * Rates are a tenth of the paper's, because the emulator carries no Gigabit; round trip, loss and
   * budget are the paper's. A small send buffer bounds memory only if the kernel makes trains of
   * one segment, as it did in 2001: it takes a whole train of up to 64 KiB whenever it takes any.
   *
   * Each slow one more takes time before figures count: what all of them took at the beginning
   * must have left.
   *
   * A budget counts if it binds, so that the kernel alone holds more, and if it bounds: a row holds
   * four times as much at the most. The kernel books about twice the content, a segment more than
   * the size, and a page set aside.
   */
  private static final String FAST = "delay=1500us loss=0.1% rate=100mbit queue=100k";
  private static final String SLOW = "delay=1500us rate=10mbit queue=100k";
  private static final double BOUND_FACTOR = 4;
  private static final int SLOW_OF_SECOND = 25;
  private static final double MEGABIT = 8e-6;

  private static final Figure FAST_GOODPUT = TunedRun.goodput("fast");
  private static final List<Column> COLUMNS =
      List.of(
          Column.spread("Mbit/s of the fast one", FAST_GOODPUT.times(MEGABIT), 0),
          Column.multiple("of alone", FAST_GOODPUT, "0"),
          Column.median("Mbit/s of the slow ones", TunedRun.goodput("slow").times(MEGABIT), 1),
          Column.median("memory, KiB", TunedRun.MEMORY.times(1.0 / 1024), 0),
          Column.median("÷ budget", TunedRun.MEMORY.times(1.0 / TunedRun.PAPER_BUDGET), 1),
          Column.median(
              "sizes, KiB each", TunedRun.SIZES.per(TunedRun.CLIENTS).times(1.0 / 1024), 1));

  private final Experiment lab;
  private final Samples all = new Samples("slow", "way");

  BesideSlowOnes(Experiment lab) {
    this.lab = lab;
  }

  void measure(TunedRun runs, List<Integer> numbers, int rounds)
      throws IOException, InterruptedException {
    runs.spaces().segmentTrains(false);
    for (int round = 1; round <= rounds; round++) {
      for (int slow : numbers) {
        TunedRun longer =
            new TunedRun(
                runs.bench(),
                runs.spaces(),
                runs.settling().plusSeconds(slow / SLOW_OF_SECOND),
                runs.counted());
        for (BufferWay way : BufferWay.values()) {
          lab.step("one fast connection beside %d slow ones, %s, round %d", slow, way.label, round);
          var clients =
              new Crowd()
                  .with("fast", FAST, 1, 1, Fetcher.UNLIMITED)
                  .with("slow", SLOW, Math.min(1, slow), slow, Fetcher.UNLIMITED);
          var sample = Sample.of(Integer.toString(slow), way.label, round);
          lab.keep("beside.csv", all, longer.measure(sample, way, TunedRun.PAPER_BUDGET, clients));
        }
      }
    }
    runs.spaces().segmentTrains(true);
  }

  private Samples undisturbed() {
    return all.where(one -> !one.is(TunedRun.DISTURBED));
  }

  /** Why nothing follows for that way; empty if its budget bound. */
  private Optional<String> untested(String slow, BufferWay way) {
    Samples known = undisturbed();
    var kernel = known.spread(TunedRun.MEMORY, slow, BufferWay.OFF.label);
    var held = known.spread(TunedRun.MEMORY, slow, way.label);
    if (kernel.isEmpty() || held.isEmpty()) {
      return Optional.of("runs were disturbed");
    }
    if (kernel.get().median() <= TunedRun.PAPER_BUDGET) {
      return Optional.of("the budget did not bind: the kernel alone holds less");
    }
    return held.get().median() > BOUND_FACTOR * TunedRun.PAPER_BUDGET
        ? Optional.of("the budget did not bound memory, " + way.label)
        : Optional.empty();
  }

  List<Finding> findings() {
    String most =
        undisturbed().situations().stream()
            .max((one, other) -> Integer.compare(Integer.parseInt(one), Integer.parseInt(other)))
            .orElse("0");
    String beside = "beside " + most + " slow ones: ";
    return List.of(
        starves(beside, most),
        compared(
            "Fig. 7: with ATBT the fast connection keeps more than with an equal split",
            beside,
            most,
            BufferWay.WINDOW,
            BufferWay.EQUAL,
            1.5,
            1.1),
        compared(
            "Fig. 7: with E-ATBT it keeps more than with ATBT",
            beside,
            most,
            BufferWay.EQUATION,
            BufferWay.WINDOW,
            1.1,
            1.02),
        compared(
            "against today's rival: E-ATBT under a budget carries as much as the kernel alone",
            beside,
            most,
            BufferWay.EQUATION,
            BufferWay.OFF,
            0.95,
            0.8));
  }

  private Finding starves(String beside, String most) {
    String claim = "Fig. 7: with an equal split the fast connection starves";
    var ofAlone = undisturbed().multiple(FAST_GOODPUT, BufferWay.EQUAL.label, most, "0");
    Optional<String> why = untested(most, BufferWay.EQUAL);
    if (why.isPresent() || ofAlone.isEmpty()) {
      return Finding.untested(claim, why.orElse("runs were disturbed"));
    }
    return Finding.atLeast(
        claim, 1 / ofAlone.get().median(), 2, 1.25, beside + ofAlone.get().text(2) + " of alone");
  }

  private Finding compared(
      String claim,
      String beside,
      String most,
      BufferWay way,
      BufferWay other,
      double holds,
      double holdsLess) {
    var times = undisturbed().ratio(FAST_GOODPUT, most, way.label, other.label);
    Optional<String> why =
        untested(most, way)
            .or(() -> other == BufferWay.OFF ? Optional.empty() : untested(most, other));
    if (why.isPresent() || times.isEmpty()) {
      return Finding.untested(claim, why.orElse("runs were disturbed"));
    }
    String figures = beside + times.get().text(2) + " × " + other.label;
    return Finding.atLeast(claim, times.get().median(), holds, holdsLess, figures);
  }

  void report(Report report) {
    report.heading("One fast connection beside slow ones (Fig. 7)");
    report.paragraph(
        String.format(
            Locale.ROOT,
            "The fast connection: 100 Mbit/s, round trip 3 ms, loss 0.1 %%. The slow ones share"
                + " 10 Mbit/s at 3 ms. The budget is 512 KiB. The kernel makes trains of one"
                + " segment. Of alone: in parts of the fast one's goodput with 0 slow ones, the"
                + " same way. Memory includes the kernel's bookkeeping. A way is judged only if"
                + " the kernel alone holds more than the budget, and the way at most %.0f times"
                + " the budget.",
            BOUND_FACTOR));
    Samples known = undisturbed();
    report.table(known.wholeTable("way", "slow ones", COLUMNS));
    report.plot(
        "beside",
        new LineChart("one fast connection beside slow ones", "slow ones", "Mbit/s of the fast one")
            .lines(known, FAST_GOODPUT.times(MEGABIT)));
    report.paragraph((all.all().size() - known.all().size()) + " disturbed runs are left out.");
  }
}
