package io.kamille.perf.compare;

import io.kamille.perf.host.Child;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.RateSchedule;
import io.kamille.perf.load.UserDemand;
import io.kamille.perf.load.UserDemand.Count;
import io.kamille.perf.load.UserDemand.Marks;
import io.kamille.perf.load.UserDemand.Result;
import io.kamille.perf.load.UserDemand.Wants;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Peer;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.report.Spread;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What servers answer, and how late, when more is asked of them than they can do. */
@Command
public final class OverloadComparison extends Comparison {

  /*
   * One server after the other on core 0, of which a process of ours takes most; users, and the
   * origin, on core 1. A server warms up on its whole core. Kamille with and without shedding is
   * one process that reloads its configuration, and both are measured against what it can do
   * without: what shedding costs must show.
   */

  private static final String SHEDDING = "kamille";

  /** The same one when it does not. */
  private static final String OFF = "off";

  private static final String MOST = "3.0";
  private static final String BELOW = "0.8";
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final Duration SETTLING = Duration.ofSeconds(3);
  private static final double WARMUP_RATE = 15_000;
  private static final double OVERLOADING_RATE = 40_000;
  private static final double FIRST_RATE = 8_000;
  private static final double CAPACITY_P99_MICROS = 50_000;
  private static final double KEPT_UP_RATIO = 0.99;
  private static final Marks NOBODY = new Marks() {};

  private static final Figure CAPACITY = Figure.of("capacity");
  private static final Figure SECONDS = Figure.of("seconds");
  private static final Figure OFFERED = Figure.of("offered");
  private static final Figure GOOD = Figure.of("good");
  private static final Figure SHED = Figure.of("shed");
  private static final Figure TURNED_AWAY = Figure.of("turned_away");
  private static final Figure LOST = Figure.of("lost");
  private static final Figure P50 = Figure.of("p50_micros");
  private static final Figure P99 = Figure.of("p99_micros");
  private static final Figure LATE_P99 = Figure.of("late_p99_micros");
  private static final Figure GOODPUT = GOOD.per(SECONDS);
  private static final Figure NOT_SERVED = SHED.plus(TURNED_AWAY);

  /** Right answers per second, in capacities. */
  private static final Figure GOODPUT_RATIO = GOODPUT.per(CAPACITY);

  private static final List<Column> COLUMNS =
      List.of(
          Column.median("offered", OFFERED.per(SECONDS), 0),
          Column.median("goodput", GOODPUT, 0),
          Column.median("÷ capacity", GOODPUT_RATIO, 2),
          Column.median("p50 ms", P50.times(1e-3), 1),
          Column.median("p99 ms", P99.times(1e-3), 1),
          Column.median("shed", SHED.per(SECONDS), 0),
          Column.median("turned away", TURNED_AWAY.per(SECONDS), 0),
          Column.median("lost", LOST.per(SECONDS), 0),
          Column.median("CPU %", Meter.CPU.per(SECONDS).times(1e-4), 0),
          Column.median("resident MiB", Meter.RESIDENT.times(1.0 / (1 << 20)), 0),
          Column.median("client late p99 ms", LATE_P99.times(1e-3), 1));

  @Option(names = "--loads", split = ",", description = "in capacities (${DEFAULT-VALUE})")
  private List<Double> loads = List.of(0.5, 0.8, 1.0, 1.5, 2.0, 3.0);

  @Option(names = "--rude", description = "users ask again though they were told to wait")
  private boolean areRude;

  @Option(
      names = "--misses",
      description = "share of requests that must be forwarded, 0 to 1 (${DEFAULT-VALUE})")
  private double misses;

  @Option(
      names = "--slow",
      description = "per cent of the server's core that are taken from it (${DEFAULT-VALUE})")
  private int slow = 80;

  @Option(names = "--target", description = "of Kamille's overload.target (${DEFAULT-VALUE})")
  private String target = "5ms";

  @Option(
      names = "--capacity",
      description = "requests/s; 0 looks for each server's (${DEFAULT-VALUE})")
  private int known;

  private final Samples samples = new Samples("load");

  /** With 4,000 users. */
  public OverloadComparison() {
    super(1, 12, 4000);
  }

