package io.kamille.perf.lab;

import static io.kamille.perf.compare.LoadFigures.MEAN;

import io.kamille.perf.compare.SlowProcessor;
import io.kamille.perf.host.Child;
import io.kamille.perf.host.CongestionControl;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.lab.PacedServers.Multiplexer;
import io.kamille.perf.lab.PacedServers.Setting;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Finding;
import io.kamille.perf.report.LineChart;
import io.kamille.perf.report.LineChart.Point;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.wan.Namespaces;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Paper P1: what a least interval between two polls does to response time and throughput. */
@Command
final class PacedPolling extends Experiment {

  /** How long and how much, by scale. */
  record Extent(
      int rounds,
      Duration load,
      Duration warming,
      List<Integer> intervalsMicros,
      List<Integer> responderRates,
      List<Integer> kamilleRates,
      int connections,
      long workingSetBytes,
      List<Integer> pathRates,
      Duration pathLoad,
      Duration idle) {

    private static Extent of(Scale scale) {
      return switch (scale) {
        case QUICK ->
            new Extent(
                1,
                Duration.ofSeconds(1),
                Duration.ofSeconds(1),
                List.of(0, 10_000),
                List.of(5000, 20_000),
                List.of(1000, 4000),
                500,
                16L << 20,
                List.of(200),
                Duration.ofSeconds(3),
                Duration.ofSeconds(10));
        case NORMAL ->
            new Extent(
                3,
                Duration.ofSeconds(1),
                Duration.ofSeconds(5),
                List.of(0, 500, 10_000),
                List.of(2000, 10_000, 40_000),
                List.of(1000, 4000, 8000),
                2000,
                64L << 20,
                List.of(150, 400),
                Duration.ofSeconds(3),
                Duration.ofSeconds(20));
        case FULL ->
            new Extent(
                5,
                Duration.ofSeconds(30),
                Duration.ofSeconds(10),
                List.of(0, 500, 1000, 2000, 5000, 10_000, 20_000, 40_000),
                List.of(1000, 2000, 5000, 10_000, 20_000, 30_000, 40_000),
                List.of(500, 1000, 2000, 4000, 6000, 8000, 10_000),
                7000,
                128L << 20,
                List.of(100, 200, 400, 600),
                Duration.ofSeconds(30),
                Duration.ofMinutes(3));
      };
    }

    /** A connection for each request costs several times as much as the request. */
    List<Integer> rates(Setting setting) {
      List<Integer> rates = setting.isKamille() ? kamilleRates : responderRates;
      return setting.isPersistent()
          ? rates
          : rates.stream().map(rate -> rate / CONNECTION_COST).toList();
    }

    /** More than the server carries with a fifth of its core, and less than the client does. */
    static int rateAtLimit(Setting setting) {
      return (setting.isKamille() ? 6000 : 15_000) / (setting.isPersistent() ? 1 : 2);
    }

    /** A store in memory that holds as much of the working set as the paper's did. */
    String threeQuarters() {
      return "  memory:\n    capacity: " + ((workingSetBytes * 3 / 4) >> 20) + "MiB\n";
    }
  }

  private static final List<Setting> SETTINGS =
      List.of(
          new Setting(Multiplexer.POLL, true),
          new Setting(Multiplexer.POLL_ZERO, true),
          new Setting(Multiplexer.EPOLL, true),
          new Setting(Multiplexer.KAMILLE, true),
          new Setting(Multiplexer.POLL_ZERO, false),
          new Setting(Multiplexer.EPOLL, false),
          new Setting(Multiplexer.KAMILLE, false));

  private static final int CONNECTION_COST = 4;

  /** What a server has of its core where it is to be at its limit, per cent. */
  private static final int LEFT = 20;

  private static final int PAPERS_MICROS = 10_000;
  private static final List<Integer> PATH_MICROS = List.of(0, PAPERS_MICROS, 40_000);
  private static final String IDLE = "idle connections";
  private static final String PATH = "Kamille, through the path";
  private static final String ACROSS = "requests offered per second";
  private static final List<Column> PROFILE =
      List.of(Column.median("poll, % of kernel time", PacedFigures.POLL_SHARE.times(100), 1));

  @Option(names = "--only", description = "what to measure: a part of its heading, such as epoll")
  private String only = "";

