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
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * One of the origins of a route fails for a while, or their name server: what its route and another
 * one notice of it, and how soon it is out and back.
 */
public final class FaultComparison {

  /*
   * One server at a time runs on its core; the origins, one process, and the load share the other.
   * Each tenth request for the faulty origin's route is a POST of its own, which must not come
   * twice. If the name server is to fail, the origins have a name, and the server finds it by a
   * resolv.conf of its own. Requests for both routes alternate on connections enough that those which wait for the
   * faulty origin, for a second each at most, hold up no others here. Nothing is stored.
   */

  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final Duration TIME_LIMIT = Duration.ofSeconds(5);
  private static final int POST_EVERY = 10;
  private static final double MOST_FAILED_PERCENT = 0.05;
  private static final String NAME_SERVER = "127.0.0.53";
  private static final byte[] CONTENT = FixedContent.octets(FaultyOrigin.CONTENT_LENGTH);
  private static final int HEALTHY_SECONDS = 5;
  private static final double GOAL = 1.1;

  /** Never so short that an origin has no time to come back. */
  private static final int AFTER_SECONDS = 15;

  private static final List<String> ALL_FAULTS =
      Arrays.stream(Fault.values()).filter(fault -> fault != Fault.NONE).map(Fault::label).toList();

  private static final List<String> FAULTS =
      ALL_FAULTS.stream().filter(fault -> !fault.equals(Fault.DNS.label())).toList();

  /** What can be chosen. */
  public static final Options OPTIONS =
      Session.options(
              3,
              10,
              1024,
              Arrays.stream(TwoRoutes.values()).map(TwoRoutes::label).toList(),
              List.of())
          .number("--rate", 2000, 10, 100_000, "requests per second, half on each route")
          .number("--origins", 2, 2, 64, "of the route with the fault")
          .names(
              "--faults",
              FAULTS,
              ALL_FAULTS,
              "these of " + String.join(", ", ALL_FAULTS) + "; dns needs root");

  /** After the beginning, the origin got no more than probes. */
  static final Figure OUT = Figure.of("out_seconds");

  /** After the end, it got its share again. */
  static final Figure BACK = Figure.of("back_seconds");

  /** POSTs that an origin got though one had got them. */
  static final Figure POSTED_TWICE = Figure.of("posted_twice");

  private static final Figure LIMITED = Figure.of("client_limited");

  static final List<Column> COLUMNS =
      List.of(
          new Column(
              "/a failed",
              all ->
                  all.samples()
                      .spread(FaultTally.FAILED_SHARE, all.situation(), all.server())
                      .map(share -> String.format(Locale.ROOT, "%.3f %%", share.median()))
                      .orElse("–")),
          Column.spread("/a worst wait ms", FaultTally.WORST_WAIT, 0),
          Column.spread("last failure s", FaultTally.LAST_FAILURE, 1),
          Column.spread("out after s", OUT, 1),
          Column.spread("back after s", BACK, 1),
          Column.sum("/a failed later", FaultTally.FAILED_AFTER),
          Column.sum("POST failed", FaultTally.POST_FAILED),
          Column.sum("POST twice", POSTED_TWICE),
          Column.spread("/b p99 µs", FaultTally.OTHER_DURING, 0),
          Column.spread("/b p99 × before", FaultTally.OTHER_RATIO, 2),
          Column.sum("/b failed", FaultTally.OTHER_FAILED));

  private final Session session;
  private final int connections;
  private final int rate;
  private final int origins;
  private final Samples samples = new Samples("fault");

  private FaultComparison(Session session, int connections) {
    this.session = session;
    this.connections = connections;
    this.rate = session.chosen().number("--rate");
    this.origins = session.chosen().number("--origins");
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
            + " connections, %d origins",
        session.rounds(),
        HEALTHY_SECONDS,
        session.seconds(),
        AFTER_SECONDS,
        rate,
        connections,
        origins);
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
        .flatMap(
            fault ->
                Stream.of(
                    Goal.atMost(
                        GOAL,
                        fault + ": p99 of another route at most 1.1 × before",
                        all -> all.spread(FaultTally.OTHER_RATIO, fault, "kamille")),
                    Goal.atMost(
                        MOST_FAILED_PERCENT,
                        fault + ": at most 0.05 % of safe requests fail",
                        all -> all.spread(FaultTally.FAILED_SHARE, fault, "kamille")),
                    Goal.atMost(
                        0,
                        fault + ": no POST comes twice",
                        all -> all.spread(POSTED_TWICE, fault, "kamille"))))
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
    List<Integer> free = new ArrayList<>();
    for (int i = 0; i < origins; i++) {
      free.add(Workbench.freePort());
    }
    boolean isNamed = faults().contains(Fault.DNS.label());
    var ports =
        new Ports(
            Workbench.freePort(),
            free,
            Workbench.freePort(),
            isNamed ? "origin.kamille.test" : TwoRoutes.ADDRESS);
    Workbench bench = session.bench();
    Child origins = startOrigins(bench, ports, isNamed);
    Path directory = bench.directory(kind.label());
    var command = kind.prepare(session.checkout(), directory, ports);
    if (isNamed) {
      command = withNameServer(directory, command);
    }
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

