package io.kamille.perf.lab;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.CpuTime;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.OriginTarget;
import io.kamille.perf.load.RateSchedule;
import io.kamille.perf.load.RequestSource;
import io.kamille.perf.peer.Daemon;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Peer;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Finding;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** P5: what delay and loss between clients and a server do to its reply rate and reply time. */
@Command
final class LossyPaths extends Experiment {

  /*
   * The emulator is started anew for each cell, with the same seed, and arrivals have the same seed
   * too: every server is asked at the same instants, and the n-th packet of each way is lost for
   * all of them or for none.
   */

  /**
   * One cell of the grid.
   *
   * @param bytes what each reply carries
   * @param roundTrip in milliseconds
   * @param loss per cent of the packets, each way
   * @param rate of requests, each second
   */
  private record Cell(int bytes, int roundTrip, int loss, int rate) {

    /** In the words of the emulator. */
    private String link() {
      int delay = roundTrip * 500;
      return "delay=" + delay + "us loss=" + loss + "% rate=1000mbit queue=4000k";
    }

    /**
     * Before replies are counted they must come as often as they are asked for. A lost first packet
     * costs a second, and a large object over a long lossy path takes half a minute.
     */
    private Duration settling() {
      return Duration.ofSeconds(roundTrip > 0 && bytes == LARGE ? 40 : 3);
    }

    /** Without what varies within a table. */
    private String place() {
      return (bytes == LARGE ? "1 MB" : "16 KB") + ", round trip " + roundTrip + " ms";
    }
  }

  /** How long and how much, by scale. */
  private record Extent(List<Cell> cells, int counted, int warming, Duration timeLimit) {

    private static Extent of(Scale scale) {
      return switch (scale) {
        case QUICK -> {
          var cells = grid(SMALL, List.of(0, 100), List.of(0, 4), List.of(400));
          cells.addAll(grid(LARGE, List.of(0), List.of(0, 4), List.of(20)));
          yield new Extent(cells, 4, 6, Duration.ofSeconds(10));
        }
        case NORMAL -> {
          var cells = grid(SMALL, List.of(0, 100), LOSSES, List.of(200, 400, 800, 1600, 2400));
          cells.addAll(grid(LARGE, List.of(0, 100), LOSSES, List.of(10, 20, 40)));
          yield new Extent(cells, 15, 15, Duration.ofSeconds(60));
        }
        case FULL -> {
          var cells = grid(SMALL, List.of(0, 100), LOSSES, steps(400));
          cells.addAll(grid(LARGE, List.of(0, 100), LOSSES, steps(15)));
          yield new Extent(cells, 60, 30, Duration.ofSeconds(60));
        }
      };
    }

    private static List<Cell> grid(
        int bytes, List<Integer> roundTrips, List<Integer> losses, List<Integer> rates) {
      var cells = new ArrayList<Cell>();
      for (int roundTrip : roundTrips) {
        for (int rate : rates) {
          losses.forEach(loss -> cells.add(new Cell(bytes, roundTrip, loss, rate)));
        }
      }
      return cells;
    }

    private static List<Integer> steps(int step) {
      return IntStream.rangeClosed(1, 8).mapToObj(i -> i * step).toList();
    }
  }

  private static final int SMALL = 16 << 10;
  private static final int LARGE = 1 << 20;
  private static final List<Integer> LOSSES = List.of(0, 1, 4);
  private static final Cell WARMING = new Cell(SMALL, 0, 0, 1500);
  private static final Cell WARMING_LARGE = new Cell(LARGE, 0, 0, 20);
  private static final String CONGESTION_CONTROL = "cubic";
  private static final int CONNECTIONS = 6000;
  private static final long SEED = 5;
  private static final double LATE_LIMIT_MICROS = 1000;
  private static final double CPU_LIMIT = 0.9;

  private static final Figure LOSS = Figure.of("loss_percent");
  private static final Figure DUE = Figure.of("due_per_second");
  private static final Figure REPLIES = Figure.of("replies_per_second");

  /** The standard deviation of the replies between seconds. */
  private static final Figure DEVIATION = Figure.of("deviation");

  private static final Figure FAILED = Figure.of("failed");
  private static final Figure MEAN = Figure.of("mean_ms");
  private static final Figure P50 = Figure.of("p50_ms");
  private static final Figure P99 = Figure.of("p99_ms");

  /** Processor time of the server for each right reply, the whole run taken together. */
  private static final Figure USER = Figure.of("user_micros");

  private static final Figure KERNEL = Figure.of("kernel_micros");