  private final Map<String, Samples> samples = new ConcurrentHashMap<>();
  private final Map<String, Samples> limits = new ConcurrentHashMap<>();
  private final Map<String, Samples> profiles = new ConcurrentHashMap<>();
  private final Samples path = new Samples("rate", "interval_micros");

  /** Open connections over seconds, by threshold. */
  private final Map<String, List<Point>> idle = new ConcurrentSkipListMap<>();

  PacedPolling() {
    super("p1", "paced polling: request rate × interval between two polls");
  }

  @Override
  Object[] setting() {
    Extent extent = Extent.of(scale());
    return new Object[] {
      extent.workingSetBytes() >> 20,
      extent.connections(),
      extent.rounds(),
      extent.load().toMillis() / 1000.0,
      LEFT,
      IdleConnections.LIMIT,
      IdleConnections.NEW_PER_SECOND
    };
  }

  private static Samples in(Map<String, Samples> all, Setting setting) {
    return all.computeIfAbsent(setting.label(), _ -> new Samples("rate", "interval_micros"));
  }

  @Override
  void measure() throws IOException, InterruptedException {
    Extent extent = Extent.of(scale());
    try (var bench = Workbench.open()) {
      CongestionControl.useCubic(bench);
      bench.moveTo(Core.OTHERS);
      for (Setting setting : SETTINGS) {
        if (isWanted(setting)) {
          step("%s: start and warm up", setting.label());
          try (var servers = new PacedServers(extent, bench, setting)) {
            servers.warm();
            measure(extent, setting, servers);
            profile(extent, setting, servers);
            measureAtLimit(extent, setting, servers, bench);
          }
        }
      }
      if (IDLE.contains(only)) {
        measureIdle(extent, bench);
      }
      if (PATH.contains(only)) {
        try {
          measurePath(extent, bench);
        } catch (IOException failed) {
          note("the path is left out: " + failed.getMessage());
        }
      }
    }
  }

  /** A quick run leaves out what differs from the paper's poll in its time-out alone. */
  private boolean isWanted(Setting setting) {
    return setting.label().contains(only)
        && !(setting.kind() == Multiplexer.POLL && scale() == Scale.QUICK);
  }

  private void measure(Extent extent, Setting setting, PacedServers servers)
      throws IOException, InterruptedException {
    for (int rate : extent.rates(setting)) {
      for (int round = 1; round <= extent.rounds(); round++) {
        for (int interval : extent.intervalsMicros()) {
          step("%s: %,d/s, interval %d µs, round %d", setting.label(), rate, interval, round);
          keep(
              file(setting) + ".csv",
              in(samples, setting),
              servers.measure(rate, interval, round, 1));
        }
      }
    }
  }

  /** Load and servers cost alike: on a whole core, the client is at its limit before the server. */
  private void measureAtLimit(Extent extent, Setting setting, PacedServers servers, Workbench bench)
      throws IOException, InterruptedException {
    int rate = Extent.rateAtLimit(setting);
    Child taking = SlowProcessor.start(bench, 100 - LEFT);
    for (int round = 1; round <= extent.rounds(); round++) {
      for (int interval : List.of(0, PAPERS_MICROS)) {
        step(
            "%s: %,d/s on a fifth of the core, %d µs, round %d",
            setting.label(), rate, interval, round);
        Sample sample = servers.measure(rate, interval, round, LEFT / 100.0);
        keep(file(setting) + "-limit.csv", in(limits, setting), sample);
      }
    }
    taking.stop();
  }

  private void profile(Extent extent, Setting setting, PacedServers servers)
      throws IOException, InterruptedException {
    if (!PollShare.isPossible()) {
      note("the share of the poll is left out: perf is not installed");
      return;
    }
    for (int rate : extent.rates(setting)) {
      for (int interval : List.of(0, PAPERS_MICROS)) {
        Sample sample = servers.profile(rate, interval);
        keep(file(setting) + "-kernel.csv", in(profiles, setting), sample);
      }
    }
  }

  private void measureIdle(Extent extent, Workbench bench) {
    for (String threshold : List.of("off", Double.toString(IdleConnections.THRESHOLD))) {
      step("%s: threshold %s", IDLE, threshold);
      try {
        idle.put(threshold, IdleConnections.measure(bench, threshold, extent.idle()));
      } catch (IOException failed) {
        note("idle connections, threshold " + threshold + ": " + failed.getMessage());
      }
    }
  }

