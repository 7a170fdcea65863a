package io.kamille.perf.compare;

import io.kamille.perf.host.Child;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.FaultyOrigin;
import io.kamille.perf.load.FaultyOrigin.Arrival;
import io.kamille.perf.load.FaultyOrigin.Fault;
import io.kamille.perf.load.FixedContent;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.RateSchedule;
import io.kamille.perf.load.RequestSource;
import io.kamille.perf.option.Chosen;
import io.kamille.perf.option.Options;
import io.kamille.perf.peer.Jvm;
import io.kamille.perf.peer.Peer;
import io.kamille.perf.peer.TwoRoutes;
import io.kamille.perf.peer.TwoRoutes.Ports;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;

/**
 * One of two origins of a route fails for a while: what its route and another one notice of it, and
 * how soon it is out and back.
 */
public final class FaultComparison {

  /*
   * One server at a time runs on its core; the three origins, one process, and the load share the
   * other. Requests for both routes alternate on connections enough that those which wait for the
   * faulty origin, for a second each at most, hold up no others here. Nothing is stored.
   */

  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final Duration TIME_LIMIT = Duration.ofSeconds(5);
  private static final int RATE = 2000;
  private static final int HEALTHY_SECONDS = 5;
  private static final double GOAL = 1.1;

  /** Never so short that an origin has no time to come back. */
  private static final int AFTER_SECONDS = 15;

  private static final List<String> FAULTS =
      Arrays.stream(Fault.values()).filter(fault -> fault != Fault.NONE).map(Fault::label).toList();

  /** What can be chosen. */
  public static final Options OPTIONS =
      Session.options(
              3,
              10,
              1024,
              Arrays.stream(TwoRoutes.values()).map(TwoRoutes::label).toList(),
              List.of())
          .names("--faults", FAULTS, FAULTS, "these of " + String.join(", ", FAULTS));

  /** After the beginning, the origin got no more than probes. */
  static final Figure OUT = Figure.of("out_seconds");

  /** After the end, it got its share again. */
  static final Figure BACK = Figure.of("back_seconds");

  private static final Figure LIMITED = Figure.of("client_limited");

  static final List<Column> COLUMNS =
      List.of(
          new Column(
              "/a failed",
              all ->
                  all.samples()
                      .spread(FaultTally.FAILED_SHARE, all.situation(), all.server())
                      .map(share -> String.format(Locale.ROOT, "%.2f %%", share.median()))
                      .orElse("–")),
          Column.spread("/a worst wait ms", FaultTally.WORST_WAIT, 0),
          Column.spread("last failure s", FaultTally.LAST_FAILURE, 1),
          Column.spread("out after s", OUT, 1),
          Column.spread("back after s", BACK, 1),
          Column.sum("/a failed later", FaultTally.FAILED_AFTER),
          Column.spread("/b p99 µs", FaultTally.OTHER_DURING, 0),
          Column.spread("/b p99 × before", FaultTally.OTHER_RATIO, 2),
          Column.sum("/b failed", FaultTally.OTHER_FAILED));

  private final Session session;
  private final int connections;
  private final Samples samples = new Samples("fault");

  private FaultComparison(Session session, int connections) {
    this.session = session;
    this.connections = connections;
  }

  /** Compares with as many connections as there may be here. */
  public static void run(Chosen chosen) throws IOException, InterruptedException {
    int connections = DescriptorLimit.connections(chosen.number("--connections"));
    try (var session = Session.open(chosen).loadFromHere()) {
      new FaultComparison(session, connections).run();
    }
  }

  private void run() throws IOException, InterruptedException {
    session.fact(
        "run",
        "%d rounds; %d s sound, %d s with each fault, %d s after; %d/s, half on each route, %d"
            + " connections",
        session.rounds(),
        HEALTHY_SECONDS,
        session.seconds(),
        AFTER_SECONDS,
        RATE,
        connections);
    session.begin();
    for (int round = 1; round <= session.rounds(); round++) {
      for (TwoRoutes kind : TwoRoutes.values()) {
        round(kind, round);
      }
    }
    faults().forEach(fault -> session.print(samples.table(fault, fault, COLUMNS)));
    session.print("Goals of kamille", goals(faults()), samples);
    if (samples.any(LIMITED)) {
      session.note("the client was at its limit, or kept from its core, in some rounds");
    }
    session.keep(samples);
  }

  static List<Goal> goals(List<String> faults) {
    return faults.stream()
        .map(
            fault ->
                Goal.atMost(
                    GOAL,
                    fault + ": p99 of another route at most 1.1 × before",
                    all -> all.spread(FaultTally.OTHER_RATIO, fault, "kamille")))
        .toList();
  }

  private List<String> faults() {
    return session.chosen().texts("--faults");
  }

