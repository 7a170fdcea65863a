package io.kamille.perf.lab;

import io.kamille.perf.host.CongestionControl;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.lab.PeakSeries.Sort;
import io.kamille.perf.lab.PeakServer.Mode;
import io.kamille.perf.lab.PeakShape.Stretch;
import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.PeakMix;
import io.kamille.perf.load.RateSchedule;
import io.kamille.perf.load.RequestSource;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Finding;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.LineChart;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.wan.LinkSettings;
import io.kamille.perf.wan.Namespaces;
import io.kamille.perf.wan.WanEmulator;
import io.kamille.perf.wan.WanStats;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;

/** P2: what a peak does to a cache on a disk, in memory, on both, and with peak mode. */
@Command
final class MemoryAtPeak extends Experiment {

  /*
   * The disk is a model: the machine has what it has, and its kernel keeps in memory what was just
   * written. SlowDisk makes each access of the store wait for an arm that all of them share.
   *
   * Before a run the population is asked for once, while the disk costs nothing (again, if not all
   * of it was written: the less memory, the less may wait for that). Repeats follow, which write
   * what is still missing, and then the load itself, so that memory holds what it would hold after
   * a long time. Then the disk becomes slow, and the load off the peak runs for a while before
   * anything is counted.
   */

  /** How long and how often, by scale. */
  private record Extent(int part, int ramp, int settling, int rounds) {

    private static Extent of(Scale scale) {
      return switch (scale) {
        case QUICK -> new Extent(5, 0, 1, 1);
        case NORMAL -> new Extent(6, 2, 2, 2);
        case FULL -> new Extent(300, 60, 30, 3);
      };
    }

    private PeakShape shape(double rate, int rampSeconds) {
      return new PeakShape(rate / PEAK_TIMES, rate, part, rampSeconds);
    }
  }

  /** Between Kamille and its origin, in the last step of each mode. */
  private static final String PATH = "delay=100ms loss=1% rate=50mbit queue=250k";

  private static final List<Double> RATES = List.of(80.0, 160.0, 320.0, 640.0);
  private static final double PEAK_RATE = 640;

  /** The disk alone is behind at this peak, and not off it. */
  private static final double DISK_RATE = 160;

  private static final double PEAK_TIMES = 4;
  private static final int OBJECTS = 8000;
  private static final double EXPONENT = 0.7;
  private static final double HIT_RATIO = 0.55;
  private static final double THINK_SCALE = 0.1;
  private static final int FILLING_CONNECTIONS = 2000;
  private static final int FILLING_RATE = 2000;
  private static final int FILLINGS = 2;
  private static final double FILLED_SHARE = 0.9;
  private static final Duration WARMING = Duration.ofSeconds(2);
  private static final Duration TIME_LIMIT = Duration.ofSeconds(10);

  /** A transient is a second whose 90th percentile is so many times that off the peak. */
  private static final double SPIKE = 2;

  /** A disk on which a request waits for so many others is behind. */
  private static final double BEHIND_SEEKS = 5;

  private static final Figure INTO = Figure.of("into_seconds_above");
  private static final Figure OUT_OF = Figure.of("out_of_seconds_above");
  private static final String REPLIES = "replies_per_second";
  private static final String HITS = "hits_percent";
  private static final String FROM_MEMORY = "from_memory_percent";
  private static final Figure FAILED = Figure.of("failed");
  private static final Figure ON_DISK = Figure.of("disk_records");
  private static final Figure POLICY = Figure.of("memory_policy");
  private static final Figure BUSY = Figure.of("client_busy_ratio");
  private static final Figure LATE = Figure.of("client_late_p90_us");

  /** Whether peak mode began at the peak. */
  static final Figure SWITCHED = Figure.of("switched");

