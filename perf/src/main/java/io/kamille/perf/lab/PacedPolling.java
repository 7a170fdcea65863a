package io.kamille.perf.lab;

import static io.kamille.perf.compare.LoadFigures.FAILED;
import static io.kamille.perf.compare.LoadFigures.LIMITED;
import static io.kamille.perf.compare.LoadFigures.MEAN;
import static io.kamille.perf.compare.LoadFigures.P50;
import static io.kamille.perf.compare.LoadFigures.P99;
import static io.kamille.perf.compare.LoadFigures.RATE;

import io.kamille.perf.compare.ChangingKamille;
import io.kamille.perf.compare.LoadFigures;
import io.kamille.perf.compare.Origin;
import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Child;
import io.kamille.perf.host.CongestionControl;
import io.kamille.perf.host.CpuTime;
import io.kamille.perf.host.RunTime;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.Responder;
import io.kamille.perf.load.WebAxe4;
import io.kamille.perf.peer.Jvm;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Metrics;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Finding;
import io.kamille.perf.report.LineChart;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;

/** Paper P1: what a least interval between two polls does to response time and throughput. */
@Command
final class PacedPolling extends Experiment {

  /** How long and how much, by scale. */
  private record Extent(
      int rounds,
      Duration load,
      List<Integer> intervalsMicros,
      List<Integer> responderRates,
      List<Integer> kamilleRates,
      int connections,
      long workingSetBytes) {

    private static Extent of(Scale scale) {
      return switch (scale) {
        case QUICK ->
            new Extent(
                1,
                Duration.ofSeconds(2),
                List.of(0, 1000, 10_000),
                List.of(5000, 20_000, 60_000),
                List.of(1000, 4000),
                500,
                8L << 20);
        case NORMAL ->
            new Extent(
                5,
                Duration.ofSeconds(4),
                List.of(0, 500, 1000, 2000, 5000, 10_000, 20_000),
                List.of(2000, 5000, 10_000, 20_000, 40_000, 60_000),
                List.of(500, 1000, 2000, 4000, 8000),
                2000,
                64L << 20);
        case FULL ->
            new Extent(
                5,
                Duration.ofSeconds(60),
                List.of(0, 500, 1000, 2000, 5000, 10_000, 20_000, 40_000),
                List.of(1000, 2000, 5000, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000),
                List.of(500, 1000, 2000, 4000, 6000, 8000, 10_000),
                7000,
                128L << 20);
      };
    }

    /** A connection for each request costs several times as much as the request. */
    private List<Integer> rates(Setting setting) {
      if (setting.isKamille()) {
        return kamilleRates;
      }
      return setting.isPersistent
          ? responderRates
          : responderRates.stream().map(rate -> rate / CONNECTION_COST).toList();
    }
  }

  /**
   * What is measured.
   *
   * @param paced {@link #POLL}, {@link #EPOLL} or {@link #KAMILLE}
   */
  private record Setting(String paced, boolean isPersistent) {

    private String label() {
      return paced + (isPersistent ? ", persistent" : ", non-persistent");
    }

    private boolean isKamille() {
      return paced.equals(KAMILLE);
    }
  }

  private static final String POLL = "poll(2)";
  private static final String EPOLL = "epoll";
  private static final String KAMILLE = "Kamille";
  private static final List<Setting> SETTINGS =
      List.of(
          new Setting(POLL, true),
          new Setting(EPOLL, true),
          new Setting(POLL, false),
          new Setting(KAMILLE, true));

  private static final int CONNECTION_COST = 4;
  private static final Duration SETTLING = Duration.ofMillis(500);
  private static final Duration WARMING = Duration.ofSeconds(2);
  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final int WARMING_RATE = 5000;
  private static final int FILLING_RATE = 1000;

  private static final String UNPACED = "0";
  private static final Figure SETTING = Figure.of("setting");

  /** Of the server for each right reply. */
  private static final Figure CPU = Figure.of("cpu_micros");

  /** Of that CPU time, 0 to 1. */
  private static final Figure KERNEL_SHARE = Figure.of("kernel_share");