  private void round(TwoRoutes kind, int round) throws IOException, InterruptedException {
    Peer peer = kind.peer(session.checkout());
    String missing = peer.missing();
    if (!session.isWanted(kind.label())) {
      return;
    }
    if (missing != null) {
      System.out.println("left out: " + missing);
      return;
    }
    session.fact(kind.label(), "%s", peer.version());
    var ports =
        new Ports(
            Workbench.freePort(), Workbench.freePort(), Workbench.freePort(), Workbench.freePort());
    Workbench bench = session.bench();
    Child origins = startOrigins(bench, ports);
    var command = kind.prepare(session.checkout(), bench.directory(kind.label()), ports);
    Child server = bench.start(kind.label(), Core.SERVER, command);
    try {
      server.awaitListening(ports.port(), START_LIMIT);
      var measuring = new Measuring(kind.label(), ports);
      measuring.warm(peer.warmupSeconds() / 2);
      for (String fault : faults()) {
        samples.add(measuring.measure(fault, round));
      }
    } finally {
      server.stop();
      origins.stop();
    }
  }

  private static Child startOrigins(Workbench bench, Ports ports) throws IOException {
    List<String> arguments =
        List.of(
            Integer.toString(ports.faulty()),
            Integer.toString(ports.partner()),
            Integer.toString(ports.other()));
    Child origins =
        bench.start("origins", Core.OTHERS, Jvm.command(FaultyOrigin.class, List.of(), arguments));
    origins.awaitListening(ports.other(), START_LIMIT);
    return origins;
  }

  /** With one server and its origins started. */
  private final class Measuring {

    private final String server;
    private final Ports ports;
    private final LoadRequest failing = request("/a");
    private final LoadRequest other = request("/b");

    private Measuring(String server, Ports ports) {
      this.server = server;
      this.ports = ports;
    }

    private static LoadRequest request(String path) {
      return LoadRequest.get("127.0.0.1", path, FixedContent.octets(FaultyOrigin.CONTENT_LENGTH));
    }

    /** Slowly at first: a server whose code is cold must not be in arrears when it is measured. */
    private void warm(int seconds) throws IOException {
      for (int rate : List.of(RATE / 10, RATE / 2, RATE)) {
        load(rate, seconds);
      }
      LoadResult load = load(RATE, 1);
      if (load.failed() > 0) {
        throw new IOException(server + " fails with sound origins: " + load.failures());
      }
    }

    private LoadResult load(int rate, int seconds) throws IOException {
      try (var client = open()) {
        return client.run(arrivals(rate, seconds, 0), alternating());
      }
    }

    private Sample measure(String fault, int round) throws IOException, InterruptedException {
      long faultNanos = Duration.ofSeconds(HEALTHY_SECONDS).toNanos();
      long healNanos = faultNanos + Duration.ofSeconds(session.seconds()).toNanos();
      int seconds = HEALTHY_SECONDS + session.seconds() + AFTER_SECONDS;
      var tally = new FaultTally(other, faultNanos, healNanos);
      try (var client = open()) {
        long begin = System.nanoTime();
        var script = CompletableFuture.supplyAsync(() -> play(fault, begin, faultNanos, healNanos));
        LoadResult load = client.run(arrivals(RATE, seconds, round), alternating(), tally);
        Played played = result(script);
        List<Arrival> after = FaultyOrigin.parse(ask(FaultyOrigin.ARRIVALS));
        long endNanos = begin + Duration.ofSeconds(seconds).toNanos();
        return tally
            .fill(Sample.of(fault, server, round))
            .with(
                OUT,
                new FaultTimeline(played.during, played.faultNanos, played.healNanos).outSeconds())
            .with(BACK, new FaultTimeline(after, played.healNanos, endNanos).backSeconds())
            .with(LIMITED, load.isSaturated());
      }
    }

    /** When the fault was there indeed, and who was asked meanwhile. */
    private record Played(long faultNanos, long healNanos, List<Arrival> during) {}

    private Played play(String fault, long begin, long faultNanos, long healNanos) {
      try {
        park(begin + faultNanos);
        ask(fault);
        long began = System.nanoTime();
        park(begin + healNanos);
        List<Arrival> during = FaultyOrigin.parse(ask(FaultyOrigin.ARRIVALS));
        ask(Fault.NONE.label());
        return new Played(began, System.nanoTime(), during);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static void park(long untilNanos) {
      for (long left = untilNanos - System.nanoTime();
          left > 0;
          left = untilNanos - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
    }

    private static Played result(CompletableFuture<Played> script)
        throws IOException, InterruptedException {
      try {
        return script.get();
      } catch (ExecutionException e) {
        throw new IOException("the origins did not obey", e);
      }
    }

    private String ask(String order) throws IOException {
      var uri = URI.create("http://127.0.0.1:" + ports.other() + FaultyOrigin.CONTROL + order);
      try (var in = uri.toURL().openStream()) {
        return new String(in.readAllBytes(), StandardCharsets.US_ASCII);
      }
    }

    private LoadClient open() throws IOException {
      return LoadClient.open(
          LoadSettings.persistent(ports.port(), connections)
              .onSharedCore()
              .withTimeLimit(TIME_LIMIT));
    }

    private static Arrivals arrivals(int rate, int seconds, long seed) {
      return Arrivals.poisson(RateSchedule.steady(rate, Duration.ofSeconds(seconds)), seed);
    }

    private RequestSource alternating() {
      int[] count = {0};
      return () -> count[0]++ % 2 == 0 ? failing : other;
    }
  }
}