  /** How late requests were sent. */
  private static final Figure CLIENT_LATE = Figure.of("client_late_p99_micros");

  /** Packets were handed over so much later than due. */
  private static final Figure LATE = Figure.of("emulator_late_p99_micros");

  private static final Figure LOST = Figure.of("lost_share");

  /** Whether the figures say as much about client and emulator as about the server. */
  private static final Figure DISTURBED = Figure.of("disturbed");

  private static final List<Column> COLUMNS =
      List.of(
          Column.median("due/s", DUE, 1),
          Column.median("replies/s", REPLIES, 1),
          Column.median("± (1 s)", DEVIATION, 1),
          Column.sum("failed", FAILED),
          Column.median("mean ms", MEAN, 1),
          Column.median("p50 ms", P50, 1),
          Column.median("p99 ms", P99, 0),
          Column.median("user µs/reply", USER, 0),
          Column.median("kernel µs/reply", KERNEL, 0),
          Column.median("client late p99 µs", CLIENT_LATE, 0),
          Column.median("emulator late p99 µs", LATE, 0),
          Column.median("lost %", LOST.times(100), 2),
          Column.sum("disturbed", DISTURBED));

  @Option(
      names = "--against",
      split = ",",
      description = "other servers that are asked the same: ${COMPLETION-CANDIDATES}")
  private List<Daemon> against = List.of(Daemon.NGINX);

  /** By place: a sample's situation is the rate, its server one at a loss. */
  private final Map<String, Samples> places = new ConcurrentSkipListMap<>();

  LossyPaths() {
    super("p5", "long and lossy paths: object × round trip × loss × rate (as root)");
  }

  @Override
  Object[] setting() {
    Extent extent = Extent.of(scale());
    return new Object[] {
      CONGESTION_CONTROL, CONNECTIONS, extent.timeLimit().toSeconds(), extent.counted()
    };
  }

  @Override
  void measure() throws IOException, InterruptedException {
    try (var spaces = Namespaces.open();
        var bench = Workbench.open()) {
      spaces.controlCongestion(CONGESTION_CONTROL);
      bench.moveTo(Core.OTHERS);
      WanServer.startOrigin(bench, spaces);
      var kamille = Kamille.of(Checkout.find());
      // The client and the emulator are Java, too: who is asked first must not meet them cold.
      step("the client warms up");
      try (var server = WanServer.start(bench, spaces, kamille, CONNECTIONS)) {
        warm(spaces, server, kamille);
      }
      measure(bench, spaces, kamille);
      for (Daemon peer : installed(against)) {
        try {
          measure(bench, spaces, peer);
        } catch (IOException failed) {
          note(peer.label() + " is left out from here on: " + failed.getMessage());
        }
      }
    }
  }

  private void warm(Namespaces spaces, WanServer server, Peer peer)
      throws IOException, InterruptedException {
    run(spaces, server, peer, WARMING, Duration.ofSeconds(Extent.of(scale()).warming()));
    run(spaces, server, peer, WARMING_LARGE, Duration.ofSeconds(1));
  }

  private void measure(Workbench bench, Namespaces spaces, Peer peer)
      throws IOException, InterruptedException {
    Extent extent = Extent.of(scale());
    step("%s: start and warm up", peer.label());
    try (var server = WanServer.start(bench, spaces, peer, CONNECTIONS)) {
      warm(spaces, server, peer);
      for (Cell cell : extent.cells()) {
        step("%s: %s, %d %% loss, %,d/s", peer.label(), cell.place(), cell.loss(), cell.rate());
        Duration duration = cell.settling().plusSeconds(extent.counted());
        keep(
            cell.place().replaceAll("[^A-Za-z0-9]+", "-") + ".csv",
            places.computeIfAbsent(cell.place(), _ -> new Samples("rate", "server")),
            run(spaces, server, peer, cell, duration));
      }
    }
  }