  private static final Figure POLLS = Figure.of("polls_per_second");
  private static final Figure EVENTS = Figure.of("events_per_poll");
  private static final List<Column> COLUMNS =
      List.of(
          Column.median("replies/s", RATE, 0),
          Column.ratio("× unpaced", RATE, UNPACED),
          Column.sum("failed", FAILED),
          Column.median("mean ms", MEAN.times(1e-3), 2),
          Column.median("p50 ms", P50.times(1e-3), 2),
          Column.median("p99 ms", P99.times(1e-3), 2),
          Column.median("CPU µs/reply", CPU, 1),
          Column.ratio("× unpaced", CPU, UNPACED),
          Column.median("kernel %", KERNEL_SHARE.times(100), 0),
          Column.median("polls/s", POLLS, 0),
          Column.median("events/poll", EVENTS, 1),
          Column.sum("rounds with the client at its limit", LIMITED));

  private final Map<String, Samples> samples = new ConcurrentHashMap<>();

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
      extent.load().toSeconds()
    };
  }

  private Samples of(Setting setting) {
    return samples.computeIfAbsent(setting.label(), _ -> new Samples("rate", "interval_micros"));
  }

  @Override
  void measure() throws IOException, InterruptedException {
    try (var bench = Workbench.open()) {
      CongestionControl.useCubic(bench);
      bench.moveTo(Core.OTHERS);
      for (Setting setting : SETTINGS) {
        step("%s: start and warm up", setting.label());
        try (var targets = new Targets(bench, setting)) {
          targets.measure();
        }
      }
    }
  }

  /** Tells how many polls a server has made since its start, and the events they brought. */
  @FunctionalInterface
  private interface PollMeter {
    long[] read() throws IOException;
  }

  /** A server and its load. */
  private record Served(Child process, LoadClient client, PollMeter meter) {}

  /** Servers of one kind, paced with several intervals. */
  private final class Targets implements AutoCloseable {
    private final Extent extent = Extent.of(scale());
    private final Workbench bench;
    private final Setting setting;
    private final Map<Integer, Served> byInterval = new HashMap<>();
    private @Nullable ChangingKamille kamille;

    private Targets(Workbench bench, Setting setting) throws IOException {
      this.bench = bench;
      this.setting = setting;
      if (setting.isKamille()) {
        startKamille();
      } else {
        startResponders();
      }
    }

    private void startKamille() throws IOException {
      int port = Workbench.freePort();
      var place = new Place(Job.MIX, port, Origin.start(bench).port(), extent.connections());
      var told = Kamille.of(Checkout.find()).withMetrics(Workbench.freePort());
      ChangingKamille server = ChangingKamille.start(bench, told.withPacing("off"), place);
      kamille = server;
      var client = LoadClient.open(settings(port).onSharedCore());
      PollMeter meter =
          () -> {
            Metrics metrics = server.metrics();
            return new long[] {
              metrics.required("kamille_loop_polls_total"),
              metrics.required("kamille_loop_events_total")
            };
          };
      var served = new Served(server.process(), client, meter);
      extent.intervalsMicros().forEach(interval -> byInterval.put(interval, served));
    }

    /** One for each interval. */
    private void startResponders() throws IOException {
      for (int interval : extent.intervalsMicros()) {
        int port = Workbench.freePort();
        List<String> options =
            List.of(
                Responder.POLL_OPTION,
                "-D" + Responder.TRANSPORT + "=" + (setting.paced().equals(EPOLL) ? EPOLL : "nio"),
                "-D" + Responder.INTERVAL + "=" + interval);
        Child process =
            bench.start(
                "responder-" + port, Core.SERVER, Jvm.command(Responder.class, options, port));
        process.awaitListening(port, START_LIMIT);
        byInterval.put(
            interval, new Served(process, LoadClient.open(settings(port)), () -> polls(port)));
      }
    }

    private static long[] polls(int port) throws IOException {
      try (var in = URI.create("http://127.0.0.1:" + port + "/polls").toURL().openStream()) {
        String[] counts = new String(in.readAllBytes(), StandardCharsets.US_ASCII).split(" ", -1);
        return new long[] {Long.parseLong(counts[0]), Long.parseLong(counts[1])};
      }
    }

    private LoadSettings settings(int port) {
      var settings = LoadSettings.persistent(port, extent.connections());
      return setting.isPersistent()
          ? settings.withUses(WebAxe4.clientUses(1))
          : settings.withUsesPerConnection(1);
    }

    /** The server with that interval, in force. */
    private Served paced(int intervalMicros) throws IOException, InterruptedException {
      if (kamille != null) {
        kamille.pace(intervalMicros == 0 ? "off" : intervalMicros + "us");
      }
      return Objects.requireNonNull(byInterval.get(intervalMicros));
    }

    private void measure() throws IOException, InterruptedException {
      double thinkScale = setting.isKamille() ? 1 : 0;
      var workload = new WebAxe4("127.0.0.1", extent.workingSetBytes(), thinkScale, 1);
      warm(workload);
      for (int rate : extent.rates(setting)) {
        for (int round = 1; round <= extent.rounds(); round++) {
          for (int interval : extent.intervalsMicros()) {
            step(
                "%s: %,d requests/s, interval %d µs, round %d",
                setting.label(), rate, interval, round);
            Served served = paced(interval);
            served.client().run(rate, SETTLING, round, workload);
            keep("points.csv", of(setting), measure(served, workload, rate, interval, round));
          }
        }
      }
    }

    private void warm(WebAxe4 workload) throws IOException, InterruptedException {
      for (int i = 1; setting.isKamille() && !workload.isFilled(); i++) {
        paced(0).client().run(FILLING_RATE, Duration.ofSeconds(1), i, workload.filling());
      }
      while (!workload.isFilled()) {
        workload.filling().next();
      }
      int rate = Math.min(WARMING_RATE, extent.rates(setting).getLast());
      for (int interval : extent.intervalsMicros()) {
        paced(interval).client().run(rate, WARMING, interval, workload);
      }
    }

    private Sample measure(Served served, WebAxe4 workload, int rate, int interval, int round)
        throws IOException {
      RunTime runBefore = served.process().runTime();
      CpuTime cpuBefore = served.process().cpuTime();
      long[] pollsBefore = served.meter().read();
      LoadResult load = served.client().run(rate, extent.load(), rate * 100L + round, workload);
      long[] polls = served.meter().read();
      CpuTime cpu = served.process().cpuTime().minus(cpuBefore);
      long ran = served.process().runTime().since(runBefore).ranNanos();
      var sample = Sample.of(Integer.toString(rate), Integer.toString(interval), round);
      return LoadFigures.with(sample, load)
          .with(SETTING, setting.label())
          .with(CPU, ran / 1e3 / load.completed())
          .with(KERNEL_SHARE, (double) cpu.kernelMicros() / cpu.micros())
          .with(POLLS, (polls[0] - pollsBefore[0]) * 1e9 / load.nanos())
          .with(EVENTS, (double) (polls[1] - pollsBefore[1]) / (polls[0] - pollsBefore[0]));
    }

    @Override
    public void close() throws IOException {
      for (Served served : byInterval.values().stream().distinct().toList()) {
        served.client().close();
        served.process().stop();
      }
    }
  }

  @Override
  List<Finding> findings() {
    return List.of();
  }

  @Override
  List<String> sources() {
    return List.of(
        "perf/src/main/java/io/kamille/perf/lab/PacedPolling.java",
        "proxy-core/src/main/java/io/kamille/core/loop",
        "perf/src/main/java/io/kamille/perf/load/WebAxe4.java",
        "perf/src/main/java/io/kamille/perf/load/Responder.java");
  }

  @Override
  void report(Report report) {
    SETTINGS.stream()
        .filter(setting -> !of(setting).all().isEmpty())
        .forEach(
            setting -> {
              Samples here = of(setting);
              String label = setting.label();
              String file = label.replaceAll("[^A-Za-z0-9]+", "-").toLowerCase(Locale.ROOT);
              String across = "requests offered per second";
              report.heading(label).table(here.wholeTable("interval µs", "offered/s", COLUMNS));
              report.plot(
                  file + "-mean",
                  new LineChart(label + ": mean response time, by interval in µs", across, "ms")
                      .lines(here, MEAN.times(1e-3)));
              report.plot(
                  file + "-cpu",
                  new LineChart(label + ": CPU time for a reply, by interval in µs", across, "µs")
                      .lines(here, CPU));
            });
  }
}