  /** The command with a resolv.conf that only its process sees. */
  private static List<String> withNameServer(Path directory, List<String> command)
      throws IOException {
    Path file = directory.resolve("resolv.conf");
    Files.writeString(file, "nameserver " + NAME_SERVER + "\noptions timeout:1 attempts:1\n");
    List<String> all = new ArrayList<>(List.of("unshare", "--mount", "sh", "-c"));
    all.add("mount --bind \"$0\" /etc/resolv.conf && exec \"$@\"");
    all.add(file.toString());
    all.addAll(command);
    return all;
  }

  private static Child startOrigins(Workbench bench, Ports ports, boolean isNamed)
      throws IOException {
    List<String> arguments = new ArrayList<>(isNamed ? List.of(NAME_SERVER) : List.of());
    ports.origins().forEach(port -> arguments.add(Integer.toString(port)));
    arguments.add(Integer.toString(ports.other()));
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
      return LoadRequest.get(TwoRoutes.ADDRESS, path, CONTENT);
    }

    /** Slowly at first: a server whose code is cold must not be in arrears when it is measured. */
    private void warm(int seconds) throws IOException {
      for (int slower : List.of(rate / 10, rate / 2, rate)) {
        load(slower, seconds);
      }
      LoadResult load = load(rate, 1);
      if (load.failed() > 0) {
        throw new IOException(server + " fails with sound origins: " + load.failures());
      }
    }

    private LoadResult load(int perSecond, int seconds) throws IOException {
      try (var client = open()) {
        return client.run(arrivals(perSecond, seconds, 0), alternating());
      }
    }

    private Sample measure(String fault, int round) throws IOException, InterruptedException {
      long faultNanos = Duration.ofSeconds(HEALTHY_SECONDS).toNanos();
      long healNanos = faultNanos + Duration.ofSeconds(session.seconds()).toNanos();
      int seconds = HEALTHY_SECONDS + session.seconds() + AFTER_SECONDS;
      var tally = new FaultTally(failing, other, faultNanos, healNanos);
      try (var client = open()) {
        ask(FaultyOrigin.TWICE);
        long begin = System.nanoTime();
        var script = CompletableFuture.supplyAsync(() -> play(fault, begin, faultNanos, healNanos));
        LoadResult load = client.run(arrivals(rate, seconds, round), alternating(), tally);
        Played played = result(script);
        List<Arrival> after = FaultyOrigin.parse(ask(FaultyOrigin.ARRIVALS));
        int twice = Integer.parseInt(ask(FaultyOrigin.TWICE));
        long endNanos = begin + Duration.ofSeconds(seconds).toNanos();
        return tally
            .fill(Sample.of(fault, server, round))
            .with(
                OUT,
                new FaultTimeline(played.during, origins, played.faultNanos, played.healNanos)
                    .outSeconds())
            .with(BACK, new FaultTimeline(after, origins, played.healNanos, endNanos).backSeconds())
            .with(POSTED_TWICE, twice)
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

    private static Arrivals arrivals(int perSecond, int seconds, long seed) {
      return Arrivals.poisson(RateSchedule.steady(perSecond, Duration.ofSeconds(seconds)), seed);
    }

    private RequestSource alternating() {
      int[] count = {0};
      return () -> {
        int number = count[0]++;
        if (number % 2 != 0) {
          return other;
        }
        return number % (2 * POST_EVERY) == 0 ? post("/a?" + number) : failing;
      };
    }

    private static LoadRequest post(String path) {
      return LoadRequest.post(TwoRoutes.ADDRESS, path, CONTENT);
    }
  }
}
