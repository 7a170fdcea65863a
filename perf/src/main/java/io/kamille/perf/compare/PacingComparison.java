package io.kamille.perf.compare;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.CongestionControl;
import io.kamille.perf.host.HostFingerprint;
import io.kamille.perf.host.RunTime;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.FixedContent;
import io.kamille.perf.load.IdleConnections;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.OpenLoopClient;
import io.kamille.perf.load.RateSchedule;
import io.kamille.perf.load.RequestSource;
import io.kamille.perf.peer.Jvm;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** CPU time per request and latency of one Kamille that paces itself in one way and another. */
public final class PacingComparison {

  /*
   * One server with one loop on core 0; this process, which makes the load, and the origin on core 1.
   * Requests arrive as a Poisson process, with the same instants for every way in a round. The ways
   * change on the running server, A B A B, and each gets some load before it is measured, so that a
   * way that adapts has adapted.
   */

  /** What there is to say on the command line. */
  public static final String HELP = PacingOptions.HELP;

  private static final Duration WINDOW = Duration.ofMillis(100);
  private static final int LOW_RATE = 1000;
  private static final int HIGH_RATE = 60_000;
  private static final int WARMUP_RATE = 20_000;
  private static final int QUICK_WARMUP_SECONDS = 3;
  private static final double CAPACITY_P99_MICROS = 10_000;
  private static final int CAPACITY_ROUNDS = 3;
  private static final double QUIET_LOAD = 0.5;
  private static final double KEPT_UP_RATIO = 0.99;

  private final PacingOptions options;
  private final PacingSamples samples = new PacingSamples();

  private PacingComparison(PacingOptions options) {
    this.options = options;
  }

  /**
   * Compares as these words of a command line say.
   *
   * @throws IllegalArgumentException if one is not understood
   */
  public static PacingComparison of(List<String> words) {
    return new PacingComparison(PacingOptions.parse(words));
  }

  /**
   * Measures and prints.
   *
   * @throws IOException if the machine lacks what is needed, with what to do about it
   */
  public void run() throws IOException, InterruptedException {
    var checkout = Checkout.find();
    int unused = options.unusedConnections();
    if (unused > 0) {
      unused = DescriptorLimit.connections(options.open()) - options.connections();
    }
    try (var bench = Workbench.open()) {
      CongestionControl.useCubic(bench);
      var facts = facts(checkout, unused);
      facts.forEach((name, value) -> System.out.println(name + ": " + value));
      if (HostFingerprint.loadAverage() > QUIET_LOAD) {
        System.out.println(
            "note: this machine is busy with other things; expect disturbed numbers");
      }
      bench.moveTo(Core.OTHERS);
      var origin = Origin.start(bench);
      var server = start(bench, checkout, origin, options.connections() + unused);
      server.contestant().prove(options.subject());
      int port = server.contestant().port();
      try (var others = IdleConnections.open(unused, port, options.subject().path());
          var client = OpenLoopClient.open(settings(port))) {
        new Measuring(server, client, origin).run(checkout, facts);
        if (others.openCount() < unused) {
          System.out.println("note: the server closed some of the unused connections");
        }
      }
    }
  }

  private Map<String, String> facts(Checkout checkout, int unused) {
    var facts = new LinkedHashMap<>(HostFingerprint.take(checkout).facts());
    facts.put("subject", options.subject().label() + ", open loop, Poisson arrivals");
    facts.put("ways", String.join(" ", options.ways()) + ", in turn on one process");
    facts.put(
        "run",
        String.format(
            Locale.ROOT,
            "%d rounds of %d s, %d connections, %d more unused",
            options.rounds(),
            options.seconds(),
            options.connections(),
            unused));
    return facts;
  }

  private PacedServer start(Workbench bench, Checkout checkout, Origin origin, int connections)
      throws IOException {
    int port = Workbench.freePort();
    var place = new Place(options.subject().job(), port, origin.port(), connections, List.of());
    return PacedServer.start(bench, checkout, place, options.ways().getFirst());
  }

  private LoadSettings settings(int port) {
    var settings = LoadSettings.persistent(port, options.connections());
    return options.subject().job() == Job.PASS ? settings.onSharedCore() : settings;
  }

  /** With everything started. */
  private final class Measuring {

    private final PacedServer server;
    private final OpenLoopClient client;
    private final Origin origin;
    private final RequestSource requests;

    private Measuring(PacedServer server, OpenLoopClient client, Origin origin) {
      this.server = server;
      this.client = client;
      this.origin = origin;
      var content = FixedContent.octets(options.subject().size());
      this.requests =
          RequestSource.always(LoadRequest.get("127.0.0.1", options.subject().path(), content));
    }