  private void measurePath(Extent extent, Workbench bench)
      throws IOException, InterruptedException {
    try (var spaces = Namespaces.open()) {
      spaces.controlCongestion("cubic");
      WanServer.startOrigin(bench, spaces);
      for (int interval : PATH_MICROS) {
        step("%s: interval %d µs", PATH, interval);
        for (Sample sample : new PacedPath(extent, bench, spaces).measure(interval)) {
          keep("path.csv", path, sample);
        }
      }
    }
  }

  private static String file(Setting setting) {
    return setting.label().replaceAll("[^A-Za-z0-9]+", "-").toLowerCase(Locale.ROOT);
  }

  @Override
  List<Finding> findings() {
    return new PacedFindings(samples, limits, profiles, path, idle).all();
  }

  @Override
  List<String> sources() {
    String lab = "perf/src/main/java/io/kamille/perf/lab/";
    String load = "perf/src/main/java/io/kamille/perf/load/";
    return List.of(
        lab + "PacedPolling.java",
        lab + "PacedServers.java",
        lab + "PacedPath.java",
        lab + "PacedFigures.java",
        lab + "PacedFindings.java",
        lab + "IdleConnections.java",
        lab + "PollShare.java",
        "perf/src/main/java/io/kamille/perf/compare/SlowProcessor.java",
        "proxy-core/src/main/java/io/kamille/core/loop",
        load + "WebAxe4.java",
        load + "ZeroTimeout.java",
        load + "Responder.java");
  }

  @Override
  void report(Report report) {
    for (Setting setting : SETTINGS) {
      Samples here = in(samples, setting);
      if (!here.all().isEmpty()) {
        report.heading(setting.label());
        responses(report, file(setting), setting.label(), here);
        Samples kept = PacedFigures.undisturbed(here);
        report.table(kept.wholeTable("interval µs", "offered/s", PacedFigures.WORK));
        plot(
            report,
            file(setting) + "-cpu",
            setting.label() + ": core",
            kept,
            PacedFigures.CPU_SHARE.times(100),
            "%");
        Samples limited = in(limits, setting);
        if (!limited.all().isEmpty()) {
          report.paragraph("On a fifth of the core, where core % is of that fifth:");
          responses(report, file(setting) + "-limit", setting.label(), limited);
          report.table(
              PacedFigures.undisturbed(limited)
                  .wholeTable("interval µs", "offered/s", PacedFigures.WORK));
        }
        Samples shares = in(profiles, setting);
        if (!shares.all().isEmpty()) {
          report.table(shares.wholeTable("interval µs", "offered/s", PROFILE));
        }
      }
    }
    if (!path.all().isEmpty()) {
      report.heading(PATH);
      responses(report, "path", PATH, path);
    }
    if (!idle.isEmpty()) {
      report.heading("Idle connections");
      var chart = new LineChart("open connections", "seconds", "connections");
      idle.forEach((threshold, counts) -> chart.line("idle-threshold: " + threshold, counts));
      report.plot("idle", chart);
    }
  }

  private static void responses(Report report, String file, String title, Samples all) {
    String leftOut = PacedFigures.leftOut(all);
    if (!leftOut.isEmpty()) {
      report.paragraph(leftOut);
    }
    Samples kept = PacedFigures.undisturbed(all);
    boolean hasHits = kept.all().stream().anyMatch(one -> one.of(PacedFigures.HIT_RATIO) > 0);
    report.table(
        kept.wholeTable(
            "interval µs",
            "offered/s",
            hasHits ? PacedFigures.HITS_APART : PacedFigures.RESPONSES));
    plot(report, file + "-mean", title + ": mean of all", kept, MEAN.times(1e-3), "ms");
    plot(
        report,
        file + "-hits",
        title + ": mean of hits",
        kept,
        PacedFigures.HIT_MEAN.times(1e-3),
        "ms");
    plot(
        report,
        file + "-misses",
        title + ": mean of misses",
        kept,
        PacedFigures.MISS_MEAN.times(1e-3),
        "ms");
  }

  private static void plot(
      Report report, String file, String title, Samples samples, Figure figure, String unit) {
    report.plot(
        file, new LineChart(title + ", by interval in µs", ACROSS, unit).lines(samples, figure));
  }
}