  private static final double BUSY_LIMIT = 0.95;
  private static final double LATE_LIMIT_MICROS = 1000;
  private static final List<String> WHEN = List.of("off", "peak");
  private static final String TRAPEZOID = "trapezoid";
  private static final String FAR = "640-wan";
  private static final String GREATEST = "640";
  private static final String DISK_BEHIND = "160";

  private static final List<Column> ANSWERS =
      List.of(
          Column.median("into: s > 2×", INTO, 0),
          Column.median("out of: s > 2×", OUT_OF, 0),
          Column.sum("failed", FAILED),
          Column.sum("on disk", ON_DISK),
          new Column("memory evicts by", of -> of.rounds().getLast().text(POLICY)),
          Column.sum("peak mode", SWITCHED));

  private final Samples all = new Samples("peak rate", "mode");
  private final Map<String, Samples> seconds = new ConcurrentHashMap<>();
  private final List<String> transitions = new CopyOnWriteArrayList<>();

  MemoryAtPeak() {
    super("p2", "memory at the peak: disk only, memory + disk, memory only, and peak mode");
  }

  @Override
  Object[] setting() {
    return new Object[] {
      HIT_RATIO * 100,
      OBJECTS,
      mix().populationBytes() >> 20,
      EXPONENT,
      THINK_SCALE,
      PeakServer.SEEK_MICROS / 1e3,
      PeakServer.DISK_BYTES_PER_SECOND / 1_000_000,
      1e6 / PeakServer.SEEK_MICROS,
      PEAK_RATE * HIT_RATIO,
      PeakServer.MEMORY_MIB,
      Extent.of(scale()).part(),
      PATH
    };
  }

  private static PeakMix mix() {
    return new PeakMix("origin.test", OBJECTS, EXPONENT, HIT_RATIO, THINK_SCALE, 1);
  }

  @Override
  void measure() throws IOException, InterruptedException {
    try (var bench = Workbench.open();
        var spaces = Namespaces.open()) {
      CongestionControl.useCubic(bench);
      bench.moveTo(Core.OTHERS);
      PeakServer.startOrigin(bench, spaces);
      for (Mode mode : Mode.values()) {
        step("%s: start and fill", mode.label());
        spaces.callAtServer(() -> measure(bench, spaces, mode));
      }
    }
  }

  /** All of a mode, beside it; returns the mode. */
  @SuppressWarnings("try") // the path only has to be there
  private Mode measure(Workbench bench, Namespaces spaces, Mode mode) throws IOException {
    PeakMix mix = mix();
    Extent extent = Extent.of(scale());
    double decisive = mode == Mode.DISK ? DISK_RATE : PEAK_RATE;
    try (var server = PeakServer.start(bench, mode);
        var client = LoadClient.open(settings(server.port(), PeakServer.CONNECTIONS, 1))) {
      try (var near = path(spaces, "")) {
        fill(server, mix);
        server.makeDiskSlow();
        for (double rate : scale() == Scale.QUICK ? List.of(decisive) : RATES) {
          for (int round = 1; round <= (rate == decisive ? extent.rounds() : 1); round++) {
            String load = Integer.toString((int) rate);
            measure(server, client, mix, load, extent.shape(rate, 0), round);
          }
        }
        if (mode != Mode.DISK && extent.ramp() > 0) {
          measure(server, client, mix, TRAPEZOID, extent.shape(PEAK_RATE, extent.ramp()), 1);
        }
      }
      if (mode != Mode.DISK) {
        try (var far = path(spaces, PATH)) {
          measure(server, client, mix, FAR, extent.shape(PEAK_RATE, 0), 1);
          WanStats.Way way = far.stats().links().getFirst().up();
          note(
              String.format(
                  Locale.ROOT,
                  "%s: the slow WAN lost %d of %d packets at random, %d at its queue",
                  mode.label(),
                  way.lost(),
                  way.offered(),
                  way.overflowed()));
        }
      }
    }
    return mode;
  }