    private void run(Checkout checkout, Map<String, String> facts)
        throws IOException, InterruptedException {
      warm();
      long forwardedBefore = origin.requests();
      if (options.isStep()) {
        StepReport report = step();
        report.print();
        RawData.keep(checkout, options.record(), report.csv(facts));
      } else {
        var report = new PacingReport(facts, options, samples);
        for (int rate : options.ratesOrDefault()) {
          measure(rate);
          report.print(rate);
        }
        if (options.hasCapacity()) {
          findCapacities();
          report.printCapacity();
        }
        report.printGoals();
        RawData.keep(checkout, options.record(), report.csv());
        RawData.keepPlot(checkout, options.record(), report.plot());
        if (options.hasCapacity() && options.record() != null) {
          RawData.keep(checkout, options.record() + "-capacity", report.capacityCsv());
        }
      }
      if (options.subject().job() == Job.HIT && origin.requests() != forwardedBefore) {
        throw new IOException("some of the hits were forwarded to the origin");
      }
    }

    private void warm() throws IOException, InterruptedException {
      int seconds = options.isQuick() ? QUICK_WARMUP_SECONDS : Jvm.WARMUP_SECONDS;
      int highest = options.ratesOrDefault().stream().mapToInt(rate -> rate).max().orElseThrow();
      for (String way : options.ways()) {
        server.pace(way);
        load(
            Math.min(WARMUP_RATE, highest),
            Duration.ofSeconds(seconds).dividedBy(options.ways().size()),
            0);
      }
    }

    private LoadResult load(double rate, Duration duration, long seed) throws IOException {
      return client.run(Arrivals.poisson(RateSchedule.steady(rate, duration), seed), requests);
    }

    private void measure(int rate) throws IOException, InterruptedException {
      for (int round = 1; round <= options.rounds(); round++) {
        for (String way : options.ways()) {
          server.pace(way);
          load(rate, settling(), round);
          RunTime before = server.process().runTime();
          LoadResult load = load(rate, Duration.ofSeconds(options.seconds()), seed(rate, round));
          RunTime.Taken ran = server.process().runTime().since(before);
          samples.add(new PacingSample(way, rate, round, load, ran));
        }
      }
    }

    private static long seed(int rate, int round) {
      return rate * 1000L + round;
    }

    private Duration settling() {
      return Duration.ofMillis(options.isQuick() ? 300 : 500);
    }

    private void findCapacities() throws IOException, InterruptedException {
      var latest = new LinkedHashMap<String, Double>();
      int rounds = options.isQuick() ? 1 : Math.min(CAPACITY_ROUNDS, options.rounds());
      double highest = options.ratesOrDefault().stream().mapToInt(rate -> rate).max().orElseThrow();
      for (int round = 1; round <= rounds; round++) {
        for (String way : options.ways()) {
          server.pace(way);
          boolean isFirst = !latest.containsKey(way);
          var search =
              isFirst ? new CapacitySearch(1.25, 1.03, 9) : new CapacitySearch(1.06, 1.03, 5);
          var trial = new CapacityTrial(round);
          double rate = search.find(latest.getOrDefault(way, highest), trial);
          samples.add(new Capacity(way, round, rate, trial.isClientLimited));
          if (rate > 0) {
            latest.put(way, rate);
          }
        }
      }
    }

    /** Whether a rate is kept up with; remembers why the last one was not. */
    private final class CapacityTrial implements CapacitySearch.Trial {

      private final int round;
      private boolean isClientLimited;

      private CapacityTrial(int round) {
        this.round = round;
      }

      @Override
      public boolean holds(double rate) throws IOException {
        load(rate, settling().dividedBy(2), round);
        Duration duration = Duration.ofMillis(options.isQuick() ? 700 : 1500);
        LoadResult load = load(rate, duration, seed((int) rate, round));
        boolean holds =
            load.failed() == 0
                && load.latencyMicros(99) <= CAPACITY_P99_MICROS
                && load.ratePerSecond() >= rate * KEPT_UP_RATIO;
        if (!holds) {
          isClientLimited = load.isSaturated();
        }
        return holds;
      }
    }

    private StepReport step() throws IOException, InterruptedException {
      Duration part = Duration.ofMillis(options.isQuick() ? 500 : 1000);
      var schedule =
          RateSchedule.steady(LOW_RATE, part)
              .step(HIGH_RATE, part.multipliedBy(2))
              .step(LOW_RATE, part);
      var report = new StepReport(schedule, options.ways());
      for (int round = 1; round <= options.rounds(); round++) {
        for (String way : options.ways()) {
          server.pace(way);
          load(LOW_RATE, settling(), round);
          LoadResult load = client.run(Arrivals.poisson(schedule, round), requests, WINDOW);
          report.add(new StepReport.Run(way, round, load));
        }
      }
      return report;
    }
  }
}
