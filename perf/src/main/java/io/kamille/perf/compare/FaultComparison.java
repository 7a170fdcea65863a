package io.kamille.perf.compare;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Child;
import io.kamille.perf.host.CongestionControl;
import io.kamille.perf.host.HostFingerprint;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.FaultyOrigin;
import io.kamille.perf.load.FaultyOrigin.Arrival;
import io.kamille.perf.load.FaultyOrigin.Fault;
import io.kamille.perf.load.FixedContent;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.OpenLoopClient;
import io.kamille.perf.load.RateSchedule;
import io.kamille.perf.load.RequestSource;
import io.kamille.perf.peer.Jvm;
import io.kamille.perf.peer.TwoRoutes;
import io.kamille.perf.peer.TwoRoutes.Ports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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
  private static final int AFTER = 3;

  /** Never so short that an origin has no time to come back. */
  private static final int LEAST_AFTER_SECONDS = 20;

  private final ComparisonOptions options;
  private final FaultReport report = new FaultReport();

  private FaultComparison(ComparisonOptions options) {
    this.options = options;
  }

  /**
   * A comparison with as many connections as there may be here.
   *
   * @throws IOException if the limit of descriptors cannot be read
   */
  public static FaultComparison of(ComparisonOptions options) throws IOException {
    return new FaultComparison(
        options.withConnections(DescriptorLimit.connections(options.connections())));
  }

  /**
   * Measures and prints.
   *
   * @throws IOException if the machine lacks what is needed, with what to do about it
   */
  public void run() throws IOException, InterruptedException {
    var checkout = Checkout.find();
    try (var bench = Workbench.open()) {
      CongestionControl.useCubic(bench);
      Map<String, String> facts = facts(checkout);
      facts.forEach((name, value) -> System.out.println(name + ": " + value));
      bench.moveTo(Core.OTHERS);
      for (int round = 1; round <= options.rounds(); round++) {
        for (TwoRoutes kind : TwoRoutes.values()) {
          round(bench, checkout, kind, round, facts);
        }
      }
      print();
      RawData.keep(checkout, options.record(), report.csv(facts));
    }
  }

  private Map<String, String> facts(Checkout checkout) throws IOException, InterruptedException {
    var facts = new LinkedHashMap<>(HostFingerprint.take(checkout).facts());
    facts.put(
        "run",
        String.format(
            Locale.ROOT,
            "%d rounds; %d s sound, %d s with each fault, %d s after; %d/s, half on each route, %d"
                + " connections",
            options.rounds(),
            HEALTHY_SECONDS,
            options.seconds(),
            afterSeconds(),
            RATE,
            options.connections()));
    return facts;
  }

  private int afterSeconds() {
    return Math.max(LEAST_AFTER_SECONDS, AFTER * options.seconds());
  }

  private void round(
      Workbench bench, Checkout checkout, TwoRoutes kind, int round, Map<String, String> facts)
      throws IOException, InterruptedException {
    if (!options.only().isEmpty() && !options.only().contains(kind.label())) {
      return;
    }
    String missing = kind.missing(checkout);
    if (missing != null) {
      System.out.println("left out: " + missing);
      return;
    }
    facts.putIfAbsent(kind.label(), kind.version(checkout));
    var ports =
        new Ports(
            Workbench.freePort(), Workbench.freePort(), Workbench.freePort(), Workbench.freePort());
    Child origins = startOrigins(bench, ports);
    var command = kind.prepare(checkout, bench.directory(kind.label()), ports);
    Child server = bench.start(kind.label(), Core.SERVER, command);
    try {
      server.awaitListening(ports.port(), START_LIMIT);
      var measuring = new Measuring(kind.label(), ports);
      measuring.warm(kind.warmupSeconds() / 2);
      for (Fault fault : Fault.values()) {
        if (fault != Fault.NONE) {
          report.add(measuring.measure(fault, round));
        }
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

  private void print() {
    for (Fault fault : Fault.values()) {
      if (fault != Fault.NONE) {
        System.out.println();
        System.out.println(report.table(fault));
      }
    }
    report.verdicts().forEach(System.out::println);
    if (report.isClientLimited()) {
      System.out.println(
          "note: the client was at its limit, or kept from its core, in some rounds");
    }
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

    private FaultSample measure(Fault fault, int round) throws IOException, InterruptedException {
      long faultNanos = Duration.ofSeconds(HEALTHY_SECONDS).toNanos();
      long healNanos = faultNanos + Duration.ofSeconds(options.seconds()).toNanos();
      int seconds = HEALTHY_SECONDS + options.seconds() + afterSeconds();
      var tally = new FaultTally(other, faultNanos, healNanos);
      try (var client = open()) {
        long begin = System.nanoTime();
        var script = CompletableFuture.supplyAsync(() -> play(fault, begin, faultNanos, healNanos));
        LoadResult load = client.run(arrivals(RATE, seconds, round), alternating(), tally);
        Played played = result(script);
        List<Arrival> after = FaultyOrigin.parse(ask(FaultyOrigin.ARRIVALS));
        long endNanos = begin + Duration.ofSeconds(seconds).toNanos();
        return new FaultSample(
            server,
            fault,
            round,
            tally.asked(),
            tally.failed(),
            tally.lastFailureSeconds(),
            new FaultTimeline(played.during, played.faultNanos, played.healNanos).outSeconds(),
            new FaultTimeline(after, played.healNanos, endNanos).backSeconds(),
            tally.failedAfter(),
            tally.otherP99BeforeMicros(),
            tally.otherP99DuringMicros(),
            tally.otherFailed(),
            load.isSaturated());
      }
    }

    /** When the fault was there indeed, and who was asked meanwhile. */
    private record Played(long faultNanos, long healNanos, List<Arrival> during) {}

    private Played play(Fault fault, long begin, long faultNanos, long healNanos) {
      try {
        park(begin + faultNanos);
        ask(fault.label());
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

    private OpenLoopClient open() throws IOException {
      return OpenLoopClient.open(
          LoadSettings.persistent(ports.port(), options.connections())
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