  private static WanEmulator path(Namespaces spaces, String settings) throws IOException {
    var options = new WanEmulator.Options(1, 5, 100_000, 1 << 15);
    return WanEmulator.start(spaces, List.of(LinkSettings.symmetric("path", settings)), options);
  }

  private void measure(
      PeakServer server, LoadClient client, PeakMix mix, String load, PeakShape shape, int round)
      throws IOException {
    Mode mode = server.mode();
    String name = load + "-" + mode.name().toLowerCase(Locale.ROOT);
    step("%s, round %d: %d s", name, round, shape.seconds());
    server.forgetPeak();
    long records = server.diskRecords();
    Duration settling = Duration.ofSeconds(Extent.of(scale()).settling());
    client.run(shape.offPeakRate(), settling, 2, mix);
    var series = new PeakSeries(shape.seconds(), mix::isRepeat);
    try (var log = new TierLog(server.control())) {
      LoadResult result =
          client.run(Arrivals.poisson(shape.schedule(), 2L + round), mix, series::ended);
      log.transitions().forEach(change -> transitions.add(name + ": " + change));
      boolean isSwitched =
          log.transitions().stream().anyMatch(change -> change.isPeakWithin(shape.noticed()));
      keep(
          "runs.csv",
          all,
          sample(load, mode, round, shape, series)
              .with(SWITCHED, isSwitched)
              .with(POLICY, log.policy())
              .with(ON_DISK, records)
              .with(BUSY, result.busyRatio())
              .with(LATE, result.latenessMicros(90)));
    }
    Samples each = seconds.computeIfAbsent(load, _ -> new Samples("second", "mode"));
    for (int second = 0; second < shape.seconds(); second++) {
      keep(name + ".csv", each, series.sample(second, mode.label(), round));
    }
  }

  private static LoadSettings settings(int port, int connections, int uses) {
    return LoadSettings.persistent(port, connections)
        .withUsesPerConnection(uses)
        .withTimeLimit(TIME_LIMIT)
        .onSharedCore();
  }

  /** Asks for the population until it is on the disk, if there is one. */
  private static void fill(PeakServer server, PeakMix mix) throws IOException {
    try (var client =
        LoadClient.open(settings(server.port(), FILLING_CONNECTIONS, Integer.MAX_VALUE))) {
      Duration filling = Duration.ofSeconds(OBJECTS / FILLING_RATE);
      boolean isFilled = false;
      for (int i = 0; i < FILLINGS && !isFilled; i++) {
        run(client, filling, mix.filling());
        isFilled = !server.mode().hasDisk() || server.diskRecords() >= FILLED_SHARE * OBJECTS;
      }
      run(client, WARMING, mix.repeating());
      run(client, WARMING.dividedBy(2), mix);
    }
  }

  private static void run(LoadClient client, Duration duration, RequestSource requests)
      throws IOException {
    client.run(Arrivals.even(RateSchedule.steady(FILLING_RATE, duration)), requests);
  }

  /** Time to the first octet in milliseconds. */
  private static Figure millis(Sort sort, String when, int percentile) {
    return Figure.of(sort.text() + "_" + when + "_p" + percentile + "_ms");
  }

  private static Figure answered(String when, String what) {
    return Figure.of(when + "_" + what);
  }

  private static String title(String when, String what) {
    String unit = what.replace("_percent", " %").replace("_per_second", "/s");
    return when + " " + unit.replace('_', ' ');
  }

  /** At the peak, in units of off the peak. */
  private static Figure ratio(Sort sort, int percentile) {
    Figure peak = millis(sort, "peak", percentile);
    Figure off = millis(sort, "off", percentile);
    return new Figure("peak/off", one -> one.of(peak) / one.of(off));
  }

