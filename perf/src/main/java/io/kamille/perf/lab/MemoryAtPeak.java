package io.kamille.perf.lab;

import io.kamille.perf.compare.Origin;
import io.kamille.perf.host.CongestionControl;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.lab.PeakSeries.Sort;
import io.kamille.perf.lab.PeakServer.Mode;
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
import io.kamille.perf.report.Spread;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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
   * of it was written: the less memory, the less may wait for that), then by its popularity, so
   * that memory holds what it would hold after a long time; then the disk becomes slow, and the
   * load off the peak runs for a while before anything is counted.
   */

  /** How long and how much, by scale. */
  private record Extent(List<PeakShape> shapes, int settlingSeconds, long diskMib) {

    private static Extent of(Scale scale) {
      return switch (scale) {
        case QUICK -> new Extent(shapes(5, 0, DISK_RATE, PEAK_RATE), 1, 1024);
        case NORMAL -> new Extent(shapes(7, 2, 60, 120, DISK_RATE, 400, PEAK_RATE), 3, 1024);
        case FULL -> new Extent(shapes(300, 60, 60, 120, DISK_RATE, 400, PEAK_RATE), 30, 8192);
      };
    }

    /** At each rate at once, and, with a ramp, at the greatest by ramps. */
    private static List<PeakShape> shapes(int part, int ramp, double... rates) {
      var shapes = new ArrayList<PeakShape>();
      for (double rate : rates) {
        shapes.add(new PeakShape(rate / PEAK_TIMES, rate, part, 0));
      }
      if (ramp > 0) {
        shapes.add(new PeakShape(PEAK_RATE / PEAK_TIMES, PEAK_RATE, part, ramp));
      }
      return shapes;
    }
  }

  private static final double PEAK_RATE = 640;

  /** The disk alone is behind at this peak, and not off it. */
  private static final double DISK_RATE = 240;

  private static final double PEAK_TIMES = 4;
  private static final int OBJECTS = 8000;
  private static final double EXPONENT = 0.7;
  private static final double HIT_RATIO = 0.55;
  private static final double THINK_SCALE = 0.1;
  private static final long MEMORY_MIB = 32;
  private static final long SEEK_MICROS = 12_000;
  private static final long DISK_BYTES_PER_SECOND = 80_000_000;
  private static final int CONNECTIONS = 6000;
  private static final int FILLING_CONNECTIONS = 2000;
  private static final int FILLING_RATE = 2000;
  private static final int FILLINGS = 2;
  private static final double FILLED_SHARE = 0.9;
  private static final Duration WARMING = Duration.ofSeconds(2);
  private static final Duration TIME_LIMIT = Duration.ofSeconds(10);

  /** A transient is a second whose median is so many times that off the peak. */
  private static final double SPIKE = 2;

  /** A disk on which a request waits for so many others is behind. */
  private static final double BEHIND_SEEKS = 5;

  private static final Figure INTO = Figure.of("into_seconds_above");
  private static final Figure OUT_OF = Figure.of("out_of_seconds_above");
  private static final Figure OFF_RATE = Figure.of("off_replies_per_second");
  private static final Figure AT_RATE = Figure.of("peak_replies_per_second");
  private static final Figure OFF_HITS = Figure.of("off_hit_ratio");
  private static final Figure AT_HITS = Figure.of("peak_hit_ratio");
  private static final Figure OFF_MEMORY = Figure.of("off_memory_share");
  private static final Figure AT_MEMORY = Figure.of("peak_memory_share");
  private static final Figure FAILED = Figure.of("failed");
  private static final Figure ON_DISK = Figure.of("disk_records");
  private static final Figure LIMITED = Figure.of("client_limited");

  /** Whether peak mode began. */
  private static final Figure SWITCHED = Figure.of("switched");

  private static final String TRAPEZOID = "trapezoid";
  private static final String GREATEST = Integer.toString((int) PEAK_RATE);
  private static final String DISK_BEHIND = Integer.toString((int) DISK_RATE);

  private static final List<Column> ANSWERS =
      List.of(
          Column.median("into: s > 2×", INTO, 0),
          Column.median("out of: s > 2×", OUT_OF, 0),
          Column.median("off replies/s", OFF_RATE, 0),
          Column.median("peak replies/s", AT_RATE, 0),
          Column.median("off hits %", OFF_HITS.times(100), 1),
          Column.median("peak hits %", AT_HITS.times(100), 1),
          Column.median("off from memory %", OFF_MEMORY.times(100), 0),
          Column.median("peak from memory %", AT_MEMORY.times(100), 0),
          Column.sum("failed", FAILED),
          Column.sum("on disk", ON_DISK),
          Column.sum("peak mode", SWITCHED));

  private final Samples all = new Samples("peak rate", "mode");
  private final Map<PeakShape, Samples> seconds =
      Collections.synchronizedMap(new LinkedHashMap<>());
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
      SEEK_MICROS / 1e3,
      DISK_BYTES_PER_SECOND / 1_000_000,
      1e6 / SEEK_MICROS,
      PEAK_RATE * HIT_RATIO,
      MEMORY_MIB
    };
  }

  private static PeakMix mix() {
    return new PeakMix("origin.test", OBJECTS, EXPONENT, HIT_RATIO, THINK_SCALE, 1);
  }

  private PeakServer.Build build() {
    return new PeakServer.Build(
        MEMORY_MIB, Extent.of(scale()).diskMib(), CONNECTIONS, SEEK_MICROS, DISK_BYTES_PER_SECOND);
  }

  @Override
  void measure() throws IOException, InterruptedException {
    try (var bench = Workbench.open()) {
      CongestionControl.useCubic(bench);
      bench.moveTo(Core.OTHERS);
      Origin origin = Origin.start(bench);
      for (Mode mode : Mode.values()) {
        measure(bench, mode, origin.port());
      }
    }
  }

  private void measure(Workbench bench, Mode mode, int originPort) throws IOException {
    step("%s: start and fill", mode.label());
    PeakMix mix = mix();
    String name = mode.name().toLowerCase(Locale.ROOT);
    try (var server = PeakServer.start(bench, name, mode, build(), originPort);
        var client = LoadClient.open(settings(server.port(), CONNECTIONS, 1))) {
      fill(server, mode, mix);
      server.makeDiskSlow();
      for (PeakShape shape : Extent.of(scale()).shapes()) {
        step("%s, %s", mode.label(), shape.text());
        measure(server, client, mode, shape, mix);
      }
    }
  }

  private void measure(
      PeakServer server, LoadClient client, Mode mode, PeakShape shape, PeakMix mix)
      throws IOException {
    String name = situation(shape) + "-" + mode.name().toLowerCase(Locale.ROOT);
    if (mode == Mode.AUTO) {
      server.forgetPeak();
    }
    long records = server.diskRecords();
    Duration settling = Duration.ofSeconds(Extent.of(scale()).settlingSeconds());
    client.run(shape.offPeakRate(), settling, 2, mix);
    var series = new PeakSeries(shape.seconds(), mix::isRepeat);
    LoadResult load;
    boolean isSwitched;
    try (var log = new TierLog(server.control())) {
      load = client.run(Arrivals.poisson(shape.schedule(), 3), mix, series::ended);
      isSwitched = !log.transitions().isEmpty();
      log.transitions().forEach(change -> transitions.add(name + ": " + change));
      if (log.missed() > 0) {
        note(name + ": the control plane did not answer " + log.missed() + " times");
      }
    }
    Samples each = seconds.computeIfAbsent(shape, _ -> new Samples("second", "mode"));
    for (int second = 0; second < shape.seconds(); second++) {
      keep(name + ".csv", each, series.sample(second, mode.label()));
    }
    keep("runs.csv", all, sample(mode, shape, series, records, load.isSaturated(), isSwitched));
  }

  /** The rate at the peak, or the shape where there are ramps. */
  private static String situation(PeakShape shape) {
    return shape.rampSeconds() > 0 ? TRAPEZOID : Integer.toString((int) shape.peakRate());
  }

  private static LoadSettings settings(int port, int connections, int uses) {
    return LoadSettings.persistent(port, connections)
        .withUsesPerConnection(uses)
        .withTimeLimit(TIME_LIMIT)
        .onSharedCore();
  }

  /** Asks for the population until it is on the disk, if there is one. */
  private static void fill(PeakServer server, Mode mode, PeakMix mix) throws IOException {
    try (var client =
        LoadClient.open(settings(server.port(), FILLING_CONNECTIONS, Integer.MAX_VALUE))) {
      Duration filling = Duration.ofSeconds(OBJECTS / FILLING_RATE);
      boolean isFilled = false;
      for (int i = 0; i < FILLINGS && !isFilled; i++) {
        run(client, filling, mix.filling());
        isFilled = !mode.hasDisk() || server.diskRecords() >= FILLED_SHARE * OBJECTS;
      }
      run(client, WARMING, mix.repeating());
    }
  }

  private static void run(LoadClient client, Duration duration, RequestSource requests)
      throws IOException {
    client.run(Arrivals.even(RateSchedule.steady(FILLING_RATE, duration)), requests);
  }

  /** Time to the first octet in milliseconds. */
  private static Figure millis(Sort sort, String when, int percentile) {
    return Figure.of(sort.name().toLowerCase(Locale.ROOT) + "_" + when + "_p" + percentile + "_ms");
  }

  /** At the peak, in units of off the peak. */
  private static Figure ratio(Sort sort, int percentile) {
    Figure peak = millis(sort, "peak", percentile);
    Figure off = millis(sort, "off", percentile);
    return new Figure("peak/off", one -> one.of(peak) / one.of(off));
  }

  static Sample sample(
      Mode mode,
      PeakShape shape,
      PeakSeries series,
      long diskRecords,
      boolean isLimited,
      boolean isSwitched) {
    var sample = Sample.of(situation(shape), mode.label(), 1);
    for (Sort sort : List.of(Sort.HITS, Sort.REPEATS)) {
      for (int percentile : new int[] {50, 90, 99}) {
        sample
            .with(millis(sort, "off", percentile), series.millis(shape.offPeak(), sort, percentile))
            .with(millis(sort, "peak", percentile), series.millis(shape.peak(), sort, percentile));
      }
      sample.with(millis(sort, "after", 50), series.millis(shape.after(), sort, 50));
    }
    double usual = series.millis(shape.offPeak(), Sort.REPEATS, 50);
    return sample
        .with(INTO, series.longestAbove(shape.into(), SPIKE * usual))
        .with(OUT_OF, series.longestAbove(shape.outOf(), SPIKE * usual))
        .with(OFF_RATE, series.rate(shape.offPeak()))
        .with(AT_RATE, series.rate(shape.peak()))
        .with(OFF_HITS, series.hitRatio(shape.offPeak()))
        .with(AT_HITS, series.hitRatio(shape.peak()))
        .with(OFF_MEMORY, series.memoryShare(shape.offPeak()))
        .with(AT_MEMORY, series.memoryShare(shape.peak()))
        .with(FAILED, series.failures())
        .with(ON_DISK, diskRecords)
        .with(LIMITED, isLimited)
        .with(SWITCHED, isSwitched);
  }

  /** What the client did not disturb. */
  private Samples clean() {
    return all.where(one -> !one.is(LIMITED));
  }

  private static double median(Samples samples, Figure figure, String load, Mode mode) {
    return samples.spread(figure, load, mode.label()).map(Spread::median).orElse(Double.NaN);
  }

  /** The median of repeats at each peak, in words. */
  private static String overRates(Samples clean, Mode mode) {
    return clean.situations().stream()
        .map(
            load ->
                String.format(
                    Locale.ROOT,
                    "%s: %.1f ms",
                    load,
                    median(clean, millis(Sort.REPEATS, "peak", 50), load, mode)))
        .collect(Collectors.joining(", ", mode.label() + ", median of repeats at the peak: ", ""));
  }

  @Override
  List<Finding> findings() {
    return findings(clean());
  }

  static List<Finding> findings(Samples clean) {
    Figure half = millis(Sort.REPEATS, "peak", 50);
    Figure most = millis(Sort.REPEATS, "peak", 90);
    String disk = overRates(clean, Mode.DISK);
    String memory = overRates(clean, Mode.MEMORY);
    double behind = median(clean, half, DISK_BEHIND, Mode.DISK);
    boolean isBehind = isDiskBehind(clean);
    boolean isSwitched = isSwitched(clean, GREATEST);
    double hybrid = median(clean, most, GREATEST, Mode.HYBRID);
    double auto = median(clean, most, GREATEST, Mode.AUTO);
    double into = median(clean, INTO, GREATEST, Mode.AUTO);
    return List.of(
        found(
            "a cache on a disk: steeply slower with the rate, unusable above 130 requests/s",
            behind / median(clean, millis(Sort.REPEATS, "off", 50), DISK_BEHIND, Mode.DISK),
            5,
            disk,
            isBehind),
        found(
            "a cache in memory: flat up to the greatest rate (288 requests/s)",
            2
                * median(clean, millis(Sort.REPEATS, "off", 50), GREATEST, Mode.MEMORY)
                / median(clean, half, GREATEST, Mode.MEMORY),
            1,
            memory,
            true),
        found(
            "memory before the disk does not save it at the peak",
            hybrid / median(clean, millis(Sort.REPEATS, "off", 90), GREATEST, Mode.HYBRID),
            4,
            overRates(clean, Mode.HYBRID) + millisText(", the 90th percentile at 640: ", hybrid),
            isBehind),
        found(
            "the device is the cause: the same program without a disk is not slow",
            behind / median(clean, half, DISK_BEHIND, Mode.MEMORY),
            5,
            "at "
                + DISK_BEHIND
                + " requests/s: "
                + millisText("disk ", behind)
                + millisText(", memory ", median(clean, half, DISK_BEHIND, Mode.MEMORY)),
            isBehind),
        found(
            "left open: memory and disk off the peak, memory only at it",
            hybrid / auto,
            2,
            millisText("90th percentile of repeats at the peak: memory + disk ", hybrid)
                + millisText(", auto ", auto),
            isSwitched),
        found(
            "left open: the transients",
            2 / Math.max(1, into),
            1,
            String.format(Locale.ROOT, "auto: %.0f s above twice the median, on the way in", into),
            isSwitched),
        Finding.untested(
            "left open: a WAN between proxy and origin (delay, narrow, bad)",
            "the origin thinks, but the path to it is loopback"));
  }

  private static String millisText(String before, double millis) {
    return String.format(Locale.ROOT, "%s%.1f ms", before, millis);
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
        > BEHIND_SEEKS * SEEK_MICROS / 1e3;
  }

  @Override
  List<String> sources() {
    return List.of(
        "perf/src/main/java/io/kamille/perf/lab/MemoryAtPeak.java",
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
    overRates(report, clean, Sort.HITS, "hits");
    overRates(report, clean, Sort.REPEATS, "repeated requests, also if the origin answered");
    report.paragraph(
        "Seconds in a row, on the way in and out, in which the median of repeated requests was"
            + " above twice that off the peak or every request failed; and what was answered.");
    report.table(clean.wholeTable("mode", "peak rate", ANSWERS));
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
    List.copyOf(seconds.keySet()).stream()
        .filter(shape -> shape.peakRate() == PEAK_RATE)
        .forEach(
            shape -> {
              plot(report, shape, "hits", "Hits: median", PeakSeries.HIT_P50);
              plot(report, shape, "repeats", "Repeated requests: median", PeakSeries.REPEAT_P50);
            });
    report.heading("The cache in «auto»").code(build().cache(Mode.AUTO));
  }

  private static void overRates(Report report, Samples clean, Sort sort, String what) {
    report.paragraph("Time to the first octet of " + what + ":");
    report.table(clean.wholeTable("mode", "peak rate", columns(sort)));
    plotRates(report, clean, sort, 50, "Median, " + what);
    plotRates(report, clean, sort, 90, "90th percentile, " + what);
  }

  private static void plotRates(
      Report report, Samples clean, Sort sort, int percentile, String title) {
    var chart = new LineChart(title, "requests/s at the peak", "ms").logarithmic();
    Samples sweep = clean.where(one -> !one.situation().equals(TRAPEZOID));
    for (Mode mode : Mode.values()) {
      for (String when : List.of("off", "peak")) {
        chart.line(
            mode.label() + ", " + when,
            sweep.situations().stream()
                .map(
                    rate ->
                        new LineChart.Point(
                            Double.parseDouble(rate),
                            median(sweep, millis(sort, when, percentile), rate, mode)))
                .toList());
      }
    }
    report.plot("rate-" + sort.name().toLowerCase(Locale.ROOT) + "-p" + percentile, chart);
  }

  private void plot(Report report, PeakShape shape, String file, String title, Figure figure) {
    report.plot(
        shape.label() + "-" + file,
        new LineChart(title + ", " + shape.label(), "s", "ms")
            .logarithmic()
            .lines(seconds.getOrDefault(shape, all), figure));
  }

  private static List<Column> columns(Sort sort) {
    return List.of(
        Column.median("off-peak p50", millis(sort, "off", 50), 2),
        Column.median("off-peak p90", millis(sort, "off", 90), 1),
        Column.median("peak p50", millis(sort, "peak", 50), 2),
        Column.median("peak p90", millis(sort, "peak", 90), 1),
        Column.median("peak p99", millis(sort, "peak", 99), 1),
        Column.median("after p50", millis(sort, "after", 50), 2),
        Column.median("peak/off p50", ratio(sort, 50), 2));
  }

  /** What has to be reached under a load, given that it is one. */
  static Stream<Goal> goals(String load) {
    String auto = Mode.AUTO.label();
    Stream<Goal> peak =
        Stream.of(
            Goal.atMost(
                1.2,
                "auto, " + load + ": median of repeated requests at most 1.2 × off-peak",
                samples -> samples.spread(ratio(Sort.REPEATS, 50), load, auto)),
            Goal.atMost(
                1,
                "auto, " + load + ": seconds above twice the median on the way in",
                samples -> samples.spread(INTO, load, auto)),
            Goal.atMost(
                1,
                "auto, " + load + ": seconds above twice the median on the way out",
                samples -> samples.spread(OUT_OF, load, auto)));
    Goal behind =
        Goal.atLeast(
                5,
                "disk only, " + load + ": median of repeated requests at least 5 × off-peak",
                samples -> samples.spread(ratio(Sort.REPEATS, 50), load, Mode.DISK.label()))
            .given("the disk was behind", MemoryAtPeak::isDiskBehind);
    return load.equals(DISK_BEHIND)
        ? Stream.of(behind)
        : load.equals(GREATEST) || load.equals(TRAPEZOID)
            ? peak.map(
                goal -> goal.given("peak mode began in auto", samples -> isSwitched(samples, load)))
            : Stream.empty();
  }
}