  @Override
  void run() throws IOException, InterruptedException {
    loadFromHere();
    if (isQuick) {
      loads = List.of(0.8, 1.0, 3.0);
      seconds = 4;
    }
    connections = Workbench.possibleConnections(connections);
    fact("subject", "1 KiB hit, %.0f %% of requests forwarded, Poisson arrivals", misses * 100);
    fact(
        "users",
        "%d that %s, each with a connection, patient for %d s",
        connections,
        areRude ? "ask again at once" : "wait when told to",
        PATIENCE.toSeconds());
    fact("processor", "of the server's core %d %% are taken", slow);
    fact("kamille", "overload.target %s; off: without", target);
    List<Peer> peers = installed(List.of(SHEDDING, "nginx", "haproxy"));
    begin();
    try {
      for (Peer peer : peers) {
        measure(peer);
      }
    } finally {
      report();
    }
  }

  private void measure(Peer peer) throws IOException, InterruptedException {
    var place = new Place(Job.HIT, Workbench.freePort(), origin().port(), connections);
    ChangingKamille kamille =
        peer instanceof Kamille one
            ? ChangingKamille.start(bench(), one.with(overload(OFF)), place)
            : null;
    Contestant server =
        kamille == null ? Contestant.start(bench(), peer, place) : kamille.contestant();
    var settings = LoadSettings.persistent(place.port(), connections).withTimeLimit(PATIENCE);
    try {
      server.prove(Subject.HIT);
      // Without misses the origin has nothing to do, and the users' core is theirs.
      try (var client = LoadClient.open(misses > 0 ? settings.onSharedCore() : settings)) {
        new Measuring(server, kamille, client).run();
      }
    } finally {
      server.process().stop();
    }
  }

  private static String overload(String target) {
    return "overload:\n  target: " + target + "\n";
  }

  /** One server that runs; a Kamille can change its way. */
  private final class Measuring {
    private final Contestant server;
    private final @Nullable ChangingKamille kamille;
    private final LoadClient client;
    private final Wants wants = new Wants(Subject.HIT.request(), Subject.PASS.request(), misses);

    private Measuring(Contestant server, @Nullable ChangingKamille kamille, LoadClient client) {
      this.server = server;
      this.kamille = kamille;
      this.client = client;
    }

    private List<String> ways() {
      return kamille == null ? List.of(server.name()) : List.of(SHEDDING, OFF);
    }

    private void become(String way) throws IOException, InterruptedException {
      if (kamille != null) {
        String value = way.equals(OFF) ? OFF : target;
        kamille.become(Kamille.of(checkout()).with(overload(value)));
      }
    }

    private void run() throws IOException, InterruptedException {
      int warmup = isQuick ? 2 : server.peer().warmupSeconds();
      load(WARMUP_RATE, Duration.ZERO, Duration.ofSeconds(warmup), 1, NOBODY);
      if (slow == 0) {
        measureAll();
        return;
      }
      Child taking = SlowProcessor.start(bench(), slow);
      try {
        measureAll();
      } finally {
        taking.stop();
      }
    }

    private void measureAll() throws IOException, InterruptedException {
      // Code that runs only under too much load must be machine code too before it is measured.
      for (String way : server.peer().isJava() ? ways() : List.<String>of()) {
        become(way);
        load(OVERLOADING_RATE, Duration.ZERO, Duration.ofSeconds(isQuick ? 2 : 12), 2, NOBODY);
      }
      double capacity = known > 0 ? known : capacity();
      System.out.printf(Locale.ROOT, "%s: capacity %,.0f requests/s%n", server.name(), capacity);
      for (double load : loads) {
        for (String way : ways()) {
          become(way);
          measure(way, load, capacity);
        }
      }
    }

    private Result load(double rate, Duration settling, Duration counted, long seed, Marks marks)
        throws IOException {
      var schedule = RateSchedule.steady(rate, settling.plus(counted));
      var how = new UserDemand.Settings(wants, settling, areRude, seed);
      return UserDemand.run(client, Arrivals.poisson(schedule, seed), how, marks);
    }