  static Sample sample(String load, Mode mode, int round, PeakShape shape, PeakSeries series) {
    var sample = Sample.of(load, mode.label(), round);
    for (String when : WHEN) {
      Stretch stretch = when.equals("off") ? shape.offPeak() : shape.peak();
      for (Sort sort : List.of(Sort.HITS, Sort.REPEATS, Sort.MISSES)) {
        sample
            .with(millis(sort, when, 50), series.millis(stretch, sort, 50))
            .with(millis(sort, when, 90), series.millis(stretch, sort, 90));
      }
      sample
          .with(answered(when, REPLIES), series.rate(stretch))
          .with(answered(when, HITS), series.hitRatio(stretch) * 100)
          .with(answered(when, FROM_MEMORY), series.memoryShare(stretch) * 100);
    }
    double usual = series.millis(shape.offPeak(), Sort.REPEATS, 90);
    return sample
        .with(INTO, series.longestAbove(shape.into(), SPIKE * usual))
        .with(OUT_OF, series.longestAbove(shape.outOf(), SPIKE * usual))
        .with(FAILED, series.failures());
  }

  /** What the client did not disturb: its lateness is in less than a tenth of the times. */
  private Samples clean() {
    return all.where(one -> one.of(BUSY) <= BUSY_LIMIT && one.of(LATE) <= LATE_LIMIT_MICROS);
  }

  private static double median(Samples samples, Figure figure, String load, Mode mode) {
    return samples.median(figure, load, mode.label());
  }

  private static String figures(Samples clean, Sort sort, String load, Mode mode) {
    return String.format(
        Locale.ROOT,
        "%s, %s: %.1f ms (p90 %.1f)",
        mode.label(),
        load,
        median(clean, millis(sort, "peak", 50), load, mode),
        median(clean, millis(sort, "peak", 90), load, mode));
  }

  /** The peaks that come at once, over the fast path. */
  private static Samples sweep(Samples clean) {
    return clean.where(one -> one.situation().matches("[0-9]+"));
  }

  /** Repeats at each peak, in words. */
  private static String overRates(Samples clean, Mode mode) {
    return sweep(clean.where(one -> one.server().equals(mode.label()))).situations().stream()
        .map(load -> figures(clean, Sort.REPEATS, load, mode))
        .collect(Collectors.joining("; "));
  }

  @Override
  List<Finding> findings() {
    return findings(clean());
  }

  static List<Finding> findings(Samples clean) {
    Figure half = millis(Sort.REPEATS, "peak", 50);
    Figure most = millis(Sort.REPEATS, "peak", 90);
    Figure hits = millis(Sort.HITS, "peak", 50);
    Figure offPeak = millis(Sort.REPEATS, "off", 50);
    double into = median(clean, INTO, GREATEST, Mode.AUTO);
    boolean isBehind = isDiskBehind(clean);
    boolean isSwitched = isSwitched(clean, GREATEST);
    return List.of(
        found(
            "a cache on a disk: steeply slower with the rate, unusable above 130 requests/s",
            median(clean, ratio(Sort.REPEATS, 50), DISK_BEHIND, Mode.DISK),
            5,
            overRates(clean, Mode.DISK),
            isBehind),
        found(
            "a cache in memory: hardly slower up to the greatest rate (288 requests/s)",
            2 / median(clean, ratio(Sort.REPEATS, 50), GREATEST, Mode.MEMORY),
            1,
            overRates(clean, Mode.MEMORY),
            true),
        found(
            "a cache in memory: much faster off the peak, too: disk only ÷ memory only",
            median(clean, offPeak, DISK_BEHIND, Mode.DISK)
                / median(clean, offPeak, GREATEST, Mode.MEMORY),
            2,
            String.format(
                Locale.ROOT,
                "repeats off the peak, median: %.1f ms and %.1f ms, both at %.0f requests/s or"
                    + " less",
                median(clean, offPeak, DISK_BEHIND, Mode.DISK),
                median(clean, offPeak, GREATEST, Mode.MEMORY),
                PEAK_RATE / PEAK_TIMES),
            true),
        found(
            "memory before the disk does not save it at the peak",
            median(clean, ratio(Sort.REPEATS, 90), GREATEST, Mode.HYBRID),
            4,
            overRates(clean, Mode.HYBRID),
            isBehind),
        found(
            "the device is the cause: the same program without a disk is not slow",
            median(clean, half, DISK_BEHIND, Mode.DISK)
                / median(clean, half, GREATEST, Mode.MEMORY),
            5,
            figures(clean, Sort.REPEATS, DISK_BEHIND, Mode.DISK)
                + "; "
                + figures(clean, Sort.REPEATS, GREATEST, Mode.MEMORY),
            isBehind),
        found(
            "left open: memory and disk off the peak, memory only at it",
            median(clean, most, GREATEST, Mode.HYBRID) / median(clean, most, GREATEST, Mode.AUTO),
            2,
            overRates(clean, Mode.AUTO),
            isSwitched),
        found(
            "left open: the transients",
            2 / Math.max(1, into),
            1,
            String.format(
                Locale.ROOT,
                "auto: %.0f s above twice the 90th percentile off the peak, on the way in",
                into),
            isSwitched),
        found(
            "left open: a WAN between proxy and origin (delay, narrow, bad): hits stay as fast",
            2 * median(clean, hits, GREATEST, Mode.AUTO) / median(clean, hits, FAR, Mode.AUTO),
            1,
            Stream.of(Sort.HITS, Sort.MISSES)
                .map(sort -> sort.text() + ": " + figures(clean, sort, FAR, Mode.AUTO))
                .collect(Collectors.joining("; ")),
            isSwitched(clean, FAR)));
  }