  private Sample run(Namespaces spaces, WanServer server, Peer peer, Cell cell, Duration duration)
      throws IOException, InterruptedException {
    List<LinkSettings> links = List.of(LinkSettings.symmetric("path", cell.link()));
    String label = peer.label() + " at " + cell.loss() + " % loss";
    var sample = Sample.of(Integer.toString(cell.rate()), label, 1).with(LOSS, cell.loss());
    long droppedBefore = spaces.droppedByDevices();
    try (var wan = WanEmulator.start(spaces, links, WanEmulator.Options.seeded(SEED))) {
      CpuTime before = server.cpuTime();
      LoadResult load = spaces.callAtClient(() -> load(cell, duration, sample));
      CpuTime cpu = server.cpuTime().minus(before);
      long dropped = spaces.droppedByDevices() - droppedBefore;
      WanStats stats = wan.stats();
      WanStats.Link link = stats.links().getFirst();
      double completed = Math.max(1, load.completed());
      double offered = Math.max(1, link.down().offered() + link.up().offered());
      boolean isDisturbed =
          load.isSaturated()
              || stats.latenessP99Nanos() / 1e3 > LATE_LIMIT_MICROS
              || stats.cpuShare() > CPU_LIMIT
              || link.down().overflowed() + link.up().overflowed() > 0
              || stats.unheld() + stats.refused() + dropped > 0;
      return sample
          .with(USER, cpu.userMicros() / completed)
          .with(KERNEL, cpu.kernelMicros() / completed)
          .with(CLIENT_LATE, load.latenessMicros(99))
          .with(LATE, stats.latenessP99Nanos() / 1e3)
          .with(LOST, (link.down().lost() + link.up().lost()) / offered)
          .with(DISTURBED, isDisturbed);
    }
  }

  /** Adds what the client saw. */
  private LoadResult load(Cell cell, Duration duration, Sample sample) throws IOException {
    Extent extent = Extent.of(scale());
    var target = OriginTarget.of(cell.bytes(), cell.bytes());
    LoadRequest request = LoadRequest.get(WanServer.authority(), target);
    var settings =
        LoadSettings.persistent(0, CONNECTIONS)
            .withUsesPerConnection(1)
            .withTimeLimit(extent.timeLimit())
            .onSharedCore()
            .to(WanServer.address());
    try (var client = LoadClient.open(settings)) {
      var schedule = RateSchedule.steady(cell.rate(), duration);
      var replies = new LossyReplies(cell.settling(), extent.counted(), System::nanoTime);
      LoadResult result =
          client.run(
              Arrivals.poisson(schedule, SEED), RequestSource.always(request), replies::ended);
      sample
          .with(DUE, replies.duePerSecond(Arrivals.poisson(schedule, SEED)))
          .with(REPLIES, replies.ratePerSecond())
          .with(DEVIATION, replies.rateDeviation())
          .with(FAILED, replies.failed())
          .with(MEAN, replies.meanMillis())
          .with(P50, replies.millis(50))
          .with(P99, replies.millis(99));
      return result;
    }
  }

  @Override
  List<Finding> findings() {
    return List.of();
  }

  @Override
  List<String> sources() {
    return List.of(
        "perf/src/main/java/io/kamille/perf/lab/LossyPaths.java",
        "perf/src/main/java/io/kamille/perf/lab/LossyReplies.java",
        "perf/src/main/java/io/kamille/perf/wan");
  }

  @Override
  void report(Report report) {
    places.forEach(
        (place, here) -> {
          String file = place.replaceAll("[^A-Za-z0-9]+", "-").toLowerCase(Locale.ROOT);
          String across = "requests offered per second";
          report.heading(place).table(here.wholeTable("server", "offered/s", COLUMNS));
          report.plot(
              file + "-replies",
              new LineChart(place + ": replies per second", across, "replies/s")
                  .lines(here, REPLIES));
          report.plot(
              file + "-time",
              new LineChart(place + ": mean reply time", across, "ms").lines(here, MEAN));
        });
    report.paragraph(
        "Cells are disturbed if the client was at its own limit or the path was not what it was to"
            + " be: the emulator late by more than 1 ms at p99 or on a core's limit, a full queue,"
            + " packets dropped against its order.");
    report.heading("What is gone").items(losses());
  }

  /** For each server and loss, the greatest fall of the reply rate, of undisturbed cells. */
  private List<String> losses() {
    var findings = new ArrayList<String>();
    places.forEach(
        (place, here) -> {
          for (Sample lossy : here.where(one -> one.of(LOSS) > 0 && !one.is(DISTURBED)).all()) {
            String clean = lossy.server().replaceFirst(" at .*", " at 0 % loss");
            here.of(lossy.situation(), clean).stream()
                .filter(one -> !one.is(DISTURBED))
                .forEach(
                    one ->
                        findings.add(
                            String.format(
                                Locale.ROOT,
                                "%s, %s, %s requests/s: %.1f %% of the reply rate are gone",
                                lossy.server(),
                                place,
                                lossy.situation(),
                                (1 - lossy.of(REPLIES) / one.of(REPLIES)) * 100)));
          }
        });
    return findings;
  }
}