    private double capacity() throws IOException, InterruptedException {
      become(ways().getLast());
      double capacity = new CapacitySearch(1.4, 1.03, 10).find(FIRST_RATE, this::holds);
      if (capacity == 0) {
        throw new IOException(server.name() + " keeps up with no rate");
      }
      return capacity;
    }

    /** Asked again if it does not: what disturbs one trial should not decide. */
    private boolean holds(double rate) throws IOException {
      boolean holds = holdsOnce(rate);
      return holds || holdsOnce(rate);
    }

    private boolean holdsOnce(double rate) throws IOException {
      Duration settling = Duration.ofMillis(500);
      Result load =
          load(rate, settling, Duration.ofMillis(isQuick ? 700 : 2500), Math.round(rate), NOBODY);
      return load.of(Count.FAILED) + load.of(Count.TIMED_OUT) + load.of(Count.SHED) == 0
          && load.latencyMicros(99) <= CAPACITY_P99_MICROS
          && load.goodput() >= load.of(Count.OFFERED) * 1e9 / load.nanos() * KEPT_UP_RATIO;
    }

    private void measure(String way, double load, double capacity) throws IOException {
      var sample = Sample.of(Double.toString(load), way, 1);
      var marks =
          new Marks() {
            private @Nullable Meter meter;

            @Override
            public void begin() throws IOException {
              meter = Meter.start(server.process());
            }

            @Override
            public void end() throws IOException {
              if (meter != null) {
                meter.stop(sample);
              }
            }
          };
      Result result =
          load(
              load * capacity,
              SETTLING,
              Duration.ofSeconds(seconds),
              Math.round(load * 1000),
              marks);
      samples.add(
          sample
              .with(CAPACITY, capacity)
              .with(SECONDS, result.nanos() / 1e9)
              .with(OFFERED, result.of(Count.OFFERED))
              .with(GOOD, result.of(Count.GOOD))
              .with(SHED, result.of(Count.SHED))
              .with(TURNED_AWAY, result.of(Count.TURNED_AWAY))
              .with(LOST, result.of(Count.TIMED_OUT) + result.of(Count.FAILED))
              .with(P50, result.latencyMicros(50))
              .with(P99, result.latencyMicros(99))
              .with(LATE_P99, result.latenessMicros(99))
              .with(LoadFigures.LIMITED, result.isSaturated()));
    }
  }

  /** Prints and keeps what there is, also of what was measured before a failure. */
  private void report() throws IOException {
    if (samples.all().isEmpty()) {
      return;
    }
    print(samples.wholeTable("server", "load", COLUMNS));
    print(goals(), samples);
    LoadFigures.noteLimits(this, samples.all());
    keep(samples);
  }

  private static List<Goal> goals() {
    return List.of(
        Goal.atLeast(
            0.9,
            "goodput at 3 × capacity at least 0.9 of it",
            all -> all.spread(GOODPUT_RATIO, MOST, SHEDDING)),
        Goal.atMost(
            3,
            "p99 of what is answered at 3 × at most 3 × that at 0.8 ×",
            all -> all.multiple(P99, SHEDDING, MOST, BELOW)),
        Goal.atMost(
            1.1,
            "memory at 3 × at most 1.1 × that at 0.8 ×",
            all -> all.multiple(Meter.RESIDENT, SHEDDING, MOST, BELOW)),
        Goal.atMost(
            0.2,
            "a request that is not served takes at most 0.2 of the CPU time of one that is",
            OverloadComparison::cost));
  }

  /**
   * CPU time of a request that is not served, in units of one that is; empty if answers at 3 × took
   * less than at 0.8 ×, which leaves none for the others.
   */
  private static Optional<Spread> cost(Samples all) {
    List<Sample> most = all.of(MOST, SHEDDING);
    List<Sample> below = all.of(BELOW, SHEDDING);
    if (most.isEmpty() || below.isEmpty() || most.getFirst().of(NOT_SERVED) == 0) {
      return Optional.empty();
    }
    Sample loaded = most.getFirst();
    double answer = below.getFirst().of(Meter.CPU.per(GOOD));
    double rest = loaded.of(Meter.CPU) - answer * loaded.of(GOOD);
    return Optional.of(Spread.of(rest / loaded.of(NOT_SERVED) / answer))
        .filter(spread -> spread.median() >= 0);
  }
}