  private static Finding found(
      String claim, double measured, double holds, String figures, boolean isThere) {
    return isThere && Double.isFinite(measured)
        ? Finding.atLeast(claim, measured, holds, holds / 2, figures)
        : Finding.untested(claim, "its cause was not there, or the client was at its limit");
  }

  private static boolean isSwitched(Samples samples, String load) {
    return samples.of(load, Mode.AUTO.label()).stream().anyMatch(one -> one.is(SWITCHED));
  }

  /** Whether requests of the disk alone wait longer for it than it takes. */
  private static boolean isDiskBehind(Samples samples) {
    return median(samples, millis(Sort.REPEATS, "peak", 50), DISK_BEHIND, Mode.DISK)
        > BEHIND_SEEKS * PeakServer.SEEK_MICROS / 1e3;
  }

  @Override
  List<String> sources() {
    return List.of(
        "perf/src/main/java/io/kamille/perf/lab/MemoryAtPeak.java",
        "perf/src/main/java/io/kamille/perf/lab/PeakSeries.java",
        "perf/src/main/java/io/kamille/perf/lab/PeakServer.java",
        "perf/src/main/java/io/kamille/perf/lab/PeakShape.java",
        "perf/src/main/java/io/kamille/perf/load/PeakMix.java",
        "proxy-cache/src/main/java/io/kamille/cache/tiers",
        "perf/src/main/java/io/kamille/cache/disk");
  }

