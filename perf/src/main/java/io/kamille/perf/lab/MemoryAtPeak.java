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
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
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
        case QUICK -> new Extent(List.of(shape(8, 2)), 2, 1024);
        case NORMAL -> new Extent(List.of(shape(45, 10), shape(45, 0)), 10, 1024);
        case FULL -> new Extent(List.of(shape(600, 60), shape(600, 0)), 30, 8192);
      };
    }

    private static PeakShape shape(int part, int ramp) {
      return new PeakShape(PEAK_RATE / PEAK_TIMES, PEAK_RATE, part, ramp);
    }
  }

  private static final double PEAK_RATE = 640;
  private static final double PEAK_TIMES = 4;
  private static final int OBJECTS = 8000;
  private static final double EXPONENT = 0.7;
  private static final double HIT_RATIO = 0.55;
  private static final double THINK_SCALE = 0.1;
  private static final long MEMORY_MIB = 48;
  private static final long SEEK_MICROS = 8000;
  private static final long DISK_BYTES_PER_SECOND = 80_000_000;
  private static final int CONNECTIONS = 6000;
  private static final int FILLING_CONNECTIONS = 2000;
  private static final int FILLING_RATE = 2000;
  private static final int FILLINGS = 4;
  private static final double FILLED_SHARE = 0.98;
  private static final Duration WARMING = Duration.ofSeconds(2);
  private static final Duration TIME_LIMIT = Duration.ofSeconds(10);

  /** A transient is a second whose median is so many times that off the peak. */
  private static final double SPIKE = 2;

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
          Column.sum("client at its limit", LIMITED));

  private final Samples all = new Samples("load", "mode");
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
      for (PeakShape shape : Extent.of(scale()).shapes()) {
        for (Mode mode : Mode.values()) {
          step("%s, %s", mode.label(), shape.text());
          measure(bench, mode, shape, origin.port());
        }
      }
    }
  }

  private void measure(Workbench bench, Mode mode, PeakShape shape, int originPort)
      throws IOException {
    PeakMix mix = mix();
    String name = shape.label() + "-" + mode.name().toLowerCase(Locale.ROOT);
    try (var server = PeakServer.start(bench, name, mode, build(), originPort);
        var client = LoadClient.open(settings(server.port(), CONNECTIONS, 1))) {
      fill(server, mode, mix);
      long records = server.diskRecords();
      server.makeDiskSlow();
      Duration settling = Duration.ofSeconds(Extent.of(scale()).settlingSeconds());
      client.run(shape.offPeakRate(), settling, 2, mix);
      var series = new PeakSeries(shape.seconds(), mix::isRepeat);
      LoadResult load;
      try (var log = new TierLog(server.control())) {
        load = client.run(Arrivals.poisson(shape.schedule(), 3), mix, series::ended);
        log.transitions().forEach(change -> transitions.add(name + ": " + change));
        if (log.missed() > 0) {
          note(name + ": the control plane did not answer " + log.missed() + " times");
        }
      }
      Samples each = seconds.computeIfAbsent(shape, _ -> new Samples("second", "mode"));
      for (int second = 0; second < shape.seconds(); second++) {
        keep(name + ".csv", each, series.sample(second, mode.label()));
      }
      keep("runs.csv", all, sample(mode, shape, series, records, load.isSaturated()));
    }
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
      Mode mode, PeakShape shape, PeakSeries series, long diskRecords, boolean isLimited) {
    var sample = Sample.of(shape.label(), mode.label(), 1);
    for (Sort sort : List.of(Sort.HITS, Sort.REPEATS)) {
      for (int percentile : new int[] {50, 99}) {
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
        .with(LIMITED, isLimited);
  }

  @Override
  List<Finding> findings() {
    return List.of();
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
    List.copyOf(seconds.keySet()).forEach(shape -> report(report, shape));
    if (!transitions.isEmpty()) {
      report.heading("When the mode changed").items(transitions);
    }
    report
        .heading("Goals")
        .items(
            all.situations().stream()
                .flatMap(MemoryAtPeak::goals)
                .map(goal -> goal.verdict(all))
                .toList());
    report.heading("The cache in «auto»").code(build().cache(Mode.AUTO));
  }

  private void report(Report report, PeakShape shape) {
    report.heading("Load: " + shape.text());
    report.paragraph("Time to the first octet of hits, in milliseconds.");
    report.table(all.table("mode", shape.label(), columns(Sort.HITS)));
    report.paragraph(
        "The same of all requests for what had been asked for before, also if the origin"
            + " answered.");
    report.table(all.table("mode", shape.label(), columns(Sort.REPEATS)));
    report.paragraph(
        "For how many seconds in a row, on the way in and out, the median of repeated requests was"
            + " above twice that off the peak or every request failed; and what was answered.");
    report.table(all.table("mode", shape.label(), ANSWERS));
    plot(report, shape, "hits", "Hits: median time to the first octet", PeakSeries.HIT_P50);
    plot(report, shape, "hits-p90", "Hits: 90th percentile", PeakSeries.HIT_P90);
    plot(report, shape, "repeats", "Repeated requests: median", PeakSeries.REPEAT_P50);
    report.plot(
        shape.label() + "-hit-ratio",
        new LineChart("Hits among answers, " + shape.label(), "s", "%")
            .lines(seconds.getOrDefault(shape, all), PeakSeries.HIT_RATIO.times(100)));
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
        Column.median("off-peak p99", millis(sort, "off", 99), 1),
        Column.median("peak p50", millis(sort, "peak", 50), 2),
        Column.median("peak p99", millis(sort, "peak", 99), 1),
        Column.median("after p50", millis(sort, "after", 50), 2),
        Column.median("peak/off p50", ratio(sort, 50), 2),
        Column.median("peak/off p99", ratio(sort, 99), 2));
  }

  /** What has to be reached under a load. */
  static Stream<Goal> goals(String load) {
    String auto = Mode.AUTO.label();
    return Stream.of(
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
            samples -> samples.spread(OUT_OF, load, auto)),
        Goal.atLeast(
            5,
            "disk only, " + load + ": median of repeated requests at least 5 × off-peak",
            samples -> samples.spread(ratio(Sort.REPEATS, 50), load, Mode.DISK.label())));
  }
}
