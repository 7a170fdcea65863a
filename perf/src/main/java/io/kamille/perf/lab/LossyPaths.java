package io.kamille.perf.lab;

import io.kamille.perf.compare.SlowProcessor;
import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Child;
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
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToDoubleBiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
      return Duration.ofSeconds(roundTrip > 0 && bytes == LARGE && loss > 0 ? 20 : 2);
    }

    /** Without what varies within a table. */
    private String place() {
      return (bytes == LARGE ? "1 MB" : "16 KB") + ", round trip " + roundTrip + " ms";
    }
  }

  /**
   * A server in one of its ways.
   *
   * @param label in tables
   * @param isForAll whether it is asked over all paths; otherwise for 16 KB over those without
   *     delay, with no loss or most
   */
  private record Way(String label, Peer peer, boolean isForAll) {

    private boolean asks(Cell cell) {
      return isForAll || (cell.roundTrip() == 0 && cell.bytes() == SMALL && cell.loss() != 1);
    }
  }

  /**
   * How long and how much, by scale.
   *
   * @param counted seconds
   * @param warming in units of what a server needs
   */
  private record Extent(
      List<Cell> cells, int rounds, int counted, int warming, Duration timeLimit) {

    private static Extent of(Scale scale) {
      return switch (scale) {
        case QUICK -> {
          var cells = grid(SMALL, 0, List.of(0, 4), List.of(100, 800));
          cells.addAll(grid(SMALL, 100, List.of(0, 4), List.of(800)));
          cells.addAll(grid(LARGE, 0, List.of(0), List.of(20)));
          yield new Extent(cells, 1, 3, 1, Duration.ofSeconds(3));
        }
        case NORMAL -> {
          var cells = grid(SMALL, 0, LOSSES, List.of(200, 400, 600, 800, 1200));
          cells.addAll(grid(SMALL, 100, LOSSES, List.of(200, 1200)));
          cells.addAll(grid(LARGE, 0, List.of(0, 4), List.of(5, 40)));
          cells.addAll(grid(LARGE, 100, List.of(0, 4), List.of(5)));
          yield new Extent(cells, 1, 4, 2, Duration.ofSeconds(4));
        }
        case FULL -> {
          var cells = grid(SMALL, 0, LOSSES, List.of(100, 200, 300, 400, 600, 800, 1200, 1600));
          cells.addAll(grid(SMALL, 100, LOSSES, List.of(100, 200, 400, 600, 800, 1200, 1600)));
          cells.addAll(grid(LARGE, 0, LOSSES, List.of(2, 5, 10, 20, 30, 40)));
          cells.addAll(grid(LARGE, 100, LOSSES, List.of(2, 5, 10)));
          yield new Extent(cells, 3, 30, 3, Duration.ofSeconds(60));
        }
      };
    }

    private static List<Cell> grid(
        int bytes, int roundTrip, List<Integer> losses, List<Integer> rates) {
      var cells = new ArrayList<Cell>();
      for (int rate : rates) {
        losses.forEach(loss -> cells.add(new Cell(bytes, roundTrip, loss, rate)));
      }
      return cells;
    }
  }

  private static final int SMALL = 16 << 10;
  private static final int LARGE = 1 << 20;
  private static final List<Integer> LOSSES = List.of(0, 1, 4);

  /**
   * Many small replies: a Java server wants some ten thousand until its code is what it will be.
   */
  private static final Cell WARMING = new Cell(1 << 10, 0, 0, 3000);

  private static final Cell WARMING_SMALL = new Cell(SMALL, 0, 0, 1000);
  private static final Cell WARMING_LARGE = new Cell(LARGE, 0, 0, 20);
  private static final Cell WARMING_LIMIT = new Cell(1 << 10, 0, 4, 3000);
  private static final Cell WARMING_LONG = new Cell(SMALL, 100, 4, 1000);
  private static final int TAKEN_WHILE_WARMING = 80;
  private static final String CONGESTION_CONTROL = "cubic";
  private static final String OFF = "kamille-off";

  /** Per cent of the server's core that are taken from it. */
  private static final int TAKEN = 94;

  /** What the kernel of the paper's server held of new connections. */
  private static final int QUEUED_CONNECTIONS = 128;

  private static final int CONNECTIONS = 6000;
  private static final long SEED = 5;

  /** The client looks at its sockets so often. It has real-time priority, as the emulator does. */
  private static final long REST_NANOS = 50_000;

  private static final double LATE_LIMIT_MICROS = 2000;

  /** To read and compare one large reply takes the client milliseconds of its own. */
  private static final double LARGE_LATE_LIMIT_MICROS = 10_000;

  private static final double CPU_LIMIT = 0.9;

  /** From so much of its share on, in per cent, a server is at the limit of its processor. */
  private static final double BUSY_PERCENT = 90;

  private static final Figure LOSS = Figure.of("loss_percent");
  private static final Figure DUE = Figure.of("due_per_second");
  private static final Figure REPLIES = Figure.of("replies_per_second");

  /** The standard deviation of the replies between seconds. */
  private static final Figure DEVIATION = Figure.of("deviation");

  private static final Figure SHED = Figure.of("shed");
  private static final Figure FAILED = Figure.of("failed");
  private static final Figure MEAN = Figure.of("mean_ms");
  private static final Figure P50 = Figure.of("p50_ms");
  private static final Figure P99 = Figure.of("p99_ms");

  /** Processor time in the part that counts, in per cent of the server's share of a core. */
  private static final Figure USER = Figure.of("user_percent");

  private static final Figure KERNEL = Figure.of("kernel_percent");
  private static final Figure CPU = USER.plus(KERNEL);

  /** How late requests were sent. */
  private static final Figure CLIENT_LATE = Figure.of("client_late_p99_micros");

  private static final Figure CLIENT_BUSY = Figure.of("client_busy");

  /** Packets were handed over so much later than due. */
  private static final Figure LATE = Figure.of("emulator_late_p99_micros");

  private static final Figure EMULATOR_BUSY = Figure.of("emulator_busy");
  private static final Figure LOST = Figure.of("lost_share");

  /** Whether the figures say as much about client and emulator as about the server. */
  private static final Figure DISTURBED = Figure.of("disturbed");

  private static final List<Column> COLUMNS =
      List.of(
          Column.median("due/s", DUE, 1),
          Column.spread("replies/s", REPLIES, 1),
          Column.median("± (1 s)", DEVIATION, 1),
          Column.sum("shed", SHED),
          Column.sum("failed", FAILED),
          Column.median("mean ms", MEAN, 1),
          Column.median("p50 ms", P50, 1),
          Column.median("p99 ms", P99, 0),
          Column.median("user %", USER, 0),
          Column.median("kernel %", KERNEL, 0),
          Column.median("client late p99 µs", CLIENT_LATE, 0),
          Column.median("emulator late p99 µs", LATE, 0),
          Column.median("lost %", LOST.times(100), 2));

  @Option(
      names = "--against",
      split = ",",
      description = "other servers that are asked the same: ${COMPLETION-CANDIDATES}")
  private List<Daemon> against = List.of(Daemon.NGINX, Daemon.APACHE);

  /** By place: a sample's situation is the rate, its server one at a loss. */
  private final Map<String, Samples> places = new ConcurrentSkipListMap<>();

  LossyPaths() {
    super("p5", "long and lossy paths: object × round trip × loss × rate (as root)");
  }

  @Override
  Object[] setting() {
    Extent extent = Extent.of(scale());
    return new Object[] {
      100 - TAKEN,
      QUEUED_CONNECTIONS,
      CONGESTION_CONTROL,
      CONNECTIONS,
      extent.timeLimit().toSeconds(),
      extent.counted()
    };
  }

  @Override
  void measure() throws IOException, InterruptedException {
    try (var spaces = Namespaces.open();
        var bench = Workbench.open()) {
      spaces.controlCongestion(CONGESTION_CONTROL);
      spaces.queueConnections(QUEUED_CONNECTIONS);
      bench.moveTo(Core.OTHERS);
      WanServer.startOrigin(bench, spaces);
      var kamille = Kamille.of(Checkout.find());
      for (Way way : ways(kamille)) {
        try {
          measure(bench, spaces, way);
        } catch (IOException failed) {
          note(way.label() + " is left out from here on: " + failed.getMessage());
        }
      }
    }
  }

  private List<Way> ways(Kamille kamille) {
    var off = kamille.with("overload:\n  target: off\n");
    return Stream.concat(
            Stream.of(new Way(kamille.label(), kamille, true), new Way(OFF, off, false)),
            installed(against).stream()
                .filter(peer -> scale() != Scale.QUICK || peer != Daemon.APACHE)
                .map(peer -> new Way(peer.label(), peer, peer != Daemon.APACHE)))
        .toList();
  }

  private void warm(Workbench bench, Namespaces spaces, WanServer server, Way way)
      throws IOException, InterruptedException {
    // The client and the emulator are Java, too: the first server warms them up with itself.
    int seconds = way.peer().warmupSeconds() * Extent.of(scale()).warming();
    run(spaces, server, way, WARMING, seconds);
    run(spaces, server, way, WARMING_SMALL, 2);
    run(spaces, server, way, WARMING_LARGE, 1);
    if (seconds > 0 && scale() != Scale.QUICK) {
      // What it does at its limit is code of its own, which a small share would compile for
      // minutes.
      Child taking = SlowProcessor.start(bench, TAKEN_WHILE_WARMING);
      run(spaces, server, way, WARMING_LIMIT, seconds);
      run(spaces, server, way, WARMING_LONG, seconds / 2);
      taking.stop();
    }
  }

  private void measure(Workbench bench, Namespaces spaces, Way way)
      throws IOException, InterruptedException {
    Extent extent = Extent.of(scale());
    step("%s: start and warm up", way.label());
    try (var server = WanServer.start(bench, spaces, way.peer(), CONNECTIONS)) {
      warm(bench, spaces, server, way);
      Child taking = SlowProcessor.start(bench, TAKEN);
      try {
        for (int round = 1; round <= extent.rounds(); round++) {
          for (Cell cell : extent.cells()) {
            if (way.asks(cell)) {
              step(
                  "%s: %s, %d %% loss, %,d/s", way.label(), cell.place(), cell.loss(), cell.rate());
              keep(
                  file(cell.place()) + ".csv",
                  places.computeIfAbsent(cell.place(), _ -> new Samples("rate", "server")),
                  run(spaces, server, way, cell, extent.counted(), round));
            }
          }
        }
      } finally {
        taking.stop();
      }
    }
  }

  private static String file(String place) {
    return place.replaceAll("[^A-Za-z0-9]+", "-").toLowerCase(Locale.ROOT);
  }

  private static String at(String label, int loss) {
    return label + " at " + loss + " % loss";
  }

  private void run(Namespaces spaces, WanServer server, Way way, Cell cell, int counted)
      throws IOException, InterruptedException {
    run(spaces, server, way, cell, counted, 1);
  }

  private Sample run(
      Namespaces spaces, WanServer server, Way way, Cell cell, int counted, int round)
      throws IOException, InterruptedException {
    List<LinkSettings> links = List.of(LinkSettings.symmetric("path", cell.link()));
    String rate = Integer.toString(cell.rate());
    var sample = Sample.of(rate, at(way.label(), cell.loss()), round).with(LOSS, cell.loss());
    long droppedBefore = spaces.droppedByDevices();
    try (var wan = WanEmulator.start(spaces, links, WanEmulator.Options.seeded(SEED))) {
      CompletableFuture<CpuTime> working = watch(server, cell.settling(), counted);
      LoadResult load = spaces.callAtClientInTime(() -> load(cell, counted, sample));
      CpuTime cpu = working.join();
      long dropped = spaces.droppedByDevices() - droppedBefore;
      WanStats stats = wan.stats();
      WanStats.Link link = stats.links().getFirst();
      double share = counted * 1e6 * (100 - TAKEN) / 100;
      double offered = Math.max(1, link.down().offered() + link.up().offered());
      boolean isDisturbed =
          load.busyRatio() > CPU_LIMIT
              || load.latenessMicros(99) > lateLimitMicros(cell)
              || stats.latenessP99Nanos() / 1e3 > LATE_LIMIT_MICROS
              || stats.cpuShare() > CPU_LIMIT
              || link.down().overflowed() + link.up().overflowed() > 0
              || stats.unheld() + stats.refused() + dropped > 0;
      return sample
          .with(USER, cpu.userMicros() / share * 100)
          .with(KERNEL, cpu.kernelMicros() / share * 100)
          .with(CLIENT_LATE, load.latenessMicros(99))
          .with(CLIENT_BUSY, load.busyRatio())
          .with(LATE, stats.latenessP99Nanos() / 1e3)
          .with(EMULATOR_BUSY, stats.cpuShare())
          .with(LOST, (link.down().lost() + link.up().lost()) / offered)
          .with(DISTURBED, isDisturbed);
    }
  }

  private static double lateLimitMicros(Cell cell) {
    return cell.bytes() == LARGE ? LARGE_LATE_LIMIT_MICROS : LATE_LIMIT_MICROS;
  }

  /** Processor time of a server in the part of a run that counts, which begins now. */
  private static CompletableFuture<CpuTime> watch(
      WanServer server, Duration settling, int seconds) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            Thread.sleep(settling);
            CpuTime before = server.cpuTime();
            Thread.sleep(Duration.ofSeconds(seconds));
            return server.cpuTime().minus(before);
          } catch (IOException | InterruptedException e) {
            throw new CompletionException(e);
          }
        },
        task -> Thread.ofVirtual().start(task));
  }

  /** Adds what the client saw. */
  private LoadResult load(Cell cell, int counted, Sample sample) throws IOException {
    var target = OriginTarget.of(cell.bytes(), cell.bytes());
    LoadRequest request = LoadRequest.get(WanServer.authority(), target);
    var settings =
        LoadSettings.persistent(0, CONNECTIONS)
            .withUsesPerConnection(1)
            .withTimeLimit(timeLimit(cell))
            .withIdle(() -> LockSupport.parkNanos(REST_NANOS))
            .to(WanServer.address());
    try (var client = LoadClient.open(settings)) {
      var schedule = RateSchedule.steady(cell.rate(), cell.settling().plusSeconds(counted));
      var replies = new LossyReplies(cell.settling(), counted, System::nanoTime);
      LoadResult result =
          client.run(
              Arrivals.poisson(schedule, SEED), RequestSource.always(request), replies::ended);
      sample
          .with(DUE, replies.duePerSecond(Arrivals.poisson(schedule, SEED)))
          .with(REPLIES, replies.ratePerSecond())
          .with(DEVIATION, replies.rateDeviation())
          .with(SHED, replies.shed())
          .with(FAILED, replies.failed())
          .with(MEAN, replies.meanMillis())
          .with(P50, replies.millis(50))
          .with(P99, replies.millis(99));
      return result;
    }
  }

  private Duration timeLimit(Cell cell) {
    Duration limit = Extent.of(scale()).timeLimit();
    return cell.settling().compareTo(limit) > 0 ? cell.settling() : limit;
  }

  @Override
  List<Finding> findings() {
    return Stream.concat(
            Stream.of(0, 100).map(this::gone),
            Stream.of(growth(), kernelServer(), alike(), shedding()))
        .toList();
  }

  /** What is not disturbed, of that place. */
  private Samples undisturbed(int bytes, int roundTrip) {
    return places
        .getOrDefault(new Cell(bytes, roundTrip, 0, 0).place(), new Samples("rate", "server"))
        .where(one -> !one.is(DISTURBED));
  }

  /** The names of servers, without the loss. */
  private static List<String> labels(Samples here) {
    return here.servers().stream().map(one -> one.replaceFirst(" at .*", "")).distinct().toList();
  }

  /** The highest rate without loss at which a server was at the limit of its processor. */
  private static Optional<String> limit(Samples here, String label) {
    return here.situations().stream()
        .filter(rate -> here.median(CPU, rate, at(label, 0)) >= BUSY_PERCENT)
        .max(Comparator.comparingInt(Integer::parseInt));
  }

  /** Something of each server at its limit, by label and rate, where it is known. */
  private static Map<String, Double> atLimits(
      Samples here, ToDoubleBiFunction<String, String> what) {
    var known = new LinkedHashMap<String, Double>();
    for (String label : labels(here)) {
      limit(here, label)
          .ifPresent(
              rate -> known.put(label + " at " + rate + "/s", what.applyAsDouble(label, rate)));
    }
    known.values().removeIf(value -> !Double.isFinite(value));
    return known;
  }

  /** How much of the reply rate four per cent of loss take from servers at their limit. */
  private Finding gone(int roundTrip) {
    String claim =
        "16 KB, round trip "
            + roundTrip
            + " ms: at 3,200 requests/s and 4 % loss "
            + (roundTrip == 0
                ? "72 % of thttpd's reply rate are gone, 49 % of Apache's and 12 % of TUX's"
                : "89 % of thttpd's reply rate are gone");
    Samples here = undisturbed(SMALL, roundTrip);
    Map<String, Double> falls =
        atLimits(
            here,
            (label, rate) ->
                100
                    - 100
                        * here.median(REPLIES, rate, at(label, 4))
                        / here.median(REPLIES, rate, at(label, 0)));
    return falls.isEmpty()
        ? Finding.untested(claim, "no server was at its limit in undisturbed cells of both kinds")
        : Finding.atLeast(
            claim, Collections.max(falls.values()), 12, 5, list(falls, "%s: %.0f %%"));
  }

  private static String list(Map<String, Double> values, String format) {
    return values.entrySet().stream()
        .map(one -> String.format(Locale.ROOT, format, one.getKey(), one.getValue()))
        .collect(Collectors.joining(", "));
  }

  private Finding growth() {
    String claim = "reply time grows abruptly once a server's CPU is at 100 %";
    Samples here = undisturbed(SMALL, 0);
    String lowest = here.situations().isEmpty() ? "" : here.situations().getFirst();
    Map<String, Double> growths =
        atLimits(
            here,
            (label, rate) ->
                here.median(MEAN, rate, at(label, 0)) / here.median(MEAN, lowest, at(label, 0)));
    return growths.isEmpty()
        ? Finding.untested(claim, "no server was at its limit in undisturbed cells")
        : Finding.atLeast(
            claim, Collections.min(growths.values()), 10, 3, list(growths, "%s: × %.0f"));
  }

  private Finding kernelServer() {
    Samples here = undisturbed(SMALL, 0);
    Map<String, Double> deviations =
        atLimits(here, (label, rate) -> here.median(DEVIATION, rate, at(label, 0)));
    return Finding.untested(
        "TUX's reply time is 19 to 25 s longer than the others' (1 MB, 120 requests/s), and its"
            + " reply rate deviates most",
        "no server here works in the kernel; deviation at the limit: "
            + (deviations.isEmpty() ? "not measured" : list(deviations, "%s %.0f/s")));
  }

  private Finding alike() {
    String claim = "1 MB: the reply rates of all servers are alike at the limit of the CPU";
    Samples here = undisturbed(LARGE, 0);
    var rates = new LinkedHashMap<String, Double>();
    List<String> atLimit =
        here.situations().stream()
            .filter(
                rate ->
                    labels(here).stream()
                        .allMatch(one -> here.median(CPU, rate, at(one, 0)) >= BUSY_PERCENT))
            .toList();
    String rate =
        (atLimit.isEmpty() ? here.situations() : atLimit).stream().reduce("", (_, b) -> b);
    for (String label : labels(here)) {
      rates.put(label, here.median(REPLIES, rate, at(label, 0)));
    }
    String figures = rate.isEmpty() ? "" : "; at " + rate + "/s: " + list(rates, "%s %.1f/s");
    return atLimit.isEmpty()
        ? Finding.untested(
            claim, "no rate that the path carries brings all to their limit" + figures)
        : Finding.atLeast(
            claim,
            Collections.min(rates.values()) / Collections.max(rates.values()),
            0.9,
            0.7,
            figures.replaceFirst("; ", ""));
  }

  /** Only a Kamille that has shed something shows what shedding does. */
  private Finding shedding() {
    String claim = "ours: Kamille rejects requests instead of letting reply time explode";
    Samples here = undisturbed(SMALL, 0);
    String rate = limit(here, OFF).orElse("");
    double shed = here.median(SHED, rate, at("kamille", 0));
    double with = here.median(P99, rate, at("kamille", 0));
    double without = here.median(P99, rate, at(OFF, 0));
    if (Double.isNaN(without / with)) {
      return Finding.untested(claim, "no rate brought Kamille to its limit in undisturbed cells");
    }
    String figures =
        String.format(
            Locale.ROOT,
            "at %s/s %.0f requests were shed; p99 is %.0f ms, without shedding %.0f ms",
            rate,
            shed,
            with,
            without);
    return shed == 0
        ? Finding.untested(
            claim,
            figures
                + "; new connections wait in the kernel. For kept ones:"
                + " perf/log/2026-11-29-overload.md")
        : Finding.atLeast(claim, without / with, 3, 1.5, figures);
  }

  @Override
  List<String> sources() {
    return List.of(
        "perf/src/main/java/io/kamille/perf/lab/LossyPaths.java",
        "perf/src/main/java/io/kamille/perf/lab/LossyReplies.java",
        "perf/src/main/java/io/kamille/perf/lab/WanServer.java",
        "perf/src/main/java/io/kamille/perf/compare/SlowProcessor.java",
        "proxy-core/src/main/java/io/kamille/core/gate",
        "perf/src/main/java/io/kamille/perf/wan");
  }

  @Override
  void report(Report report) {
    places.forEach(
        (place, all) -> {
          Samples here = all.where(one -> !one.is(DISTURBED));
          Samples clean = here.where(one -> one.of(LOSS) == 0);
          report.heading(place).table(here.wholeTable("server", "offered/s", COLUMNS));
          report.paragraph(
              "Left out: "
                  + (all.all().size() - here.all().size())
                  + " of "
                  + all.all().size()
                  + " cells, as they were disturbed.");
          report.plot(
              file(place) + "-replies",
              chart(place + ": replies per second", "replies/s").lines(here, REPLIES));
          report.plot(
              file(place) + "-deviation",
              chart(place + ": standard deviation of the reply rate", "replies/s")
                  .lines(here, DEVIATION));
          report.plot(
              file(place) + "-time", chart(place + ": mean reply time", "ms").lines(here, MEAN));
          report.plot(
              file(place) + "-cpu",
              chart(place + ", no loss: processor time", "% of the server's share")
                  .lines(clean, CPU)
                  .lines(clean, KERNEL, ", kernel"));
        });
    report.paragraph(
        "A cell is disturbed if client or emulator were late by more than 2 ms at p99 (clients of 1"
            + " MB: 10 ms) or busy for 90 % of the time, if the path's queue was full, or if it"
            + " dropped packets against its order.");
  }

  private static LineChart chart(String title, String up) {
    return new LineChart(title, "requests offered per second", up);
  }
}