  @Override
  void report(Report report) {
    Samples clean = clean();
    int disturbed = all.all().size() - clean.all().size();
    if (disturbed > 0) {
      report.paragraph(
          "In " + disturbed + " runs the client was at its limit. They are in the raw data only.");
    }
    report.heading("Median over the rate at the peak (the paper's Fig. 9 to 11)");
    report.paragraph("A quarter of the rate comes off the peak. Times are in milliseconds.");
    for (Sort sort : List.of(Sort.HITS, Sort.REPEATS)) {
      report.table(clean.wholeTable("mode", "peak rate", columns(sort)));
      plotRates(report, clean, sort, 50);
      plotRates(report, clean, sort, 90);
    }
    report.paragraph(
        "Into and out of: the seconds in a row in which the 90th percentile of repeated requests"
            + " was above twice that off the peak, or in which every request failed. The median"
            + " cannot show them, because memory answers more than half of what is repeated.");
    List<Column> answers =
        WHEN.stream()
            .flatMap(
                when ->
                    Stream.of(REPLIES, HITS, FROM_MEMORY)
                        .map(what -> Column.median(title(when, what), answered(when, what), 0)))
            .toList();
    report.table(clean.wholeTable("mode", "peak rate", answers));
    report.table(clean.wholeTable("mode", "peak rate", ANSWERS));
    report.heading("A slow WAN to the origin, beside none");
    Samples paths = clean.where(one -> List.of(GREATEST, FAR).contains(one.situation()));
    report.table(paths.wholeTable("mode", "peak rate", columns(Sort.HITS, Sort.MISSES)));
    report.heading("When the mode changed");
    report.items(transitions.isEmpty() ? List.of("never: nothing shows peak mode") : transitions);
    report
        .heading("Goals")
        .items(
            clean.situations().stream()
                .flatMap(MemoryAtPeak::goals)
                .map(goal -> goal.verdict(clean))
                .toList());
    report.heading("The way in and out, at the greatest rate");
    for (String load : List.of(GREATEST, TRAPEZOID)) {
      plot(report, load, "hits: median", PeakSeries.HIT_P50);
      plot(report, load, "repeats: median", PeakSeries.REPEAT_P50);
    }
    report.heading("The cache in «auto»").code(Mode.AUTO.cache());
  }

  private static void plotRates(Report report, Samples clean, Sort sort, int percentile) {
    String title = sort.text() + ": percentile " + percentile;
    var chart = new LineChart(title, "requests/s at the peak", "ms").logarithmic();
    for (String when : WHEN) {
      chart.lines(sweep(clean), millis(sort, when, percentile), ", " + when);
    }
    report.plot("rate-" + sort.text() + "-p" + percentile, chart);
  }

  private void plot(Report report, String load, String title, Figure figure) {
    Samples run = seconds.getOrDefault(load, new Samples("second", "mode"));
    report.plot(
        load + "-" + figure.name(),
        new LineChart(title + ", " + load, "s", "ms").logarithmic().lines(run, figure));
  }

  private static List<Column> columns(Sort... sorts) {
    return Stream.of(sorts)
        .flatMap(sort -> WHEN.stream().flatMap(when -> columns(sort, when)))
        .toList();
  }

  private static Stream<Column> columns(Sort sort, String when) {
    return Stream.of(50, 90)
        .map(
            percentile ->
                Column.median(
                    sort.text() + " " + when + " p" + percentile,
                    millis(sort, when, percentile),
                    2));
  }

  /** What has to be reached under a load, given that it is one. */
  static Stream<Goal> goals(String load) {
    Figure median = ratio(Sort.REPEATS, 50);
    return switch (load) {
      case DISK_BEHIND ->
          Stream.of(
              Goal.atLeast(
                      5,
                      "disk only, " + load + ": median of repeated requests at least 5 × off-peak",
                      samples -> samples.spread(median, load, Mode.DISK.label()))
                  .given("the disk was behind", MemoryAtPeak::isDiskBehind));
      case GREATEST, TRAPEZOID ->
          Stream.of(
              auto(
                  1.2,
                  load,
                  "p90 of repeated requests at most 1.2 × off-peak",
                  ratio(Sort.REPEATS, 90)),
              auto(1, load, "seconds above twice that p90 on the way in", INTO),
              auto(1, load, "seconds above twice that p90 on the way out", OUT_OF));
      default -> Stream.empty();
    };
  }

  private static Goal auto(double limit, String load, String what, Figure figure) {
    return Goal.atMost(
            limit,
            "auto, " + load + ": " + what,
            samples -> samples.spread(figure, load, Mode.AUTO.label()))
        .given("peak mode began at the peak", samples -> isSwitched(samples, load));
  }
}
